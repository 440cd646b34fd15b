"""The game server on pages: start it, stop it, and watch its scoreboard, whichever process it runs in."""

from dicegym.web.server.section import SECTION

__all__ = ["SECTION"]
