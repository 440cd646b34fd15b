"""Lucky & Co's luck: how dice fell, how likely they were, and that their luck has the mean 0."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import dicegym
from dicegym.engine.jit import records
from dicegym.games.lucky.catalogue import AGAIN, ALL_AGAIN, CUBE, N_DICE, SQUARE, SUMS, WEIGHTS
from dicegym.games.lucky.rules import DONE, STATE
from dicegym.games.lucky.solving.luck import MOST_FACTORS, fallen, products_of_faces, sums_of
from dicegym.games.lucky.values import meter

HANDS = [
    {0: 2, 3: 2},
    {4: 3, 7: 1, 9: 2},
    {6: 1, 8: 2, AGAIN: 2},
    {1: 2, 5: 1, 10: 1, AGAIN: 1, ALL_AGAIN: 2, SQUARE: 1},
    {2: 2, 11: 1, SQUARE: 1, CUBE: 1},
    {},
]


def after_a_round(hands: list[dict[int, int]], keys: range) -> tuple[np.ndarray, np.ndarray]:
    """Return records before and after the last order of a first round in which nobody buys, for each key."""
    game = dicegym.game("lucky", players=len(hands), lead=10**4)
    before = records(len(keys), STATE)
    before[:] = game.new_game()[0]
    before["key"] = np.array(keys, np.uint64)
    for seat, hand in enumerate(hands):
        for kind, count in hand.items():
            before["dice"][:, seat, kind] = count
    before["player"] = len(hands) - 1
    after = before.copy()
    for state in after:
        game.step(state, DONE)
    return before, after


@pytest.mark.parametrize("hand", HANDS, ids=str)
def test_how_dice_fell_makes_their_points(hand: dict[int, int]) -> None:
    _, after = after_a_round([hand, {}], range(50))
    after["played"] -= 1
    coins = np.empty(3, np.int64)
    for state in after:
        basic, product = fallen(state, 0, coins)
        points = (basic * product) ** float(coins[2])
        assert state["points"][0] == pytest.approx(min(math.floor(points + 1e-9), 2**53), rel=1e-12)
        assert 1 <= coins[1] <= coins[0] <= 1 + hand.get(AGAIN, 0) + hand.get(ALL_AGAIN, 0)
        assert [state["dice"][0, kind] for kind in range(N_DICE)] == [hand.get(kind, 0) for kind in range(N_DICE)]


def test_chances_are_those_of_the_dice() -> None:
    dice = np.zeros(N_DICE, np.int8)
    dice[1], dice[5] = 1, 1
    counted: Counter[int] = Counter()
    for faces in itertools.product(range(6), repeat=4):  # each of the two rolls twice
        chance = math.prod(WEIGHTS[kind, face] / SUMS[kind] for kind, face in zip((1, 1, 5, 5), faces, strict=True))
        counted[sum(faces) + 4] += chance  # type: ignore[assignment]  # a counter of probabilities
    assert sums_of(dice, 2) == pytest.approx([counted.get(total, 0) for total in range(25)], abs=1e-15)

    starts, products, chances = products_of_faces()
    assert len(starts) == MOST_FACTORS + 2
    of_three = {products[i]: chances[i] for i in range(starts[3], starts[4])}
    by_hand = Counter(a * b * c for a, b, c in itertools.product(range(1, 7), repeat=3))
    assert of_three == pytest.approx({product: times / 216 for product, times in by_hand.items()})


TABLES = [
    [{0: 2, 3: 2}, {4: 2, 7: 1}],
    [{6: 1, 8: 2, AGAIN: 2}, {6: 2, 9: 1, ALL_AGAIN: 1}],
    [{2: 2, 11: 1, SQUARE: 1}, {3: 2, 10: 1, SQUARE: 1, CUBE: 1}, {}],
    [{3: 2}, {2: 2}, {4: 1, 8: 1}, {0: 1, 12: 1, 16: 2}, {3: 1, 17: 2}],
]


@pytest.mark.parametrize("hands", TABLES)
def test_luck_has_the_mean_0(hands: list[dict[int, int]]) -> None:
    before, after = after_a_round(hands, range(2000))
    seats = np.zeros((2000, len(hands)), np.int64)
    measured = meter(dicegym.game("lucky", players=len(hands)), [None], seats)
    measured.add(before, np.arange(2000), np.full(2000, DONE), after)
    assert np.abs(measured.luck.sum(axis=1)).max() < 1e-9
    errors = measured.luck.std(axis=0) / np.sqrt(2000)
    assert errors.max() > 1e-4
    assert (np.abs(measured.luck.mean(axis=0)) < 4 * errors + 1e-12).all()


def test_orders_before_the_last_are_no_luck() -> None:
    before, after = after_a_round(HANDS[:2], range(3))
    after["played"] = before["played"]
    measured = meter(dicegym.game("lucky", players=2), [None], np.zeros((3, 2), np.int64))
    measured.add(before, np.arange(3), np.full(3, DONE), after)
    assert (measured.luck == 0).all()
