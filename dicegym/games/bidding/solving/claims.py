"""Published values of both Liar's Dice games: hands and games of one die each, and the tables of two dice each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dicegym.games import game as make_game
from dicegym.games.bidding.solving.cfr import Learner
from dicegym.games.bidding.solving.hand import Dice, tabulate
from dicegym.games.bidding.solving.solution import NAME, is_kept, load_values, values_at_once
from dicegym.games.solved import Claim

STEPS = 60
"""Of the solver, after which the bounds of a single hand are less than 0.01 apart."""
LINEAR_PROGRAM = "linear programs of Koller and Megiddo (1992)"
SOLVED = "counterfactual regret minimisation, and a best response that remembers all bids"


def hand_claims(game: str, values: Mapping[Dice, float]) -> Sequence[Claim]:
    """Return the values of single hands without wild faces for the opener, from -1 to 1, by their dice."""
    text = "value of a single hand of {} against {} dice, for the opener"
    return [
        Claim(text.format(*dice), value, 0.01, LINEAR_PROGRAM, partial(_hand_value, game, dice))
        for dice, value in values.items()
    ]


def _hand_value(game: str, dice: Dice) -> float:
    """Return the middle of the bounds: the opener against a best response, and with one."""
    hand = tabulate(make_game(game, players=2, dice=2), *dice)
    ends = np.array([float(ending.first == dice[0]) for ending in hand.endings])  # losing a die loses
    learning = Learner(hand)
    for _ in range(STEPS):
        learning.learn(ends)
    strategy = learning.strategy()
    return strategy.win_chance(ends, 0, best=True) - strategy.win_chance(ends, 1, best=True)


def game_claims(game: str, opens: float, exploitability: float) -> Sequence[Claim]:
    """Return the claims of a game of one die each and of the tables of two dice each.

    Args:
        game: the game's name.
        opens: win rate of the opener with one die each.
        exploitability: of the tables of `dicegym values solve`, at most, in win rate.
    """
    one, two = (make_game(game, players=2, dice=dice) for dice in (1, 2))
    return [
        Claim(
            "win rate of the opener, one die each", opens, 1e-4, LINEAR_PROGRAM,
            lambda: values_at_once(one).hands.opens[1, 1],
        ),
        Claim(
            "exploitability of the equilibrium of two dice each, at most", exploitability, 0.0, SOLVED,
            lambda: load_values(two).exploitability if is_kept(two) else None,
            f"dicegym values solve {game} {NAME} -p dice=2", at_most=True,
        ),
    ]  # fmt: skip
