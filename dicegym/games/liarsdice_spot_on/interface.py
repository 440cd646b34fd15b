"""The original bot interface of Liar's Dice with "spot on": a subclass of ``Player`` with ``move`` and ``index``.

A bot file starts with ``from player import Player``; the module is supplied here, and the name is also available
without the import. ``Cls(index)`` makes the bot, ``move(bids, player_dice, n_dice)`` is asked for each move.

This module runs in the small process of the bot, without NumPy and compiled code. ``adapter.py`` turns answers into
actions. The protocol is `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import abc
import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program, check_class, class_in
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("player_bot.py", "bot.py")
ENTRY_POINT = METHOD = "move"
ARGUMENTS = ("bids", "player_dice", "n_dice")


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return the module ``player`` with the abstract base class of all bots."""

    class Player(abc.ABC):
        """A player of Liar's Dice: subclasses define `move`."""

        def __init__(self, index: int) -> None:
            self._index = index

        @property
        def index(self) -> int:
            """The place in the order of play, from 0 on."""
            return self._index

        @index.setter
        def index(self, index: int) -> None:
            self._index = index

        @abc.abstractmethod
        def move(self, bids: list[tuple[int, int]], player_dice: list[int], n_dice: list[int]) -> tuple[int, int] | str:
            """Return a bid (quantity, value) or a challenge."""

    Player.__module__ = "player"
    module, named = types.ModuleType("player"), types.ModuleType("builtins")
    for one in (module, named):
        vars(one).update(Player=Player)
    return {"player": module, "builtins": named}


def find(program: Program) -> Callable[..., Any]:
    """Return the program's class that plays: the one that the source names, or the last one defined.

    Raises AgentError if no class derives from ``Player``.
    """
    base = program.builtins["Player"]
    if program.source.attribute is not None:
        return check_class(program, program.entry(program.source.attribute, "class"), base)
    return class_in(program, base, ENTRY_POINT)


def seat_bot(program: Program, bot: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function to ask in one game: ``move`` of a new object. Raises AgentError if the class fails."""
    name = getattr(bot, "__name__", "the class")
    try:
        player = report_calls(bot, name)(seat)
    except BaseException as error:
        raise program.failure(error, f"in {name}({seat})") from error

    def move(*arguments: Any) -> Any:
        return player.move(*arguments)  # looked up each time: a bot may replace its method

    return report_calls(move, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, "Player", method=ENTRY_POINT)
