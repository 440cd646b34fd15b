"""Results less luck: the same mean, honest intervals, and a word for who asks where nobody knows."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.analysis.variance_reduction import FEWEST_FITTED, luck_of, scale_luck
from dicegym.arena import compare, contest
from dicegym.arena.adjusted_results import _row
from dicegym.arena.executors import local
from dicegym.arena.match import play_match
from dicegym.cli.evaluation import explain_scores
from dicegym.errors import ParameterError
from dicegym.games.parts import VALUES, defines, solver
from dicegym.learning.blocks import Results, results_of
from dicegym.learning.evaluate import Score, evaluate, score_of
from dicegym.players.roster import agent, opponent
from dicegym.registry import GAMES

ONE_DIE = dicegym.game("liarsdice", players=2, dice=1)


def exact(one: str, other: str) -> float:
    values = solver(ONE_DIE)
    assert values is not None
    return values.win_rate(agent(ONE_DIE, one), agent(ONE_DIE, other), ONE_DIE)


def test_between_players_who_draw_nothing_a_game_or_two_tell_the_exact_win_rate() -> None:
    score = evaluate(ONE_DIE, "even", "honest", games=2, exact=False, less_luck=True)
    assert score.measure == "win rate less luck"
    assert score.value == pytest.approx(exact("even", "honest"), abs=1e-9)
    assert Score.from_json(score.to_json())[:5] == score[:5]


@pytest.mark.slow
def test_figures_are_the_same_on_any_number_of_processes(tmp_path: Path) -> None:
    here = evaluate(ONE_DIE, "bayes", "bluffer", games=300, exact=False, less_luck=True)
    there = evaluate(ONE_DIE, "bayes", "bluffer", games=300, exact=False, less_luck=True, executors=local(1))
    assert here == there
    assert here.saved is not None
    assert here.saved > 3
    bot = tmp_path / "bot.py"
    bot.write_text("def play(me, hands, history):\n    return 0 if history else 11\n")
    strange = evaluate(ONE_DIE, str(bot), "even", games=200, exact=False, less_luck=True, executors=local(1))
    assert strange.saved is not None
    assert strange.low <= strange.value <= strange.high


@pytest.mark.parametrize(
    ("shares", "luck", "words"),
    [
        ([1, 0, 1, 0], [0.4, -0.4, 0.3, -0.5], "you would need [0-9.]+ times as many games"),
        ([1, 0, 1, 0], [0.5, -0.5, 0.5, -0.5], "All variance was luck"),
        ([0, 0, 0, 0], [0, 0, 0, 0], ""),
        ([0, 0, 0, 0], [0.1, -0.1, 0, 0], ""),
    ],
)
def test_what_was_saved_is_told_where_results_vary(shares: list[float], luck: list[float], words: str) -> None:
    score = score_of(ONE_DIE, Results(np.array(shares, float), np.array(luck, float)), "even")
    lines = explain_scores([score], ONE_DIE)
    assert len(lines) == (3 if words else 2)
    assert re.search(words, lines[1])


def test_preparing_is_told_before_the_first_games() -> None:
    for less_luck in (True, False):
        told: list[str] = []
        evaluate(
            *(ONE_DIE, "even", "honest", 2, False),
            less_luck=less_luck,
            progress=lambda done, total, text, told=told: told.append(text),
        )
        before = "preparing the luck meter, against honest" if less_luck else "against honest"
        assert told == [before, "against honest"]


def test_only_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"liarsdice.*players=3.*leave out less_luck and play more games"):
        evaluate(dicegym.game("liarsdice", players=3), "even", less_luck=True)
    with pytest.raises(ParameterError, match="players=3"):
        contest(dicegym.game("liarsdice", players=3), ["even", "honest", "timid"], 1, less_luck=True)


def test_what_is_played_again_must_be_whole() -> None:
    players = [agent(ONE_DIE, name) for name in ("even", "honest")]
    found = play_match(ONE_DIE, players, 7, 3)
    assert luck_of(ONE_DIE, players, found.seats, 7, range(3), found.actions).shape == (3, 2)
    assert luck_of(ONE_DIE, players, np.zeros((0, 2)), 7, [], []).shape == (0, 2)
    short = [found.actions[0], found.actions[1][:-1], found.actions[2]]
    with pytest.raises(ParameterError, match="game 1 is not over"):
        luck_of(ONE_DIE, players, found.seats, 7, range(3), short)


SMALLER = {"liarsdice": {"dice": 2}, "liarsdice_spot_on": {"dice": 2}, "hog": {"goal": 40}}


@pytest.mark.parametrize(
    ("name", "games"),
    [  # tables of Yatzy take long: their own tests have a way
        *((name, 400) for name in GAMES if defines(name, VALUES, "meter") and name != "yatzy"),
        *(pytest.param(name, 20_000, marks=pytest.mark.slow) for name in GAMES if defines(name, VALUES, "meter")),
    ],
)
def test_luck_has_the_mean_0_and_is_what_varies(name: str, games: int) -> None:
    """Of some player against the baseline, whoever it is; one that always wins or never would say nothing."""
    game = dicegym.game(name, players=2, **SMALLER.get(name, {}))
    second = opponent(game, game.spec.baseline)

    def shares_of(one: str, at: int, number: int, is_luck_wanted: bool) -> Results:
        return results_of(game, opponent(game, one), [second], at, number, 5, is_luck_wanted)

    names = [one for one in dicegym.agent_names(game) if one != second.name]
    first = next(one for one in reversed(names) if 0 < shares_of(one, 0, 60, False).shares.mean() < 1)
    parts = [shares_of(first, at, min(1000, games), True) for at in range(0, games, 1000)]
    shares = np.concatenate([one.shares for one in parts])
    luck = np.concatenate([one.luck for one in parts if one.luck is not None])
    assert abs(luck.mean()) < 3 * luck.std() / games**0.5 + 1e-12
    assert (shares - scale_luck(shares, luck)).var() < shares.var()


def test_intervals_hold_the_true_win_rate() -> None:
    """Of results that luck explains in part, as a meter measures it that thinks too little of the dice and errs."""
    groups, games, true = 400, 60, 0.6
    rng = np.random.default_rng(11)
    won = (rng.random((groups, games)) < true).astype(float)
    luck = 0.5 * (won - true) + rng.normal(scale=0.2, size=won.shape)
    pairs = zip(won, luck, strict=True)
    scores = [score_of(ONE_DIE, Results(*pair), "honest") for pair in pairs]
    held = np.mean([score.low <= true <= score.high for score in scores])
    assert 0.93 < held < 0.975  # two standard errors of 400 draws on either side
    plain = [score_of(ONE_DIE, Results(shares, np.zeros(games)), "honest") for shares in won]
    assert np.mean([one.high - one.low for one in scores]) < 0.7 * np.mean([one.high - one.low for one in plain])


def test_a_meter_that_thinks_too_much_of_the_dice_does_no_harm() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=4000)
    results = 0.2 * luck + rng.normal(size=4000)
    left = results - scale_luck(results, luck)
    assert left.var() < results.var()
    assert np.abs(scale_luck(luck * 1.0, luck) - luck).max() == 0  # it is all luck
    few = FEWEST_FITTED - 1
    assert (scale_luck(results[:few], luck[:few]) == luck[:few]).all()


def test_a_part_that_is_fitted_leaves_the_mean_as_it_is() -> None:
    rng, means = np.random.default_rng(2), []
    for _ in range(400):
        luck = rng.exponential(size=50) - 1
        results = (luck + rng.normal(size=50) > 0.3).astype(float)
        means.append((results - scale_luck(results, 3 * luck)).mean() - results.mean())
    assert abs(np.mean(means)) < 3 * np.std(means) / len(means) ** 0.5


@pytest.mark.slow
def test_contests_rank_by_what_is_left() -> None:
    plain = contest(ONE_DIE, ["even", "honest", "timid"], 5, games=6, workers=1)
    found = contest(ONE_DIE, ["even", "honest", "timid"], 5, games=6, less_luck=True, workers=1)
    assert [row.shares for row in found.matches] == [row.shares for row in plain.matches]
    assert plain.less_luck == ()
    by_name = {row.name: row for row in found.less_luck}
    assert set(by_name) == {"even", "honest", "timid"}
    for row in found.less_luck:
        assert row.less_luck == pytest.approx(row.share - row.luck)
    assert sum(row.less_luck for row in found.less_luck) == pytest.approx(1.5)
    assert [row.name for row in found.standings] == [row.name for row in found.less_luck]
    assert "Luck-adjusted results" in found.text()
    assert found.to_json()["less_luck"][0]["name"] == found.standings[0].name


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("format", ["swiss", "groups"])
def test_every_format_tells_of_luck(format: str) -> None:
    found = contest(ONE_DIE, ["even", "honest", "timid", "bayes"], 5, games=4, format=format, less_luck=True, workers=1)
    assert len(found.less_luck) >= 2
    assert "Luck-adjusted results" in found.text()


def test_comparisons_need_next_to_no_games(tmp_path: Path) -> None:
    found = compare(ONE_DIE, "timid", "honest", seed=1, games=2000, less_luck=True, workers=1)
    assert found.decision == "better"
    assert found.games < 60
    assert found.difference is not None
    assert found.difference.value == pytest.approx(2 * exact("honest", "timid") - 1, abs=1e-6)
    assert found.difference.high - found.difference.low < 1e-6
    bot = tmp_path / "bot.py"
    bot.write_text("def play(me, hands, history):\n    return 0 if history else 11\n")
    stranger = compare(ONE_DIE, str(bot), "honest", seed=1, games=300, less_luck=True, workers=1)
    assert math.isfinite(stranger.ratio)  # that ends too


@pytest.mark.parametrize("games", [1, 2, 10])
def test_an_interval_is_as_wide_however_many_games_a_match_has(games: int) -> None:
    """Of matches of one game each not all degrees of freedom go into means, as they have one mean together."""
    shares = np.random.default_rng(1).random((400 // games, games))
    found = _row("ann", [(one, np.zeros(games)) for one in shares])
    assert found.half == pytest.approx(1.96 * shares.std() / 20, rel=0.1)
