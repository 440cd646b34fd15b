"""Players of Hog who remember their own turns, as tables, and the model that does."""

from __future__ import annotations

import numpy as np
import pytest

import dicegym
from dicegym.bots.export import export_source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError
from dicegym.games.hog import exact as hog
from dicegym.games.hog.rules import LONGEST_RUN
from dicegym.learning.evaluate import evaluate
from dicegym.play.player import FunctionPlayer
from dicegym.play.turn import Turn
from dicegym.players.model import PolicyPlayer
from dicegym.players.roster import agent_names, names_elsewhere

GAME, BY_SCORES = dicegym.game("hog", memory=1), dicegym.game("hog")
HIDDEN = LONGEST_RUN + 1, 2


def to(goal: int) -> Game:
    return dicegym.game("hog", goal=goal, memory=1)


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
