"""What a game's ``protocol.py`` offers to the server and to clients, and how it is found."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Sequence
from typing import Any, Protocol, cast

from dicegym.core import Game
from dicegym.errors import ParameterError
from dicegym.games import game as game_of
from dicegym.registry import GAMES

Message = dict[str, Any]
"""A JSON object."""


class Wire(Protocol):
    """The messages of one game. Functions that read a message raise ``CommandError`` and nothing else."""

    CommandError: type[Exception]
    """Has ``code`` and ``message``."""
    UNREADABLE: int
    """The action that stands for a command which cannot be read; the rules count it as an error."""
    STANDING: str
    FINAL: str
    ERROR: str
    LOGIN: str
    WELCOME: str

    def word_of(self, message: object) -> str:
        """Return what kind of message it is."""

    def action_of(self, command: object) -> int:
        """Return the action that a command means."""

    def command_of(self, action: int, dice: Sequence[int]) -> Message:
        """Return the command that an action means."""

    def standing_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return what everybody is told after a change."""

    def final_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return what everybody is told at the end."""

    def error_message(self, code: str, message: str) -> Message:
        """Return the answer to what cannot be carried out."""

    def fault_error(self, fault: int) -> Any:
        """Return the ``CommandError`` for a fault of ``step``."""

    def totals_of(self, game: Game, state: Any) -> list[int]:
        """Return what each seat reached; more is better."""
