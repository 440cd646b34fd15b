"""What one number for each entry does not explain."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from arena.ratings.fields import duels, tables
from scipy.stats import binom

from dicegym.arena.ratings import MatchPlaces, fit, residuals
from dicegym.errors import UnknownNameError


def won(name: str, other: str, wins: int, losses: int, draws: int = 0) -> MatchPlaces:
    return MatchPlaces((name, other), (((1, 2), wins), ((2, 1), losses), ((1, 1), draws)))


CIRCLE = [
    *(won(x, y, 65, 35) for x, y in (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock"))),
    *(won(x, "dud", 80, 20) for x in ("rock", "scissors", "paper")),
]


def test_rock_scissors_and_paper_are_named() -> None:
    found = residuals(CIRCLE, fit(CIRCLE, replicates=0))
    assert [cycle.names for cycle in found.cycles] == [("paper", "rock", "scissors")]
    cycle = found.cycles[0]
    assert (cycle.won, cycle.games) == ((65, 65, 65), (100, 100, 100))
    assert cycle.z > 4
    assert found.words()[0] == "paper beats rock (65%), rock beats scissors (65%) and scissors beats paper (65%)."
    assert len(found.words()) == 2  # its pairs are not told again
    assert found.chance < 1e-4
    assert {(one.name, one.other) for one in found.surprises} == {
        ("rock", "scissors"),
        ("scissors", "paper"),
        ("paper", "rock"),
    }


def test_a_pair_that_its_ratings_do_not_explain_is_named() -> None:
    """b has an answer to the best."""
    matches = [won("a", x, 90, 10) for x in "cdef"] + [won("b", "a", 80, 20)] + [won("b", x, 50, 50) for x in "cdef"]
    found = residuals(matches, fit(matches, replicates=0))
    best = found.surprises[0]
    assert (best.name, best.other, best.won, best.games) == ("b", "a", 80, 100)
    assert best.expected < 50
    assert any("b was ahead of a in 80 of 100 games" in sentence for sentence in found.words())


def test_each_circle_is_named_once_and_from_its_first() -> None:
    """Of five, each of which beats the next two: five circles."""
    names = "abcde"
    matches = [won(names[i], names[(i + step) % 5], 300, 100) for i in range(5) for step in (1, 2)]
    found = residuals(matches, fit(matches, replicates=0))
    circles = {frozenset(cycle.names) for cycle in found.cycles}
    assert len(found.cycles) == len(circles) == 5
    for cycle in found.cycles:
        assert cycle.names[0] == min(cycle.names)
        for (name, other), wins in zip(itertools.pairwise((*cycle.names, cycle.names[0])), cycle.won, strict=True):
            assert wins == 300, (name, other)


def test_two_who_are_level_close_no_circle() -> None:
    """The other two edges are so sure that their sum would be beyond luck."""
    matches = [won("a", "b", 300, 100), won("b", "c", 300, 100), won("c", "a", 201, 199)]
    found = residuals(matches, fit(matches, replicates=0))
    assert not found.cycles
    assert found.surprises
    assert not found.circles()


def test_order_alone_is_not_called_a_circle() -> None:
    """Where each has one strength, something is named in 5 of 100 contests."""
    named = explained = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        matches = duels(rng, np.linspace(-1, 1, 8), 40, 0.3)
        found = residuals(matches, fit(matches, replicates=0))
        named += bool(found.cycles)
        explained += found.chance > 0.05
    assert named <= binom.ppf(0.999, 60, 0.05)
    assert explained >= binom.ppf(0.001, 60, 0.95)


def test_residuals_of_pairs_have_unit_variance() -> None:
    """Adjusted for the ratings being fitted: of three entries a third of all is left, and yet."""
    squares = []
    for seed in range(60):
        matches = duels(np.random.default_rng(seed), [0.4, 0.0, -0.4], 60)
        squares.append(residuals(matches, fit(matches, replicates=0)).z[0, 1] ** 2)
    assert np.mean(squares) == pytest.approx(1, abs=0.4)


def test_tables_count_for_each_pair_that_they_tell_apart() -> None:
    matches = [MatchPlaces(("a", "b", "c", "d"), (((1, 2, 2, 3), 2), ((1, 2, 2, 2), 3), ((1, 1, 1, 1), 1)))]
    found = residuals(matches, fit(matches, replicates=0))
    index = {name: i for i, name in enumerate(found.names)}
    assert found.won[index["a"]].sum() == 15
    assert found.won[index["b"], index["d"]] == 2
    assert found.won[index["b"], index["c"]] == found.won[index["c"], index["b"]] == 0
    assert found.level[index["b"], index["c"]] == 3  # the last ones of a game are not told apart
    assert found.expected + found.expected.T == pytest.approx(found.won + found.won.T)


def test_what_tables_expect_is_what_they_bring() -> None:
    """Games by the model leave no residuals beyond luck."""
    matches = tables(np.random.default_rng(4), np.linspace(-1, 1, 9), 5, 300, 2, grain=0.1)
    found = residuals(matches, fit(matches, replicates=0))
    assert not found.cycles
    assert np.nanmax(np.abs(found.z)) < 4
    assert found.words() == ["One number for each entry explains who beats whom, as far as these games tell."]


def test_who_never_met_has_no_residual() -> None:
    matches = [won("a", "b", 5, 3), won("c", "d", 2, 2)]
    found = residuals(matches, fit(matches, replicates=0))
    assert np.isnan(found.z).all()
    assert found.chance == 1


@pytest.mark.filterwarnings("error")
def test_pairs_that_nothing_can_contradict_have_no_residual() -> None:
    """A rating each for two, or for three in a row, fits whatever they do."""
    for matches in ([won("a", "b", 10**9, 0)], [won("a", "b", 7, 3), won("b", "c", 100, 0)]):
        found = residuals(matches, fit(matches))
        assert np.isnan(found.z).all()
        assert found.chance == 1


def test_json_is_plain() -> None:
    found = residuals(CIRCLE, fit(CIRCLE, replicates=0)).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["cycles"][0]["names"] == ["paper", "rock", "scissors"]


def test_ratings_of_others_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="'a' has no rating"):
        residuals([won("a", "b", 1, 1)], fit(CIRCLE, replicates=0))
