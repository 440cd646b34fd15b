"""Swiss tournaments: the pairings, then contests with made-up games."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_up import Returns, disorderly

from dicegym.arena import ContestResult, contest
from dicegym.arena.formats import swiss as pairing
from dicegym.arena.formats.swiss import usual_rounds
from dicegym.arena.match import Match
from dicegym.sandbox.jobs import Failure

Outcome = Returns | Failure


def names(n: int) -> list[str]:
    return [f"n{number:03d}" for number in range(n)]


def by_strength(match: Match) -> Returns:
    """The lower number always wins."""
    return [[-int(entry.name[1:]) for entry in match.entries]] * match.games


def swiss(n: int, play: Callable[[Match], Outcome], **more: Any) -> ContestResult:
    return contest("yatzy", dict.fromkeys(names(n), "in_order"), 1, format="swiss", executors=disorderly(play), **more)


# --- pairs and tables --------------------------------------------------------------------------------------


class Meetings:
    """Counts how often two have met."""

    def __init__(self) -> None:
        self.count: Counter[frozenset[str]] = Counter()

    def __call__(self, one: str, other: str) -> int:
        return self.count[frozenset((one, other))]

    def add(self, table: tuple[str, ...]) -> None:
        self.count.update(frozenset(pair) for pair in itertools.combinations(table, 2))


def test_the_upper_half_plays_the_lower_and_who_is_left_over_floats_down() -> None:
    order = names(8)
    assert pairing.pairs(order, dict.fromkeys(order, 1.0), Meetings()) == list(zip(order[:4], order[4:], strict=True))
    points = dict(zip(names(6), [2, 2, 2, 1, 1, 1], strict=True))
    found = pairing.pairs(names(6), points, Meetings())
    assert found == [("n000", "n001"), ("n002", "n003"), ("n004", "n005")]


def test_who_has_met_is_not_paired_again_if_another_can_be_had() -> None:
    order = names(4)
    met = Meetings()
    met.add(("n000", "n002"))
    assert pairing.pairs(order, dict.fromkeys(order, 0.0), met) == [("n000", "n003"), ("n001", "n002")]
    met.add(("n001", "n002"))  # the first pair has to give way, that the others may be one
    assert pairing.pairs(order, dict.fromkeys(order, 0.0), met) == [("n000", "n001"), ("n002", "n003")]


def test_where_no_round_without_rematches_is_left_as_few_as_can_be_meet_again() -> None:
    """Two camps of three have met completely: pairs within a camp leave one of each over."""
    order = names(6)
    met = Meetings()
    for one, other in itertools.product(order[:3], order[3:]):
        met.add((one, other))
    found = pairing.pairs(order, dict.fromkeys(order, 0.0), met)
    assert sorted(itertools.chain.from_iterable(found)) == order
    assert sum(met(*pair) for pair in found) == 1


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 24), st.integers(0, 1_000_000))
@example(1000, 1)
def test_rounds_pair_everybody_once_and_nobody_twice(n: int, luck: int) -> None:
    """Play the usual number of rounds with random results."""
    draw = random.Random(luck)
    points, met, free = dict.fromkeys(names(n), 0.0), Meetings(), Counter[str]()
    for _ in range(usual_rounds(n)):
        order = sorted(points, key=lambda name: (-points[name], name))
        byes = [pairing.bye(order, free)] if n % 2 else []
        found = pairing.pairs([name for name in order if name not in byes], points, met)
        assert sorted([*itertools.chain.from_iterable(found), *byes]) == names(n)
        assert not any(met(*pair) for pair in found)
        for pair in found:
            met.add(pair)
            points[draw.choice(pair)] += 1
        for name in byes:
            free[name] += 1
            points[name] += 1
    assert max(free.values(), default=0) <= 1
    assert n < 100 or list(points.values()).count(usual_rounds(n)) <= 1


# --- Swiss -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 8, 13])
def test_the_strongest_wins_a_swiss_tournament_and_nobody_meets_twice(n: int) -> None:
    result = swiss(n, by_strength)
    assert len(result.details["rounds"]) == usual_rounds(n)
    assert result.standings[0].name == "n000"
    assert result.standings[0]["points"] == len(result.details["rounds"])
    pairs = Counter(row.entries for row in result.matches)
    assert set(pairs.values()) == {1}
    for one in result.details["rounds"]:
        assert sorted(itertools.chain.from_iterable(pairing["entries"] for pairing in one["pairings"])) == names(n)
    assert {row["byes"] for row in result.standings} <= {0, 1}
    assert sum(row["points"] for row in result.standings) == sum(
        sum(pairing["points"]) for one in result.details["rounds"] for pairing in one["pairings"]
    )


def test_buchholz_ranks_who_has_as_many_points() -> None:
    result = swiss(8, by_strength)
    merits = [(row["points"], row["buchholz"], row["share"]) for row in result.standings]
    for (above, first), (below, second) in itertools.pairwise(zip(result.standings, merits, strict=True)):
        assert first >= second
        assert (above.place == below.place) == (first == second)
    points = {row.name: row["points"] for row in result.standings}
    met = {name: [other for row in result.matches if name in row.entries for other in row.entries] for name in points}
    for row in result.standings:
        assert row["buchholz"] == sum(points[other] for other in met[row.name] if other != row.name)
    assert "Not everybody met everybody" in " ".join(result.text().split())


def test_a_swiss_tournament_ends_when_everybody_has_met_everybody() -> None:
    """Two of eight are disqualified in the first of seven rounds: six have only five rounds."""
    struck = ("n006", "n007")

    def play(match: Match) -> Outcome:
        for i, entry in enumerate(match.entries):
            if entry.name in struck:
                return Failure(i, "gave up")
        return by_strength(match)

    result = swiss(8, play, rounds=7)
    assert [bad.name for bad in result.disqualified] == list(struck)
    assert any("everybody had met everybody" in remark for remark in result.remarks)
    walkovers = [one for one in result.details["rounds"][0]["pairings"] if "walkover" in one["note"]]
    assert {name for one in walkovers for name in one["entries"]} >= {*struck}
    assert all(
        points == (name not in struck)
        for one in walkovers
        for name, points in zip(one["entries"], one["points"], strict=True)
    )
    assert not any(
        set(struck) & set(one["entries"]) for later in result.details["rounds"][1:] for one in later["pairings"]
    )
    assert result.standings[0].name == "n000"


def test_the_seeds_of_a_match_count_together() -> None:
    """One wins the first match, the other the next two: games decide, not matches."""

    def play(match: Match) -> Returns:
        return [[1, 0]] * 9 if match.number == 0 else [[0, 1]] * 5 + [[1, 0]] * 4

    result = swiss(2, play, games=9, seeds=3)
    assert [(row.name, row["points"]) for row in result.standings] == [("n000", 1), ("n001", 0)]
    assert result.details["rounds"][0]["pairings"][0]["scores"] == (17, 10)
    assert result.standings[0]["games"] == 27


# --- reports -----------------------------------------------------------------------------------------------


def test_reports_say_what_places_are_worth() -> None:
    assert "Not everybody" not in swiss(3, by_strength, rounds=3).text()
    alone = swiss(2, lambda match: Failure(0, "gave up"))
    assert "nothing to compare: a contest needs two entries" in alone.text()
    assert "1 entry, swiss" in alone.heading
