"""The game server: remote bots, over TCP or WebSocket, and local agents play rated games at common tables.

Nothing here knows a game by name. What is said on the wire, and what it means to the rules, is the business of the
``protocol.py`` in a game's folder; `dicegym.games.messages.Wire` says what that offers.

From the network inwards: `wire` (JSON objects out of bytes), `connections` (TCP and WebSocket, `limits`), `lobby` (log
in, wait, sit down and be rated, `access`), `table` (one game), `agents` (the server's own players), `store`
(rate and store `results`), `server` (start and stop, `settings`), `scoreboard`. `archive` reads the store from outside.
On the other side of the network is `client`.
"""
