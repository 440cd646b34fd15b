"""Lucky & Co's original bot interface: a file ``bot.py`` with a class that inherits from ``Bot``.

The class has ``get_orders(self, money, dice, index, shop)``, which returns a list of numbers of dice, and may have
``__init__(self, random)``. `Bot` is supplied: imported from ``bot`` or ``lucky``, or named without an import. What
adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import operator
import random
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import shown, witnessed
from dicegym.bots.classes import class_in
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Program, explaining
from dicegym.bots.source import Source, defines
from dicegym.bots.surroundings import PrivateRandom
from dicegym.engine.game import Game
from dicegym.games.lucky.catalogue import N_DICE, PRICES, STOCK
from dicegym.games.lucky.orders import DONE, INVALID, added
from dicegym.games.lucky.view import View
from dicegym.play.turn import Act, Turn

ENTRY_FILES = ("bot.py",)
ENTRY_POINT = "get_orders"
BASE = "Bot"
_STOCK = STOCK.tolist()


def supplied_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return what the controller had: the class ``Bot``, in modules of either name and without an import."""

    class Bot:
        """What every bot inherits from."""

        def __init__(self, random: random.Random) -> None:
            self.random = random

        def get_orders(
            self, money: tuple[int, ...], dice: tuple[tuple[int, ...], ...], index: int, shop: dict[int, int]
        ) -> list[int]:
            """Return the numbers of the dice to buy."""
            raise NotImplementedError(f"a bot must define {ENTRY_POINT}(self, money, dice, index, shop)")

    modules = {name: types.ModuleType(name) for name in ("bot", "lucky", "builtins")}
    for module in modules.values():
        vars(module)[BASE] = Bot
    return modules


def find(program: Program) -> Callable[..., Any]:
    """Return the bot's class: the one that the source names, or the last that inherits from Bot. Raises AgentError."""
    if program.source.attribute is not None:
        return program.entry(program.source.attribute, "class")
    return class_in(program, program.builtins[BASE], ENTRY_POINT)


def counts_of(answer: object) -> list[int] | None:
    """Return how many of each die an answer of ``get_orders`` asks for; None if it is malformed."""
    if not isinstance(answer, list | tuple):
        return None
    counts = [0] * N_DICE
    for item in answer:
        kind = item if type(item) is int else _whole(item)
        if not 0 <= kind < N_DICE:
            return None
        counts[kind] += 1
    return None if any(map(operator.gt, counts, _STOCK)) else counts


def _whole(item: object) -> int:
    """Return a number of another type, NumPy's or the bot's own, as an int, -1 if it is none."""
    if isinstance(item, bool | np.bool_):
        return -1
    try:
        return operator.index(item)  # type: ignore[arg-type]  # tried
    except Exception:  # an object of the bot's own class may do anything
        return -1


def next_action(counts: list[int] | None, order: tuple[int, ...]) -> int:
    """Return the action that comes next on the way from the ``order`` so far to ``counts``."""
    if counts is None:
        return INVALID
    for kind, count in enumerate(counts):
        if count > order[kind]:
            return added(kind, count - order[kind])
    return DONE


def sit(program: Program, made: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks a new bot of the class ``made`` for orders, once a round."""
    try:
        bot = witnessed(made, getattr(made, "__name__", BASE))(random.Random(program.random.fresh()))
        get_orders = witnessed(bot.get_orders, ENTRY_POINT)
    except BaseException as error:
        raise program.failure(error, f"while {getattr(made, '__name__', BASE)}(random) was made") from error
    asked: tuple[Any, ...] = ()
    counts: list[int] | None = None

    def act(turn: Turn[View]) -> int:
        nonlocal asked, counts
        view = turn.view
        # A whole order is several actions. One that a bot of one game has answered is known by its round; a pure bot
        # plays many games at once, and what it answered elsewhere it would answer here.
        question = view[:5]
        if question != asked:
            money, dice, index, shop, _ = question
            try:
                answer = get_orders(money, dice, index, dict(enumerate(shop)))
                program.last = in_words, answer, (view,)
                counts = counts_of(answer)
            except BaseException as error:
                raise program.failure(error, f"in {ENTRY_POINT}, round {view.played + 1}") from error
            asked = question
        return next_action(counts, view.order)

    return explaining(act, program)


def in_words(answer: object, view: View) -> str:
    """Return what was answered, to what, and what is wrong with it by itself."""
    money, _, index, shop, _ = view[:5]
    asked = f"in round {view.played + 1}, with {money[index]} money and {list(shop)} in the shop"
    return f"{ENTRY_POINT} returned {shown(answer, 100)}{_wrong(answer)}, {asked}"


def _wrong(answer: object) -> str:
    if not isinstance(answer, list | tuple):
        return ", where an order is a list of numbers of dice"
    kinds = [item if type(item) is int else _whole(item) for item in answer]
    for item, kind in zip(answer, kinds, strict=True):
        if not 0 <= kind < N_DICE:
            return f", in which {shown(item, 40)} is no die 0 to {N_DICE - 1}"
    for kind in sorted(set(kinds)):
        if kinds.count(kind) > _STOCK[kind]:
            return f", which asks {kinds.count(kind)} times for die {kind}, and there are {_STOCK[kind]}"
    spent = sum(int(PRICES[kind]) for kind in kinds)
    return f", which costs {spent}" if kinds else ""


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, BASE, method=ENTRY_POINT)


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, supplied_modules, find, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a class with ``get_orders``, or of such a function; see `LiveBot`."""
    return LiveBot(bot, name, sit, ENTRY_POINT)
