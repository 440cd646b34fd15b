"""The Yatzy server: remote bots, over TCP or WebSocket, and local agents play rated games at shared tables.

The messages, and their meaning in the rules, are in `dicegym.games.yatzy.protocol`.

From the network inwards: `wire` (bytes to JSON objects), `client_connections` (TCP and WebSocket, `client_limits`),
`lobby` (log in, wait, take a seat, be rated; `admission`), `game_table` (one game), `local_agents` (the server's own
players), `result_store` (rate and store `game_results`), `server` (start and stop, `server_settings`).
`history` reads the store of any server. `client` is the other side of the network.
"""
