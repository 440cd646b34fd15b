"""A store: contests that last, and what a game server has held, in one database."""
