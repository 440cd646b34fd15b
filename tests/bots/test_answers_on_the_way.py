"""What bots answer arrives as the plain values that it is, on one line, and nothing else does."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from dicegym.bots.answers import DEEPEST, LARGEST, LONGEST_TEXT, MOST_ITEMS, TooMuchError, decode, encode


class Number(int):
    def __str__(self) -> str:
        return "forged"

    __repr__ = __format__ = __str__


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "forged"


class Index:
    def __index__(self) -> int:
        return 7


def arrived(value: object) -> Any:
    text = encode(value)
    assert text.isascii()
    assert "\n" not in text
    return decode(json.loads(text))


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, 12345678901234567890, LARGEST - 1, 0.1, -math.inf, True, False, None),
        *('say "\\', "two\nlines", "naïve ☃ 🎲", "\x00\x7f\u2028", "", [], (), {}, [[]], ((),), [{}]),
        *([1, (2, "three")], {"type": "SCORE_BOX", "box": 6, "dice": [0]}, {1: "a", None: (1,), (1, 2): {}}),
    ],
)
def test_plain_values_arrive_as_they_are(value: object) -> None:
    found = arrived(value)
    assert found == value
    assert type(found) is type(value)


def test_of_classes_of_their_own_arrives_what_they_are_derived_from() -> None:
    found = arrived([Number(5), Text("five"), np.bool_(True), np.int64(5)])
    assert found == [5, "five", True, 5]
    assert [type(one) for one in found] == [int, str, np.bool_, np.int64]
    assert arrived(Index()).__index__() == 7


def test_what_is_larger_than_any_interface_asks_for_is_cut_or_refused() -> None:
    assert arrived(10**5000) == arrived(10**2000) == LARGEST
    assert arrived(-(10**5000)) == -LARGEST
    assert arrived("x" * 10 * LONGEST_TEXT) == "x" * LONGEST_TEXT
    assert arrived("\ud800") == "\ud800"
    deep: list[Any] = []
    for _ in range(DEEPEST):
        deep = [deep]
    assert arrived(deep) == deep
    within_itself: list[Any] = []
    within_itself.append(within_itself)
    for much in ([deep], within_itself, [0] * MOST_ITEMS, {number: number for number in range(MOST_ITEMS // 2)}):
        with pytest.raises(TooMuchError):
            encode(much)
