"""Checks of what users pass, and what their errors say."""

from typing import Any

import numpy as np
import pytest

from dicegym.engine.spec import Parameter
from dicegym.engine.validate import (
    LARGEST_SEED,
    as_int64,
    finite_number,
    is_whole_number,
    one_of,
    seed_number,
    whole_number,
    whole_numbers,
)
from dicegym.errors import ParameterError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_any_type_become_ints(value: Any) -> None:
    number = whole_number("dice", value, 1, 5, "a number of dice")
    assert (number, type(number)) == (3, int)
    assert is_whole_number(value)


@pytest.mark.parametrize("value", [0, 6, 2.0, "3", None, True, np.True_, 1 << 70, [3], np.array(3)], ids=repr)
def test_what_is_no_whole_number_in_the_range_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^dice=.* cannot be used as a number of dice: give .* from 1 to 5$"):
        whole_number("dice", value, 1, 5, "a number of dice")
    assert is_whole_number(value) is (type(value) is int)


def test_a_range_of_one_number_is_told_as_that_number() -> None:
    with pytest.raises(ParameterError, match=r"players=3 cannot be used as seats: give exactly 2$"):
        whole_number("players", 3, 2, 2, "seats")


def test_arrays_of_whole_numbers_become_int64() -> None:
    given = np.array([1, 2])
    assert whole_numbers("actions", given, 2, "this batch") is given
    for values in ([1, 2], given.astype(np.uint8)):
        found = whole_numbers("actions", values, 2, "this batch")
        assert (found.tolist(), found.dtype) == ([1, 2], np.dtype(np.int64))
    for values in ([1], [1.0, 2.0], [True, False], [[1], [2]], 1, None, np.array([1, 1 << 63], np.uint64)):
        with pytest.raises(ParameterError, match=r"^actions of shape .* do not fit this batch: give 2 whole numbers"):
            whole_numbers("actions", values, 2, "this batch")


def test_a_switch_may_be_said_with_a_bool() -> None:
    switch, dice = Parameter(0, 0, 1, "a switch"), Parameter(2, 1, 5, "a number of dice")
    assert [switch.check("memory", value) for value in (False, np.True_, 1)] == [0, 1, 1]
    with pytest.raises(ParameterError, match="dice=True"):
        dice.check("dice", True)


def test_seeds_have_64_bits() -> None:
    assert seed_number("seed", LARGEST_SEED) == LARGEST_SEED
    for value in (-1, LARGEST_SEED + 1, True, 0.0):
        with pytest.raises(ParameterError, match=r"seed=.* cannot be used as a number that names games"):
            seed_number("seed", value)


def test_numbers_are_finite() -> None:
    assert [finite_number("reward", value, "a reward") for value in (-1, np.float32(0.5), 1 << 70)] == [-1, 0.5, 2**70]
    for value in (float("nan"), float("inf"), 10**400, 10**5000, "1", None, True, 1j):
        with pytest.raises(ParameterError, match=r"reward=.* cannot be used as a reward: give a number"):
            finite_number("reward", value, "a reward")
    assert finite_number("weight", 0.5, "a share", above=0) == 0.5
    for value in (0, -1, float("nan"), None, True):
        with pytest.raises(ParameterError, match=r"weight=.* cannot be used as a share: give a number above 0"):
            finite_number("weight", value, "a share", above=0)


def test_words_are_known_ones() -> None:
    assert one_of("mode", "b", ["a", "b"]) == "b"
    for value in ("c", None, 1, 10**5000, ["a"]):
        with pytest.raises(ParameterError, match=r"mode=.* is unknown: give one of 'a', 'b'"):
            one_of("mode", value, ["a", "b"])


def test_actions_are_read_as_numbers_of_64_bits() -> None:
    assert [as_int64(value) for value in (3, np.int8(-1), np.array(2), True)] == [3, -1, 2, None]
    assert [as_int64(value) for value in (None, "3", 3.0, 1 << 63, np.array([1, 2]))] == [None] * 5
