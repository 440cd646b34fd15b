"""The game server: remote bots, over TCP or WebSocket, and local agents play rated games at common tables.

Nothing here knows a game by name. What is said on the wire, and what it means on the engine, is the business of the
``protocol.py`` in a game's folder; see `dicegym.server.wire`.
"""
