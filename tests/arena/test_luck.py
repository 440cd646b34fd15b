"""How far luck decided: what games tell apart, and the contest without luck."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.arena import contest
from dicegym.arena.exact_ranking import chance_to_win_most
from dicegym.arena.report import Matrix
from dicegym.arena.results import ContestResult
from dicegym.arena.significance import (
    Leads,
    Places,
    find_places,
    leads_of_results,
    leads_of_shares,
    list_names,
    student_quantile,
    verdict,
)
from dicegym.games.parts import solver


def played(strengths: list[float], games: int, generator: np.random.Generator) -> Leads:
    """Return the leads of a round robin in which win rates follow from strengths."""
    tables = []
    for a, b in itertools.combinations(range(len(strengths)), 2):
        rate = strengths[a] / (strengths[a] + strengths[b])
        won = int(generator.binomial(games, rate))
        tables.append(([a, b], [won, games - won], games))
    return leads_of_shares(len(strengths), tables)


@pytest.mark.parametrize("games", [9, 50])
def test_equals_are_not_told_apart(games: int) -> None:
    """In 95 of 100 contests every place is left open to each of them."""
    generator = np.random.default_rng(1)
    kept = np.zeros(6)
    for _ in range(1000):
        found = find_places(played([1.0] * 6, games, generator))
        kept += [place == Places(1, 6) for place in found]
    assert (kept / 1000 > 0.93).all()  # 0.95, and what chance makes of a thousand


def test_enough_games_tell_unequals_apart() -> None:
    generator = np.random.default_rng(2)
    strengths = [5.0, 3.0, 2.0, 1.0]
    right = np.zeros(4)
    for _ in range(100):
        found = find_places(played(strengths, 2000, generator))
        assert all(place.best <= number <= place.worst for number, place in enumerate(found, 1))
        right += [place == Places(number, number) for number, place in enumerate(found, 1)]
    assert (right > 95).all()
    few = find_places(played(strengths, 9, generator))
    assert few[0].worst > 1


def test_places_hold_the_true_one_in_95_of_100_contests() -> None:
    generator = np.random.default_rng(3)
    strengths = [1.3, 1.2, 1.1, 1.0, 0.9]
    held = np.zeros(5)
    for _ in range(400):
        found = find_places(played(strengths, 60, generator))
        held += [place.best <= number <= place.worst for number, place in enumerate(found, 1)]
    assert (held / 400 > 0.93).all()


def test_nine_of_nine_games_are_no_certainty() -> None:
    leads = leads_of_shares(2, [([0, 1], [1, 0], 1)])
    assert find_places(leads) == [Places(1, 2), Places(1, 2)]
    assert find_places(leads_of_shares(2, [([0, 1], [9, 0], 9)])) == [Places(1, 1), Places(2, 2)]
    assert find_places(leads_of_shares(1, [])) == [Places(1, 1)]


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 9, 51, 52, 999])
def test_quantiles_are_those_of_students_distribution(freedom: int) -> None:
    special = pytest.importorskip("scipy.special")
    for share in (0.6, 0.975, 0.9999):
        assert student_quantile(share, freedom) == pytest.approx(special.stdtrit(freedom, share), rel=1e-9)
    assert student_quantile(0.975, 0) == math.inf
    assert student_quantile(0.975, 1_000) == pytest.approx(special.stdtrit(1_000, 0.975), rel=2e-3)


def test_equals_are_seldom_told_apart_by_few_games() -> None:
    """Of two equals one is called the best in 5 of 100 contests; shares of few games are coarse, and leave 8."""
    for games in range(1, 31):
        told = 0
        for won in range(games + 1):
            first, second = find_places(leads_of_shares(2, [([0, 1], [won, games - won], games)]))
            told += math.comb(games, won) * (first != second)
        assert told / 2**games < 0.08, games
    assert find_places(leads_of_shares(2, [([0, 1], [3, 0], 3)])) == [Places(1, 2), Places(1, 2)]


def test_games_at_one_table_are_compared_game_by_game() -> None:
    generator = np.random.default_rng(4)
    luck = generator.normal(0, 10, 200)  # everybody's alike, and so of no account
    points = np.array([luck + 1 + generator.normal(0, 1, 200), luck + generator.normal(0, 1, 200)])
    assert find_places(leads_of_results(2, [([0, 1], points.T)])) == [Places(1, 1), Places(2, 2)]
    assert find_places(leads_of_results(2, [([0, 1], points.T[:1])])) == [Places(1, 2), Places(1, 2)]


def test_verdicts() -> None:
    one, two, all_three = Places(1, 1), Places(1, 2), Places(1, 3)
    assert verdict(["a", "b", "c"], [all_three] * 3).startswith("Places 1 to 3 cannot be told apart by these games")
    assert verdict(["a", "b", "c"], [two, two, Places(3, 3)]) == "These games do not tell who is best: a and b may be."
    assert verdict(["a", "b"], [one, Places(2, 2)]) == "a is the best, and not by luck."
    assert "left open" in verdict(["a", "b", "c"], [one, Places(2, 3), Places(2, 3)])
    assert list_names([str(number) for number in range(9)]) == "0, 1, 2, 3, 4 and 4 more"


# The contest without luck


def test_chances_are_those_of_a_match() -> None:
    assert chance_to_win_most(0.6, 3) == pytest.approx(0.6**3 + 3 * 0.6**2 * 0.4)
    assert chance_to_win_most(0.6, 2) == pytest.approx(0.6**2)


@pytest.fixture(scope="module")
def equals(tmp_path_factory: pytest.TempPathFactory) -> ContestResult:
    """Four submissions that are the same, and a weak one."""
    folder = tmp_path_factory.mktemp("equals")
    for name in ("ann", "bob", "cid", "dot"):
        (folder / f"{name}.py").write_text("def final_strategy(score, opponent_score):\n    return 6\n")
    (folder / "weak.py").write_text("def final_strategy(score, opponent_score):\n    return -1\n")
    return contest("hog", folder, exact=True, seed=0, workers=2)


@pytest.mark.slow
def test_exact_values_rank_equals_equally(equals: ContestResult) -> None:
    assert [(row.place, row.name) for row in equals.standings] == [
        *((1, name) for name in ("ann", "bob", "cid", "dot")),
        (5, "weak"),
    ]
    for row in equals.standings[:4]:
        assert row["exact"] is not None
        assert row["exact"]["wins"] == pytest.approx(1.5 + 1, abs=1e-5)
        assert row.could_be.best == 1
    assert len(equals.details["pairs"]) == 10
    text = equals.text()
    assert "the same file: ann, bob, cid, dot" in text
    assert equals.remarks == ("the same file: ann, bob, cid, dot",)


@pytest.mark.slow
def test_exact_ranks_do_not_depend_on_the_seed(equals: ContestResult) -> None:
    again = contest("hog", {"a": "always_roll", "b": "bacon", "s": "swap"}, seed=3, exact=True, workers=1)
    other = contest("hog", {"a": "always_roll", "b": "bacon", "s": "swap"}, seed=4, exact=True, workers=1)
    assert [(row.place, row.name, row["exact"]) for row in again.standings] == [
        (row.place, row.name, row["exact"]) for row in other.standings
    ]
    assert again.matches != other.matches
    plain = contest("hog", {"a": "always_roll", "b": "bacon", "s": "swap"}, seed=3, workers=1)
    assert plain.matches == again.matches
    assert {row.name: row.could_be for row in again.standings} == {row.name: row.could_be for row in plain.standings}
    quick = contest("hog", {"a": "always_roll", "b": "bacon", "s": "swap"}, exact=True, games=0, seed=0, workers=1)
    assert quick.details["pairs"] == again.details["pairs"]
    assert quick.matches == ()


@pytest.mark.slow
def test_exact_values_of_another_game_ask_every_entry(tmp_path: Path) -> None:
    game = dicegym.game("liarsdice", dice=1)
    (tmp_path / "stuck.py").write_text(
        "import os\ndef get_play(me, hands, history):\n    if not history:\n        os._exit(3)\n    return 0\n"
    )
    found = contest(game, ["even", "timid", "honest", tmp_path / "stuck.py"], exact=True, games=0, seed=0, workers=2)
    assert isinstance(found, ContestResult)
    (bad,) = found.disqualified
    assert bad.name == "stuck"
    assert "while it was asked for its whole strategy" in bad.reason
    values = solver(game)
    assert values is not None
    rate = values.win_rate(dicegym.agent(game, "even"), dicegym.agent(game, "honest"), game)
    assert {one["entries"]: one["win_rate"] for one in found.details["pairs"]}["even", "honest"] == pytest.approx(rate)
    assert all(row["win_rate"] is not None and math.isfinite(row["win_rate"]) for row in found.standings)


# The matrix


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("n", [2, 12, 30])
def test_a_matrix_keeps_to_the_width(n: int, width: int) -> None:
    names = [f"submission_{number:03d}" for number in range(n - 1)] + ["a name that is very much longer than any"]
    cells = [["." if a == b else str((a + b) % 10) for b in range(n)] for a in range(n)]
    lines = list(Matrix("Games", names, cells).lines(width))
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.strip() and line.split()[0].isdigit() and not line.startswith("   ")]
    seen = "".join("".join(line.split()[2:]) for line in rows if "a name" not in line)
    assert len(seen) == (n - 1) * n  # every cell stands in one block
    if n == 30:
        assert any(line == "" for line in lines) == (width < 116)
