"""Words that all games share, at their limits."""

from __future__ import annotations

import pytest

from dicegym.games.keyboard import percent
from dicegym.pictures.watched import tell_apart


def test_no_chance_but_0_and_1_is_shown_as_such() -> None:
    shown = {percent(number / 2000) for number in range(1, 2000)}
    assert {"<1%", "1%", "99%", ">99%"} <= shown
    assert not shown & {"0%", "100%", percent(0), percent(1)}


@pytest.mark.parametrize(
    ("names", "apart"),
    [
        (["a", "a", "a"], ["a", "a 2", "a 3"]),
        (["a", "a", "a 2"], ["a", "a 2", "a 2 2"]),
        (["a 2", "a", "a"], ["a 2", "a", "a 3"]),
        (["a\n", "a"], ["a", "a 2"]),
    ],
)
def test_no_two_players_have_one_name(names: list[str], apart: list[str]) -> None:
    assert tell_apart(names) == apart
