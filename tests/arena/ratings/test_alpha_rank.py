"""Alpha-Rank of the games of a contest."""

from __future__ import annotations

import pytest

from dicegym.arena.ratings import MatchPlaces, alpha_rank
from dicegym.errors import ParameterError


def won(name: str, other: str, wins: int, losses: int, draws: int = 0) -> MatchPlaces:
    return MatchPlaces((name, other), (((1, 2), wins), ((2, 1), losses), ((1, 1), draws)))


CIRCLE = [
    *(won(x, y, 65, 35) for x, y in (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock"))),
    *(won(x, "dud", 80, 20) for x in ("rock", "scissors", "paper")),
]


@pytest.mark.parametrize("alpha", [100.0, 10, None])
def test_a_circle_shares_what_there_is(alpha: float | None) -> None:
    rows = alpha_rank(CIRCLE, alpha=alpha)
    assert [(row.place, row.name) for row in rows] == [(1, "paper"), (1, "rock"), (1, "scissors"), (4, "dud")]
    assert [row.share for row in rows] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=0.02)


def test_the_best_of_an_order_takes_all() -> None:
    rows = alpha_rank([won("b", "a", 60, 40), won("b", "c", 55, 45), won("a", "c", 70, 20, 10)])
    assert rows[0][:2] == (1, "b")
    assert rows[0].share == pytest.approx(1, abs=1e-4)
    assert sum(row.share for row in rows) == pytest.approx(1, abs=1e-5)


def test_equals_share_a_place() -> None:
    """In drawn games and tables too."""
    rows = alpha_rank([MatchPlaces(("a", "b", "c"), (((1, 2, 3), 4), ((3, 1, 2), 4), ((2, 3, 1), 4), ((1, 1, 1), 2)))])
    assert [row.place for row in rows] == [1, 1, 1]


@pytest.mark.parametrize(
    "arguments", [{"alpha": 0}, {"alpha": float("inf")}, {"alpha": "x"}, {"population": 1}, {"population": 2.5}]
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(arguments))):
        alpha_rank(CIRCLE, **arguments)


def test_nothing_to_rank_is_refused() -> None:
    with pytest.raises(ParameterError, match="nothing to rank"):
        alpha_rank([])
