"""Bots of Lucky & Co: files as players, players as files, and a starter file.

``interface.py`` is the bot's half. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.bots.calls import show_value
from dicegym.bots.export import network_source
from dicegym.bots.program import Asked, explaining
from dicegym.engine.game import Game
from dicegym.games.lucky.catalogue import DONE, FIRST_MULTIPLIER, INVALID, N_DICE, PRICES, STOCK, add_dice
from dicegym.games.lucky.interface import ENTRY_POINT
from dicegym.games.lucky.rules import View
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Turn

_STOCK, _PRICES = STOCK.tolist(), PRICES.tolist()


def counts_of(answer: object) -> list[int] | None:
    """Return the number of each die in an answer of ``get_orders``; None if the answer is malformed."""
    if not isinstance(answer, list | tuple):
        return None
    counts = [0] * N_DICE
    for kind in map(_kind, answer):
        if not 0 <= kind < N_DICE:
            return None
        counts[kind] += 1
    return None if any(map(operator.gt, counts, _STOCK)) else counts


def _kind(item: object) -> int:
    """Return a whole number of any type, NumPy's or the bot's own, as an int; -1 for anything else."""
    if type(item) is int:
        return item
    if isinstance(item, bool | np.bool_):
        return -1
    try:
        return operator.index(item)  # type: ignore[arg-type]  # tried
    except Exception:  # a bot's own class may raise anything
        return -1


def next_action(counts: list[int] | None, order: tuple[int, ...], money: int) -> int:
    """Return the next action on the way from the ``order`` so far to ``counts``.

    If somebody else has begun the order, with dice beyond ``counts``, there may be too little ``money`` for the rest:
    then order what it pays for. If the bot's own order costs too much, it is void by the rules.
    """
    if counts is None:
        return INVALID
    for kind, count in enumerate(counts):
        if (missing := count - order[kind]) > 0:
            if any(map(operator.gt, order, counts)):
                left = money - sum(map(operator.mul, order, _PRICES))
                missing = min(missing, left // _PRICES[kind])
            return add_dice(kind, missing) if missing else DONE
    return DONE


def sit(program: Asked, get_orders: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return the function that asks ``get_orders`` for an order, once a round."""
    asked: tuple[Any, ...] = ()
    counts: list[int] | None = None

    def act(turn: Turn[View]) -> int:
        nonlocal asked, counts
        view = turn.view
        # A whole order takes several actions: ask only if the question is a new one. A pure bot plays many games at
        # once, and answers an equal question of another game alike.
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
        return next_action(counts, view.order, view.money[view.seat])

    return explaining(act, program)


def in_words(answer: object, view: View) -> str:
    """Return an answer in words: what, when, and whether it is invalid by itself."""
    money, _, index, shop, _ = view[:5]
    asked = f"in round {view.played + 1}, with {money[index]} money and {list(shop)} in the shop"
    return f"{ENTRY_POINT} returned {show_value(answer, 100)}{_wrong(answer)}, {asked}"


def _wrong(answer: object) -> str:
    if not isinstance(answer, list | tuple):
        return ", but an order is a list of numbers of dice"
    kinds = [*map(_kind, answer)]
    for item, kind in zip(answer, kinds, strict=True):
        if not 0 <= kind < N_DICE:
            return f", in which {show_value(item, 40)} is not a die 0 to {N_DICE - 1}"
    for kind in sorted(set(kinds)):
        if kinds.count(kind) > _STOCK[kind]:
            return f", which asks {kinds.count(kind)} times for die {kind}, but there are {_STOCK[kind]}"
    return f", which costs {sum(_PRICES[kind] for kind in kinds)}" if kinds else ""


LONGEST, MONEY = 200, 300
"""Rounds of the long smoke game, and everybody's first money in it."""


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a game and opponents that buy at random. Game 0 is long, and they empty the shop.

    In game 0 all but basic dice are sold out from the start; otherwise money would grow without bounds and end it.
    """
    states = game.new_game(0, number)
    if number == 0:
        state = states[0]
        state["rounds"] = min(int(state["rounds"]), LONGEST)
        state["lead"] = np.iinfo(np.int32).max
        state["shop"][FIRST_MULTIPLIER:] = 0
        state["money"][: game.players] = state["left"][: game.players] = MONEY
    return states, RandomPlayer()


_INTERFACE = """
from bot import Bot


class Exported(Bot):
    def __init__(self, random):
        self.played = 0

    def get_orders(self, money, dice, index, shop):
        state = known_state()
        state.players, state.player, state.played = len(money), index, self.played
        self.played += 1
        state.money[: len(money)] = state.left[: len(money)] = money
        for seat, owned in enumerate(dice):
            for kind in owned:
                state.dice[seat, kind] += 1
        for kind, count in shop.items():
            state.shop[kind] = count
        order = []
        while (kind := chosen(state, index)) != DONE:
            order.append(kind)
            state.order[index, kind] += 1
            state.left[index] -= PRICES[kind]
        return order
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that orders like ``player``; see `dicegym.bots.export`."""
    return network_source(player, game, _INTERFACE)


INTERFACE = """\
A file bot.py, or a folder with one in it, with a class that derives from Bot:

    from bot import Bot

    class Mine(Bot):
        def get_orders(self, money, dice, index, shop): ...

An object is made once a game, by Mine(random), where random is a random.Random: use no other randomness. A class
without __init__ finds it as self.random. get_orders is called once a round, and returns a list of numbers of dice.
money is a tuple with each player's money. dice is a tuple of tuples with the numbers of each player's dice. index is
the bot's own place in both. shop is a dict from a die's number to how many are left.

    get_orders((5, 5), ((), ()), 0, {0: 20, 1: 20, 2: 20, ...}) -> [1, 0, 0]      one die 1, two dice 0: 5 money
    get_orders((40, 31), ((1, 0, 0), (1,)), 1, {0: 18, 1: 18, 2: 20, ...}) -> [6]    one die 6: 21 money
    get_orders((4, 90), ((1,), (1, 6)), 0, {0: 20, 1: 18, 2: 20, ...}) -> []    nothing

All numbers from 0 to 21 are in shop. An order buys nothing at all if it is not a list of such numbers, asks for more
than the shop has, or costs more than the bot's money. The same holds after an exception.

If a file has several such classes, the last one plays; choose another by its name, as in bot.py:Mine.
"""

_SOURCE = '''"""My bot for Lucky & Co: the most expensive basic dice first, then multipliers.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game lucky
The rules:  dicegym games lucky --rules
"""

from bot import Bot

PURE = True  # the same question always gets the same answer; take this line out if you remember or draw anything

PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]  # of dice 0 to 21
BASIC = [6, 5, 4, 3, 2, 1, 0]  # the most expensive first
MULTIPLIERS = [11, 10, 9]


class Mine(Bot):
    """Made anew for each game, with a random.Random of its own, self.random."""

    def get_orders(self, money, dice, index, shop):
        """Return what to buy: a list of numbers of dice, such as [1, 0, 0].

        money: how much each player has, such as (5, 5)
        dice:  each player's dice, such as ((), (1, 0, 0))
        index: my place in both
        shop:  how many of each die are left, such as {{0: 20, 1: 19, ...}}
        """
        left, order = money[index], []
        basics = sum(die in BASIC for die in dice[index])
        for kind in MULTIPLIERS + BASIC if basics >= 5 else BASIC:  # multipliers multiply what the basic dice roll
            count = min(shop[kind], left // PRICES[kind])
            left -= count * PRICES[kind]
            order += count * [kind]
        # print(money, order)  # costs nothing: `dicegym check ... --show` shows it
        # breakpoint()         # stops here under `dicegym check ... --debug`
        return order
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _SOURCE.format(file=file)
