"""Round robins ranked by exact win rates."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest
from made_up import SMALL, disorderly

import dicegym
from dicegym.arena import ContestResult, contest
from dicegym.arena.exact_ranking import ONE_DRAW, chance_to_win_most
from dicegym.arena.pages.contest_page import write_page
from dicegym.arena.pages.stored_contest import build_page
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import ParameterError
from dicegym.games.parts import solver

pytestmark = pytest.mark.xdist_group("arena")
ENTRIES = ("always_roll", "always_roll(5)", "bacon", "ham", "swap", "tuned")
RANKED = (
    (1, "tuned", 4.155734193, 0.661699502379),
    (2, "swap", 3.063656942, 0.549756098346),
    (3, "ham", 2.373085496, 0.489140801065),
    (4, "always_roll", 2.163690355, 0.468005515506),
    (4, "always_roll(5)", 2.163690355, 0.468005515506),
    (6, "bacon", 1.080142658, 0.363392567199),
)
"""Places, expected wins of 5 matches of 9 games, and mean win rates, which do not depend on dice."""


def rank(seed: int, entries: tuple[str, ...], game: Any = "hog", **options: Any) -> ContestResult:
    """Run a contest in this process."""
    return contest(game, entries, seed, executors=disorderly(), **{"exact": True} | options)


def exact_rows(result: ContestResult) -> list[tuple[int, str, float, float]]:
    return [(row.place, row.name, row["exact"]["wins"], row["exact"]["win_rate"]) for row in result.standings]


def test_places_are_known() -> None:
    found = exact_rows(rank(0, ENTRIES, games=0))
    assert [row[:2] for row in found] == [row[:2] for row in RANKED]
    assert [x for row in found for x in row[2:]] == pytest.approx([x for row in RANKED for x in row[2:]], abs=1e-9)


def test_places_do_not_depend_on_dice_nor_on_what_is_played() -> None:
    few = ENTRIES[2:5]
    played, unplayed = rank(3, ENTRIES, SMALL), rank(0, few, SMALL, games=0)
    plain = rank(3, few, SMALL, exact=False)
    assert len(played.details["pairs"]) == 15
    assert exact_rows(played) == exact_rows(rank(0, ENTRIES, SMALL, games=0))
    assert (unplayed.matches, unplayed.options["exact"]) == ((), True)
    assert unplayed.heading == "Hog: 3 entries, round robin, no games, ranked by exact win rates"
    rates = {one["entries"]: one["win_rate"] for one in played.details["pairs"]}
    assert [one["win_rate"] == rates[one["entries"]] for one in unplayed.details["pairs"]] == [True] * 3
    assert set(plain.matches) <= set(played.matches)
    assert {row["exact"] for row in plain.standings} == {None}


def test_seeds_count_as_often_as_they_are_played_and_the_report_has_the_matrix() -> None:
    once, thrice = (rank(0, ("bacon", "swap"), games=0, seeds=seeds) for seeds in (1, 3))
    wins = {row.name: row["exact"]["wins"] for row in once.standings}
    assert {row.name: row["exact"]["wins"] for row in thrice.standings} == pytest.approx(
        {name: 3 * won for name, won in wins.items()}
    )
    assert wins["swap"] == pytest.approx(0.85, abs=0.005)
    text = once.text()
    assert "Ranking  Entry  Exact wins  Win rate\n      1  swap         0.85     66.2%\n" in text
    assert "in per cent\n\n           1  2\n1  swap    . 66\n2  bacon  34  .\n" in text


@pytest.mark.parametrize("games", [1, 2, 9, 1001, 1101, 20_001])
def test_a_match_may_have_any_number_of_games(games: int) -> None:
    """The larger binomial coefficients overflow a float."""
    even = (1 - comb(games, games // 2) / 2**games) / 2 if games % 2 == 0 else 0.5
    assert chance_to_win_most(0.5, games) == pytest.approx(even, abs=1e-10)
    assert chance_to_win_most(0.6, games) > 0.3
    assert chance_to_win_most(0.3, games) + chance_to_win_most(0.7, games) <= 1 + 1e-10
    assert (chance_to_win_most(0, games), chance_to_win_most(1 + 1e-16, games)) == (0, 1)


@pytest.mark.parametrize(("entries", "samples"), [(("bacon", "swap"), False), (("bacon", "haphazard"), True)])
def test_a_report_tells_of_sampled_tables_only_where_an_entry_may_sample(
    entries: tuple[str, ...], samples: bool
) -> None:
    for exact in (True, False):
        assert (ONE_DRAW in rank(0, entries, SMALL, exact=exact, games=1).text()) is samples


def test_entries_are_asked_where_the_test_does_not_ask_everything(tmp_path: Path) -> None:
    game = dicegym.game("liarsdice", dice=1)
    (tmp_path / "stuck.py").write_text(
        "import os\ndef get_play(me, hands, history):\n    if not history:\n        os._exit(3)\n    return 0\n"
    )
    told: list[str] = []
    entries = ["even", "timid", "honest", tmp_path / "stuck.py"]
    progress = lambda done, total, what: told.append(what)  # noqa: E731
    found = contest(game, entries, 0, 1, progress, isolation="process", exact=True, games=0)
    assert [row.name for row in found.standings] == ["honest", "even", "timid"]
    (bad,) = found.disqualified
    assert bad.name == "stuck"
    assert "while it was asked for its whole strategy" in bad.reason
    values = solver(game)
    assert values is not None
    rate = values.win_rate(dicegym.agent(game, "even"), dicegym.agent(game, "honest"), game)
    assert {one["entries"]: one["win_rate"] for one in found.details["pairs"]}["even", "honest"] == pytest.approx(rate)
    assert told.count("exact win rates") == 3
    assert "asked even for its strategy" in told


def test_a_page_shows_exact_values_in_colours(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    made = [rank(0, ("bacon", "swap"), store=store) for _ in range(2)]
    assert [one.stored.played for one in made if one.stored is not None] == [3, 0], "two checks, and a match"
    assert made[0].standings == made[1].standings
    with StoreReader(store) as reader:
        write_page(build_page(reader, reader.contest()), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert '<td class="down3">34</td>' in text  # 0.338 against 0.662
    assert '<td class="up3">66</td>' in text


@pytest.mark.parametrize(
    ("game", "entries", "more", "message"),
    [
        ("yatzy", ("thrifty", "gather"), {}, r"players=2\) has no exact values: leave it out and play more games"),
        ("liarsdice", ("even", "timid"), {}, r"no exact values; they are known with players=2 and dice=1: leave it"),
        ("hog", ("bacon", "swap"), {"format": "swiss"}, r"exact=True means nothing to the format 'swiss'.*: round-rob"),
        ("lucky", ("idle", "thrifty"), {}, "exact=True means nothing to the format 'groups'"),
        ("hog", ("bacon", "swap"), {"less_luck": True}, "exact=True cannot be used with less_luck=True"),
        ("hog", ("bacon", "llm(m)"), {}, r"exact=True cannot rank llm\(m\), as it needs an answer to every situation"),
    ],
)
def test_what_cannot_be_ranked_exactly_is_refused(
    game: str, entries: tuple[str, ...], more: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(ParameterError, match=message):
        contest(game, entries, 0, exact=True, executors=disorderly(), **more)
