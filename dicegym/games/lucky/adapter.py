"""Lucky & Co's bots as players: from the orders of a bot to actions.

The bot's own half is ``interface.py``. What adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import shown
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Asked, explaining
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.games.lucky import interface
from dicegym.games.lucky.catalogue import N_DICE, PRICES, STOCK
from dicegym.games.lucky.interface import ENTRY_POINT
from dicegym.games.lucky.orders import DONE, INVALID, added
from dicegym.games.lucky.view import View
from dicegym.play.turn import Act, Turn

_STOCK = STOCK.tolist()


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


def sit(program: Asked, get_orders: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``get_orders`` for orders, once a round."""
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


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, interface, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a class with ``get_orders``, or of such a function; see `LiveBot`."""
    return LiveBot(bot, name, interface, sit, ENTRY_POINT)
