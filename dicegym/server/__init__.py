"""The game server: remote bots, over TCP or WebSocket, and local agents play rated games at common tables.

Nothing here knows a game by name. What is said on the wire, and what it means to the rules, is the business of the
``protocol.py`` in a game's folder; `dicegym.server.wire.Wire` says what that offers.

From the network inwards: `framing` (JSON objects out of bytes), `tcp` and `web` (WebSocket; `origins`)
over what they have in common, `connections` (`budget`), `lobby` (log in and wait; `names`, `guesses`, `capacity`,
`descriptors`), `matchmaking` (open tables: `seating`; rate and store what is played: `ledger`,
`results`, `store`), `table` (one game), `agents` (local ones, each in a process that runs `host`), `server` (start
and stop; `settings`), `scoreboard`. `archive` reads the store from outside. On the other side
of the network: `client`, over a channel of `channels`, with a `seated_agent` that answers and an `identity`.
What strangers do is logged by a `murmur`.
"""
