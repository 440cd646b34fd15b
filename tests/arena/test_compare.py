"""Comparisons: pairs on the same dice, their decisions on real players, and reproducibility."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_up import SMALL, disorderly

import dicegym
from dicegym.arena import Comparison, Decision, compare
from dicegym.arena.compare.comparing import BLOCK, Lineup, Scores, differences
from dicegym.arena.executors import Executors
from dicegym.arena.store.reading import StoreReader
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.parts import solver
from dicegym.games.worth import first_place_shares
from dicegym.play.printed import Printed
from dicegym.registry import GAMES
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import entry, here

pytestmark = pytest.mark.xdist_group("arena")


def in_here(width: int = 1, seed: int = 0) -> Executors:
    return disorderly(seed=seed, ahead=width)


def table_of(game: Game, first: str, second: str, others: Sequence[str] = ()) -> Lineup:
    named = [entry(game, f"{name} {i}", name) for i, name in enumerate((first, second, *others))]
    return Lineup(named[0], named[1], tuple(named[2:]))


def played(lineup: Lineup, game: Game, pairs: int, number: int = 0) -> list[dict[str, Any]]:
    context = here(Heartbeat.private(), Printed())
    return [match.run(context) for match in lineup.block(game, 5, number, pairs)]


def paired(lineup: Lineup, outcomes: Sequence[dict[str, Any]]) -> Scores:
    return lineup.scores(*(first_place_shares(outcome["returns"]) for outcome in outcomes))


# Pairs


@pytest.mark.parametrize("name", GAMES)
def test_a_player_is_level_with_itself_on_the_same_dice(name: str) -> None:
    game = dicegym.game(name)
    if game.players < 2:
        pytest.skip("nobody to compare with")
    one, *company = [game.spec.baseline] * (1 if game.players == 2 else game.players)
    table = table_of(game, one, one, company)
    found = paired(table, played(table, game, 6))
    assert (differences(found) == 0).all()
    assert found[0].size == found[1].size == (12 if game.players == 2 else 6)


def test_two_who_meet_sit_in_each_others_seats_on_the_same_dice() -> None:
    game = dicegym.game("hog")
    table = table_of(game, "bacon", "swap")
    one, two = table.block(game, 5, 0, 30)
    first, second = played(table, game, 30)
    assert one.seed == two.seed
    assert one.facts == two.facts
    assert [one.entries, two.entries] == [(table.first, table.second), (table.second, table.first)]
    assert first["seats"] == second["seats"], "which is: player 0 sits where player 0 sat, and is the other one"
    assert len({tuple(seats) for seats in first["seats"]}) == 2
    found = paired(table, [first, second])
    assert found[0][:, 0].tolist() == [float(own > other) for own, other in first["returns"]]
    assert found[0][:, 1].tolist() == [float(own > other) for other, own in second["returns"]]
    assert (found.sum(axis=0) == 1).all()


def test_two_who_do_not_meet_take_turns_in_a_seat() -> None:
    game = dicegym.game("liarsdice", players=3, dice=2)
    table = table_of(game, "even", "bayes", ["honest", "timid", "even"])
    for number, company in ((0, ("honest 2", "timid 3")), (1, ("even 4", "honest 2")), (2, ("timid 3", "even 4"))):
        one, two = table.block(game, 5, number, 4)
        assert tuple(who.name for who in one.entries) == ("even 0", *company)
        assert tuple(who.name for who in two.entries) == ("bayes 1", *company)
    first, second = played(table, game, 20)
    assert first["seats"] == second["seats"]
    found = paired(table, [first, second])
    assert found[0][:, 0].tolist() == [share[0] for share in first_place_shares(first["returns"]).tolist()]
    assert found[0].shape == (20, 1)


def test_blocks_have_dice_of_their_own_whoever_plays() -> None:
    game = dicegym.game("hog")
    seeds = [table_of(game, "bacon", other).block(game, 5, n, 1)[0].seed for other in ("ham", "swap") for n in (0, 1)]
    assert seeds[:2] == seeds[2:]
    assert seeds[0] != seeds[1]


# Decisions


def exact_difference(first: str, second: str) -> float:
    """Return by how much more ``second`` wins, computed."""
    values = solver(SMALL)
    assert values is not None
    tables = [values.tabulate(dicegym.agent(SMALL, name), SMALL) for name in (first, second)]
    return 1 - 2 * float(values.win_rate(*tables, SMALL))


@pytest.mark.parametrize(
    ("first", "second", "decision"),
    [
        ("bacon", "bacon", Decision.NOT_BETTER),
        ("always_roll(3)", "always_roll(5)", Decision.BETTER),
        ("always_roll(5)", "always_roll(3)", Decision.NOT_BETTER),
        ("always_roll(6)", "always_roll(6)", Decision.NOT_BETTER),
    ],
)
def test_bots_whose_win_rates_are_known(first: str, second: str, decision: Decision) -> None:
    result = compare(SMALL, first, second, seed=2, executors=in_here())
    assert result.decision is decision
    assert result.difference is not None
    assert result.difference.low <= exact_difference(first, second) <= result.difference.high
    assert result.games < 1000
    if first == second:
        assert result.difference.value == 0
        assert result.difference.low == -result.difference.high
        assert "It scores the same" in result.text()


def test_claims_decide_where_the_truth_lies_between_them() -> None:
    bots = "always_roll(5)", "always_roll(6)"
    truth = exact_difference(*bots)
    assert -0.2 < truth < 0.2
    below, above = (
        compare(SMALL, *bots, seed=1, margins=margins, executors=in_here())
        for margins in ((truth - 0.3, truth), (truth, truth + 0.3))
    )
    assert (below.decision, above.decision) == (Decision.BETTER, Decision.NOT_BETTER)
    assert ("not worse" if truth < 0.3 else "better") in below.text()


def test_the_games_can_run_out() -> None:
    result = compare("hog", "tuned", "best_by_scores", seed=1, games=31, executors=in_here())
    assert (result.decision, result.pairs, result.games) == (Decision.UNDECIDED, 15, 30)
    assert [row.place for row in result.standings] == [1, 1]
    assert "Undecided after 30 games" in result.text()
    result = compare("hog", "haphazard", "tuned", seed=1, games=8, executors=in_here())
    assert result.counts[-1] == (1.0, 4), "pairs that are all won are not called level"


def test_it_tells_the_matches_that_were_counted() -> None:
    result = compare(SMALL, "always_roll(3)", "always_roll(5)", seed=1, executors=in_here(4))
    assert len(result.matches) == 2 * -(-result.pairs // BLOCK)
    assert [row.number for row in result.matches] == [number // 2 for number in range(len(result.matches))]
    assert {row.seed for row in result.matches[:2]} == {result.matches[0].seed}
    held, counted = BLOCK * len(result.matches), result.games
    assert counted < held
    facts = dict(result.report().facts)
    assert facts["format"] == "compare"
    assert facts["games"] == f"{counted} counted of {held} in {len(result.matches)} matches"
    assert result.match_places() == []


def test_larger_tables_have_others_who_take_turns() -> None:
    game, others = dicegym.game("lucky", players=3, rounds=15), ("thrifty", "cheapest", "raider")
    lucky = compare(game, "idle", "investor", others=others, seed=3, executors=in_here())
    assert lucky.decision is Decision.BETTER
    assert lucky.others == others
    assert [row.name for row in lucky.standings] == ["investor", "idle"]
    assert [row["games"] for row in lucky.standings] == [lucky.pairs] * 2
    assert "Elo" not in lucky.text()
    assert lucky.to_json()["difference_elo"] is None
    result = compare(SMALL, "ham", "swap", others=["bacon"], seed=3, games=60, executors=in_here())
    assert result.others == ("bacon",), "at a table for two too"
    game = dicegym.game("liarsdice", players=4, dice=1)
    result = compare(game, "even", "haphazard", others="even", seed=3, games=20, executors=in_here())
    assert result.others == ("even (2)", "even (3)", "even (4)"), "too few sit there several times"


def test_files_of_one_name_are_told_apart_by_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(
            "def final_strategy(score, opponent_score):\n    return 5\n", "utf-8"
        )
    result = compare(SMALL, "old/mine.py", "new/mine.py", seed=3, games=10, executors=in_here())
    assert (result.first, result.second) == ("old/mine.py", "new/mine.py")


# What holds


def without_date(result: Comparison) -> dict[str, Any]:
    plain = json.loads(json.dumps(result.to_json()))
    del plain["date"]
    return dict(plain)


@pytest.mark.slow
def test_it_depends_on_nothing_but_seed_and_players() -> None:
    found = [
        without_date(compare("hog", "ham", "bacon", seed=8, **way))
        for way in ({"executors": in_here()}, {"executors": in_here(4)}, {"executors": in_here(7, 3)}, {"workers": 2})
    ]
    assert found[0] == found[1] == found[2] == found[3]


def test_a_comparison_that_was_stopped_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "arena.sqlite"

    def stop(done: int, _: int, __: str) -> None:
        if done >= 2 * BLOCK * 2:
            raise KeyboardInterrupt

    pair = SMALL, "always_roll(3)", "always_roll(5)"
    how: dict[str, Any] = {"alpha": 1e-3, "beta": 1e-3, "executors": in_here(3, 1)}
    with pytest.raises(KeyboardInterrupt):
        compare(*pair, progress=stop, store=store, **how)
    result = compare(*pair, store=store, **how)
    assert result.stored is not None
    assert result.stored.found >= 2 + 4, "checks and two blocks"
    assert result.stored.run == 2
    alone = compare(*pair, seed=result.seed, **how)
    assert without_date(result) == without_date(alone)
    again = compare(*pair, store=store, **how)
    assert again.stored is not None
    assert again.stored.played == 0, "not even what was begun beyond the decision"
    assert without_date(again) == without_date(alone)


def test_more_games_go_on_with_the_same_comparison_whose_matches_count(tmp_path: Path) -> None:
    store = tmp_path / "arena.sqlite"
    few = compare(SMALL, "bacon", "swap", seed=1, games=10, store=store, executors=in_here())
    more = compare(SMALL, "bacon", "swap", seed=1, games=200, store=store, executors=in_here(4))
    assert few.stored is not None
    assert more.stored is not None
    assert (few.games, more.games) == (10, 200)
    assert (more.stored.contest, more.stored.found) == (few.stored.contest, 2), "checks; a block is played whole"
    decided = compare(SMALL, "always_roll(3)", "always_roll(5)", seed=2, store=store, executors=in_here(7, 1))
    with StoreReader(store) as reader:
        for result in (more, decided):
            assert result.stored is not None
            assert len(list(reader.matches(result.stored.contest))) == len(result.matches)


def test_who_fails_is_named_and_nothing_is_compared(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "asked = 0\n\n\ndef final_strategy(score, opponent_score):\n    global asked\n    asked += 1\n"
        "    if asked > 99 and score:\n        raise ValueError('tired')\n    return 4\n",
        "utf-8",
    )
    late = tmp_path / "late.py"
    late.write_text("raise ImportError('never loads')\n", "utf-8")
    for file, reason in ((bad, "tired"), (late, "never loads")):
        result = compare("hog", "bacon", str(file), seed=1, workers=1)
        assert (result.decision, result.standings, result.difference) == (Decision.DISQUALIFIED, (), None)
        assert [struck.name for struck in result.disqualified] == [file.stem]
        assert reason in result.disqualified[0].reason
        assert "Nothing is compared" in result.text()


def test_faults_cost_what_the_rules_say_and_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "raises.py"
    file.write_text("def get_play(me, hands, history):\n    raise ValueError('no idea')\n", "utf-8")
    result = compare(dicegym.game("liarsdice", dice=1), "even", str(file), seed=1, games=40, workers=1)
    assert result.decision in (Decision.UNDECIDED, Decision.NOT_BETTER)
    assert {row.name: row["faults"] > 0 for row in result.standings} == {"even": False, "raises": True}
    assert "no idea" in result.text()


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"elo": (20, 0)}, "smaller one first"),
        ({"elo": 20}, "elo=20 .*two numbers"),
        ({"elo": (0, 10, 20)}, "two numbers"),
        ({"margins": (0, "x")}, "between -1 and 1"),
        ({"beta": "x"}, "beta='x'"),
        ({"others": Path("nobody.py")}, "nobody"),
        ({"elo": (0, 20), "margins": (0, 0.1)}, "same thing twice"),
        ({"elo": (0, 20), "others": ["ham"]}, "do not meet"),
        ({"games": 1}, "games=1"),
        ({"alpha": 0.7}, "alpha=0.7"),
        ({"alpha": 0}, "alpha=0"),
        ({"beta": 0.6}, "beta=0.6"),
        ({"margins": (0.2, 0.1)}, "cannot be tested"),
        ({"margins": (0.0, 1.0)}, "between -1 and 1"),
        ({"margins": (-1.0, 0.0)}, "between -1 and 1"),
        ({"margins": (0.0, math.nan)}, "cannot be tested"),
    ],
)
def test_what_cannot_be_tested_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=said):
        compare("hog", "bacon", "swap", **arguments)


def test_who_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="nobody"):
        compare("hog", "bacon", "nobody")
    with pytest.raises(ParameterError, match="for one"):
        compare(dicegym.game("yatzy", players=1), "thrifty", "planner")
