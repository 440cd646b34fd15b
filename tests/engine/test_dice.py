"""Dice are fair, independent of each other, and the same everywhere."""

from __future__ import annotations

import itertools

import numba
import numpy as np
import pytest
import scipy  # its parts are loaded when a test asks for them
from oracles import dice as oracle

from dicegym.engine import dice
from dicegym.engine.dice import HOST_SEAT

LOW_64 = (1 << 64) - 1
SURPRISE = 1e-5
"""A p-value below this fails. Everything is seeded, so a test that passes once passes for ever."""


@numba.njit
def roll(
    keys: np.ndarray, seats: np.ndarray, turns: np.ndarray, numbers: np.ndarray, sides: int, out: np.ndarray
) -> None:
    for i in range(len(out)):
        out[i] = dice.die(dice.turn_stream(keys[i], seats[i], turns[i]), numbers[i], sides)


def faces(n: int, sides: int = 6, **axes: object) -> np.ndarray:
    """Roll n dice; an axis that is not given (keys, seats, turns, numbers) has one value throughout."""
    out = np.zeros(n, np.int64)
    columns = [
        np.broadcast_to(np.asarray(axes.get(axis, default)), n).astype(kind)
        for axis, default, kind in (
            ("keys", 0xC0FFEE, np.uint64),
            ("seats", 0, np.int64),
            ("turns", 3, np.int64),
            ("numbers", 1, np.int64),
        )
    ]
    roll(*columns, sides, out)
    return out


def values_of(axis: str, n: int) -> np.ndarray:
    """The n smallest values, which are the ones in use and the worst for a weak mixer."""
    return np.arange(n) % 256 if axis == "seats" else np.arange(n)


AXES = ("keys", "seats", "turns", "numbers")


@pytest.mark.nojit
def test_mix_is_the_published_generator() -> None:
    """First outputs of SplitMix64 seeded with 0, as its reference implementation prints them."""
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert [oracle.splitmix64(0, number) for number in range(4)] == expected
    assert [int(dice.mix(np.uint64((number + 1) * oracle.GOLDEN & LOW_64))) for number in range(4)] == expected


@pytest.mark.nojit
@pytest.mark.parametrize("key", [0, 1, 2**63 - 1, 2**63, LOW_64, 0xDEADBEEF_12345678])
def test_dice_agree_with_plain_integers(key: int) -> None:
    for seat, turn in itertools.product((0, 1, 6, HOST_SEAT, 255), (0, 1, 2**31 - 1, 2**40 - 1)):
        stream = dice.turn_stream(np.uint64(key), seat, turn)
        assert int(stream) == oracle.turn_stream(key, seat, turn)
        for number, sides in itertools.product((0, 1, 9, 1000), (1, 2, 6, 20, 2**32 - 1)):
            expected = oracle.die(key, seat, turn, number, sides)
            assert dice.die(np.uint64(stream), number, sides) == expected
            assert dice.draw(np.uint64(stream), number, sides) == expected - 1


@pytest.mark.nojit
def test_the_types_of_a_record_roll_the_same_dice() -> None:
    """Seats and turns stand in records as narrow, signed integers: no bits may be lost on the way."""
    wide = dice.turn_stream(np.uint64(LOW_64), np.int64(1), np.int64(7))
    for seat, turn in ((np.int8(1), np.int32(7)), (np.int64(1), np.int16(7)), (1, 7)):
        assert dice.turn_stream(np.uint64(LOW_64), seat, turn) == wide
    assert dice.die(np.uint64(wide), np.int8(3), np.int8(6)) == dice.die(np.uint64(wide), 3, 6)


@pytest.mark.nojit
def test_golden_values() -> None:
    """Saved games, tables of results and trained models name games by seed: these never change."""
    assert [dice.game_key(0, 0), dice.game_key(1, 2), dice.game_key(LOW_64, 10**6)] == [
        0xE220A8397B1DCDAF,
        0x70335FC3DAF3D8A7,
        0x37557FFEB5E86C53,
    ]
    stream = dice.turn_stream(np.uint64(dice.game_key(0, 0)), 0, 0)
    assert [dice.die(np.uint64(stream), number, 6) for number in range(12)] == [1, 6, 1, 2, 3, 3, 6, 3, 1, 1, 5, 2]
    stream = dice.turn_stream(np.uint64(dice.game_key(0, 0)), 1, 5)
    assert [dice.die(np.uint64(stream), number, 20) for number in range(8)] == [5, 14, 5, 19, 19, 1, 6, 15]
    assert dice.named_seed("hog", 1, "always_roll(5)") == 16878169342288346639
    assert [dice.private_seed(5, 0), dice.private_seed(5, 1)] == [10560187183497635670, 16094956813811575612]


@pytest.mark.nojit
@pytest.mark.parametrize(("seed", "same"), [(-1, LOW_64), (2**64, 0), (2**64 + 7, 7)])
def test_seeds_count_modulo_two_to_the_64(seed: int, same: int) -> None:
    assert dice.game_key(seed, 3) == dice.game_key(same, 3) == oracle.game_key(same, 3)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("sides", [2, 4, 6, 7, 20])
def test_uniform_along_each_axis(axis: str, sides: int) -> None:
    n = 256 if axis == "seats" else 60_000
    counts = np.zeros(sides)
    for turn in range(200 if axis == "seats" else 1):
        fixed = {"turns": turn} if axis == "seats" else {}
        rolled = faces(n, sides, **{axis: values_of(axis, n)}, **fixed)
        assert rolled.min() >= 1
        assert rolled.max() <= sides
        counts += np.bincount(rolled, minlength=sides + 1)[1:]
    assert scipy.stats.chisquare(counts).pvalue > SURPRISE


def unmix(value: int) -> int:
    """Invert the mixer: each of its steps is a bijection."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        undone = value
        for _ in range(64 // shift):
            undone = value ^ undone >> shift
        value = undone * pow(factor, -1, 2**64) & LOW_64
    return value


@pytest.mark.nojit
@pytest.mark.parametrize("n", [*range(1, 21), 52, 1000, 2**31 + 1, 2**32 - 1])
def test_bias_is_below_two_to_the_minus_32(n: int) -> None:
    """Outcome k is drawn for exactly the h with k * 2**32 <= h * n < (k + 1) * 2**32.

    Their number is 2**32 / n rounded up or down. The kernel is asked on both sides of each border.
    """

    def drawn(h: int, low: int) -> int:
        stream = (unmix(h << 32 | low) - oracle.GOLDEN * (4 + 1)) & LOW_64
        return int(dice.draw(np.uint64(stream), 4, n))

    borders = sorted({*range(min(n, 50) + 1), n - 1, n})
    first_h = {k: -(-k * 2**32 // n) for k in borders}
    for k in borders:
        if k > 0:
            assert drawn(first_h[k] - 1, LOW_64 >> 32) == k - 1
        if k < n:
            assert drawn(first_h[k], 0) == k
        if k + 1 in first_h:
            assert abs((first_h[k + 1] - first_h[k]) / 2**32 - 1 / n) < 2**-32


def dependence(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of a chi-square test for independence of two rows of six-sided dice."""
    table = np.bincount(6 * (first - 1) + second - 1, minlength=36).reshape(6, 6)
    return float(scipy.stats.chi2_contingency(table).pvalue)


@pytest.mark.parametrize("axis", AXES)
def test_neighbours_are_independent(axis: str) -> None:
    for lag in (1, 2, 7):
        if axis == "seats":  # only 256 of them: neighbouring seats over many turns
            rows = [faces(40_000, seats=seat, turns=np.arange(40_000)) for seat in (0, lag)]
        else:
            rolled = faces(60_000, **{axis: np.arange(60_000)})
            rows = [rolled[:-lag], rolled[lag:]]
        assert dependence(*rows) > SURPRISE, lag


@pytest.mark.nojit
def test_named_and_private_seeds_depend_on_every_part_and_its_place() -> None:
    names = [("a",), ("a", ""), ("a", "b"), ("b", "a"), ("ab",), ("a", "b", 0), ("a", "b", 1), (), ("",)]
    seeds = [dice.named_seed(*parts) for parts in names]
    assert len(set(seeds)) == len(names) - 1  # () and ("",) are the same text; every other pair differs
    assert all(0 <= seed <= LOW_64 for seed in seeds)
    private = {dice.private_seed(key, seat) for key in range(500) for seat in range(7)}
    assert len(private) == 3500
    assert not private & {dice.game_key(seed, 0) for seed in range(500)}
