"""A numbered list of actions: numbers, names, and what is shown."""

from __future__ import annotations

import pytest

from dicegym.games.controls import MOST_LISTED, list_of, match_action

NAMES = {0: "exchange", 2: "roll 1", 3: "roll 10", 11: "Free bacon"}


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("0", 0),
        ("[0]", 0),
        ("11", 11),
        ("1", None),
        ("[1]", None),
        ("roll 1", 2),
        ("Roll  10", 3),
        ("roll", None),
        ("free", 11),
        ("", None),
        ("[]", None),
        ("-1", None),
        ("²", None),
        ("9" * 5000, None),
        ("x", None),
    ],
)
def test_an_action_is_meant_by_its_number_its_name_or_the_beginning_of_one_name(
    answer: str, action: int | None
) -> None:
    assert match_action(answer, NAMES) == action


def test_bare_numbers_can_be_left_to_others() -> None:
    assert match_action("11", NAMES, bare=False) is None
    assert match_action("[11]", NAMES, bare=False) == 11


def test_long_lists_are_cut_until_they_are_asked_for() -> None:
    names = {action: f"bid {action}" for action in range(2 * MOST_LISTED)}
    short = list_of(names, MOST_LISTED)
    assert f"... {MOST_LISTED} more (`list` shows all) ..." in short
    assert "[0] bid 0" in short
    assert f"[{2 * MOST_LISTED - 1}] bid" in short
    assert "more" not in list_of(names)
    assert max(map(len, list_of(names).splitlines())) < 80
