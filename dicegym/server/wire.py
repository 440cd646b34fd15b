"""The messages between server and client that are the same for all games, and where a game's own are."""

from __future__ import annotations

import json

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.messages import Message, Wire
from dicegym.games.parts import WIRE, part
from dicegym.registry import GAMES

__all__ = ["NOT_YOUR_TURN", "REFUSALS", "Message", "Wire", "line", "wire_of"]

NOT_YOUR_TURN = "not-your-turn"
"""Codes of errors that the server finds by itself; those of commands are the game's."""
WRONG_SECRET, SECRET_NEEDED, BAD_NAME, REPLACED = "wrong-secret", "secret-needed", "bad-name", "replaced"
FULL, STOPPED, FLOOD = "full", "server-stopped", "flood"
REFUSALS = (WRONG_SECRET, SECRET_NEEDED, BAD_NAME, REPLACED)
"""After these it is in vain to connect again."""


def wire_of(game: str | Game) -> Wire:
    """Return the messages of a game. Raises ParameterError if it has none, UnknownNameError if it does not exist."""
    table = make_game(game)
    wire = part(table, WIRE)
    if wire is None:
        having = ", ".join(name for name in GAMES if part(name, WIRE) is not None) or "none"
        raise ParameterError(f"{table.spec.title} has no server protocol; games that have: {having}")
    return wire


def line(message: Message) -> bytes:
    """Return a message as it is sent: one line of ASCII."""
    return _compact(message).encode() + b"\n"


_compact = json.JSONEncoder(separators=(",", ":")).encode  # made once: `json.dumps` makes one for every message
