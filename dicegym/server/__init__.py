"""The game server: remote bots, over TCP or WebSocket, and local agents play rated games at common tables.

Nothing here knows a game by name. What is said on the wire, and what it means to the rules, is the business of the
``protocol.py`` in a game's folder; `dicegym.games.messages.Wire` says what that offers.

From the network inwards: `wire` (JSON objects out of bytes), `client_connections` (TCP and WebSocket, `client_limits`),
`lobby` (log in, wait, sit down and be rated, `admission`), `game_table` (one game), `local_agents` (the server's own
players), `result_store` (rate and store `game_results`), `server` (start and stop, `server_settings`).
`history` reads the store from outside. On the other side of the network is `client`.
"""
