"""The original bot interface of Liar's Dice with "spot on": a subclass of ``Player`` with ``move`` and ``index``.

A bot file starts with ``from player import Player``; the module is supplied here, and the name is there without the
import too. ``Cls(index)`` makes the bot, ``move(bids, player_dice, n_dice)`` is asked for each move.
"""

from __future__ import annotations

import abc
import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.core import Game
from dicegym.errors import AgentError
from dicegym.games.bidding import FACES
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LARGEST, LIAR, LOSE_TWO, N_CHALLENGES, NO_MOVE
from dicegym.players import Act, Turn
from dicegym.players.botfile import BotPlayer, Program, Source, one_line
from dicegym.players.private import PrivateRandom

ENTRY_FILES = ("player_bot.py", "bot.py")
CHALLENGES = {"Liar": LIAR, "Spot on, lose two": LOSE_TWO, "Spot on, gain one": GAIN_ONE}


def supplied_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
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
    module = types.ModuleType("player")
    vars(module).update(Player=Player)
    return {"player": module}
