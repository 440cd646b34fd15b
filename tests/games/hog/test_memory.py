"""Exact values of Hog between players who remember their own turns, and the model that does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracles.hog_values import slow_win_rate

import dicegym
from dicegym.bots.export import export_source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError
from dicegym.games.hog import exact as hog
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE
from dicegym.learning.evaluate import evaluate
from dicegym.play.player import FunctionPlayer
from dicegym.play.turn import Turn
from dicegym.players.model import PolicyPlayer
from dicegym.players.roster import agent_names, names_elsewhere

from .improving import improvements

GAME, BY_SCORES = dicegym.game("hog", memory=1), dicegym.game("hog")
HIDDEN = LONGEST_RUN + 1, 2


def to(goal: int) -> Game:
    return dicegym.game("hog", goal=goal, memory=1)


def drawn(seed: int, goal: int, numbers: list[int] | None = None, hidden: tuple[int, ...] = HIDDEN) -> np.ndarray:
    every = list(range(FIRST_NUMBER, MOST_DICE + 1))
    return np.random.default_rng(seed).choice(numbers or every, (goal, goal, *hidden)).astype(np.int8)


def always(number: int, goal: int = 100) -> np.ndarray:
    return np.full((goal, goal), number, np.int8)


# --- win rates ----------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("seed", range(3))
def test_small_goals_agree_with_a_slow_solver(seed: int) -> None:
    a, b = drawn(seed, 10), drawn(seed + 100, 10, [-1, 0, 1, 2, 3, 4])
    assert hog.win_rate(a, b, to(10)) == pytest.approx(slow_win_rate(a, b, 10), abs=1e-12)
    by_scores = drawn(seed + 200, 10, [-1, 1, 2], ())
    assert hog.win_rate(b, by_scores, to(10)) == pytest.approx(slow_win_rate(b, by_scores, 10), abs=1e-12)


def test_a_larger_goal_agrees_with_a_slow_solver() -> None:
    a, b = drawn(1, 20, [-1, 0, 1, 2, 3]), drawn(2, 20, [-1, 0, 2, 5])
    assert hog.win_rate(a, b, to(20)) == pytest.approx(slow_win_rate(a, b, 20), abs=1e-12)


def test_exact_agrees_with_the_engine() -> None:
    table, rival = drawn(3, 100, [-1, 4, 6, 8, 10]), drawn(4, 100, [-1, 0, 5, 9])
    exact = hog.win_rate(table, rival, GAME)
    games = 20_000
    batch = GAME.batch(games, 11)
    tables = np.stack([table, rival]).astype(np.int64)
    rows, wins, finished = np.arange(games), 0, np.zeros(games, np.bool_)
    while not finished.all():
        states, player = batch.states, batch.states["player"].astype(np.int64)
        scores, who = states["scores"], (player != rows % 2).astype(np.int64)
        remembered = states["runs"][rows, player], states["exchanges"][rows, player] % 2
        numbers = tables[who, scores[rows, player], scores[rows, 1 - player], *remembered]
        batch.step(numbers - FIRST_NUMBER)
        new = batch.overs & ~finished
        wins += int((batch.results[rows, rows % 2][new] > 0).sum())
        finished |= new
    assert abs(wins / games - exact) < 4 * np.sqrt(exact * (1 - exact) / games)


def test_who_uses_no_memory_fares_as_without() -> None:
    a, b = drawn(1, 30, hidden=()), drawn(2, 30, hidden=())
    plain = dicegym.game("hog", goal=30)
    assert hog.win_rate(a, b, to(30)) == hog.win_rate(a, b, plain)
    first = hog.win_rates(a, b, plain)
    spread = np.broadcast_to(a[:, :, None, None], (30, 30, *HIDDEN))
    assert hog.win_rates(spread, b, to(30)) == pytest.approx(first, abs=1e-12)
    matrix = hog.win_rate_matrix([a, b, drawn(3, 30)], to(30))
    assert matrix[0, 1] == pytest.approx(sum(first) / 2, abs=1e-12)
    assert matrix + matrix.T == pytest.approx(np.ones((3, 3)))


# --- replies ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_who_sees_more_wins_more() -> None:
    game, opponent = to(20), drawn(7, 20, [-1, 0, 3, 4, 5])
    seeing, policy = hog.best_response(opponent, game)
    value, table = hog.best_table(opponent, game, trials=1)
    assert policy.shape == (20, 20, 2, 2, 4, 4)
    assert table.shape == (20, 20, *HIDDEN)
    assert value == pytest.approx(hog.win_rate(table, opponent, game), abs=1e-20)
    assert seeing > value > max(hog.win_rate(always(number, 20), opponent, game) for number in range(-1, 11))
    by_scores = drawn(8, 20, [-1, 0, 3, 4, 5], ())
    without = hog.best_table(by_scores, dicegym.game("hog", goal=20), trials=1)[0]
    assert without < hog.best_table(by_scores, game, trials=0)[0]


def test_who_never_exchanges_and_is_by_scores_has_the_best_reply_without_memory() -> None:
    assert hog.best_response(always(5, 40), to(40))[0] == pytest.approx(
        hog.best_response(always(5, 40), dicegym.game("hog", goal=40))[0], abs=1e-12
    )


@pytest.mark.boundscheck
@pytest.mark.parametrize("changes", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_every_sweep_improves_and_at_the_end_no_single_choice_does(changes: int) -> None:
    game, opponent = to(10), drawn(9, 10, [-1, 0, 1, 2])
    start = drawn(10, 10)
    found = list(improvements(start, opponent, game))
    values = [hog.win_rate(start, opponent, game), *(value for value, _ in found)]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))
    value, table = found[-1]
    assert value == pytest.approx(hog.win_rate(table, opponent, game), abs=1e-12)
    generator = np.random.default_rng(0)
    for _ in range(changes):
        changed = table.copy()
        changed[tuple(generator.integers(0, changed.shape))] = generator.integers(-1, 11)
        assert hog.win_rate(changed, opponent, game) <= value + 1e-11


def test_costs_of_choices_add_up_to_the_difference_of_the_win_rates() -> None:
    game = to(20)
    strategy, better, opponent = (drawn(10 + i, 20) for i in range(3))
    costs = hog.costs(strategy, better, opponent, game)
    difference = hog.win_rate(better, opponent, game) - hog.win_rate(strategy, opponent, game)
    assert costs.shape == (20, 20)
    assert costs.sum() == pytest.approx(difference, abs=1e-12)


# --- players ------------------------------------------------------------------------------------------------


def by_memory(turn: Turn) -> int:
    """Roll more after a Pig out, and exchange the dice once."""
    view = turn.view
    return 0 if view.score == 7 and view.exchanges % 2 == 0 else 3 + view.run


@pytest.mark.parametrize("pure", [False, True])
def test_a_player_is_asked_with_all_that_it_may_remember(pure: bool) -> None:
    table = hog.tabulate(FunctionPlayer(by_memory, "by memory", pure=pure), to(12))
    assert table.shape == (12, 12, *HIDDEN)
    assert (table[3, 5, :, 0] == [2, 3, 4, 5]).all()
    assert (table[7, 5, 2] == [-1, 4]).all()
    assert (hog.tabulate(FunctionPlayer(by_memory, "by memory"), dicegym.game("hog", goal=12))[3] == 2).all()


def test_bots_of_the_original_interface_are_asked_for_both_scores_alone() -> None:
    asked = []

    def strategy(score: int, opponent_score: int) -> int:
        asked.append((score, opponent_score))
        return 5

    assert hog.tabulate(strategy, to(20)).shape == (20, 20)
    assert hog.tabulate(dicegym.agent(to(20), strategy), to(20)).shape == (20, 20)
    assert len(asked) == 800
    for name in ("always_roll(7)", "streak"):
        found = hog.tabulate(dicegym.agent(GAME, name), GAME)
        assert (found == hog.tabulate(dicegym.agent("hog", name), BY_SCORES)).all()


def test_what_a_player_is_asked_is_told_if_it_fails() -> None:
    def fails(turn: Turn) -> int:
        return 99 if turn.view.run == 2 and turn.view.score == 3 else 5

    with pytest.raises(AgentError, match=r"final_strategy\(3, 0\)"):
        hog.tabulate(FunctionPlayer(fails, "fails"), to(10))


@pytest.mark.parametrize("shape", [(12, 12), (10, 10, 4), (10, 10, 2, 4), (10, 10, 4, 2, 1)])
def test_what_is_no_table_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="give whole numbers of shape"):
        hog.win_rate(np.ones(shape, np.int8), always(5, 10), to(10))
    with pytest.raises(ParameterError, match="give whole numbers of shape"):
        hog.win_rate(np.ones((10, 10, *HIDDEN), np.int8), always(5, 10), dicegym.game("hog", goal=10))


def test_a_bots_file_carries_no_memory() -> None:
    with pytest.raises(ParameterError, match=r"in 1[0-9] of 144 pairs.*asked once for each pair of scores"):
        export_source(FunctionPlayer(lambda turn: 1 if turn.view.run and turn.view.score == 3 else 5), to(12), "hog.py")
    assert "def final_strategy" in export_source(FunctionPlayer(lambda turn: 5), to(12), "hog.py")


# --- the models that ship -----------------------------------------------------------------------------------


def test_models_are_offered_where_they_can_play_and_say_elsewhere_what_they_need() -> None:
    assert not {"memory", "memory_taught"} & set(agent_names("hog"))
    assert names_elsewhere("hog") == {name: {"goal": 100, "memory": 1} for name in ("memory", "memory_taught")}
    assert set(agent_names(GAME)) == {*agent_names("hog"), "memory", "memory_taught"}
    for name in ("memory", "memory_taught"):
        with pytest.raises(ModelError, match=r"make the game as it was in training: -p memory=1"):
            dicegym.agent("hog", name)


def test_a_model_that_remembers_nothing_plays_where_others_remember_as_it_does_elsewhere() -> None:
    player = dicegym.agent(GAME, "ppo")
    assert isinstance(player, PolicyPlayer)
    here, there = GAME.batch(64, seed=3), BY_SCORES.batch(64, seed=3)
    rows, seats = np.arange(64), np.zeros(64, np.int64)
    for _ in range(10):
        chosen = player.act_rows(GAME, here.states, rows, seats)
        assert (chosen == player.act_rows(BY_SCORES, there.states, rows, seats)).all()
        one = player.join(GAME, 0, 0)(Turn(GAME, here.states[5], 0))
        assert one == chosen[5]
        here.step(chosen)
        there.step(chosen)
    assert evaluate(GAME, "ppo").value == pytest.approx(evaluate("hog", "ppo").value, abs=1e-12)
    with pytest.raises(ModelError, match="cannot play"):
        dicegym.agent(dicegym.game("hog", goal=50, memory=1), "ppo")
    with pytest.raises(ModelError, match="cannot play"):
        player.check_fit(GAME)  # which is asked by whoever trains it further, or writes it down for the game


def test_the_model_is_measured_exactly_and_plays_no_better_than_tables_can() -> None:
    score = evaluate(GAME, "memory")
    assert score.measure == "exact win rate"
    assert 0.8109 < score.value < 0.8447  # more than any known table by scores
    sampled = evaluate(GAME, "memory", games=2_000, exact=False)
    assert sampled.low - 0.01 < score.value < sampled.high + 0.01
