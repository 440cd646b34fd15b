"""A store: contests and servers' games in one database."""
