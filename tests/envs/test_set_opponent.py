"""Opponents that change while a learner plays: the same method in every form that has opponents."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import AgentError, ParameterError, UnknownNameError
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

GAME, ID = "liarsdice", "dicegym/LiarsDice-v0"


class Counting(Player):
    """Plays the first legal action, and counts the games that it sits down to."""

    name = "counting"

    def __init__(self) -> None:
        self.games = 0

    def join(self, game: Any, seat: int, seed: int) -> Act:
        self.games += 1
        return first_legal


def first_legal(turn: Turn) -> int:
    return int(np.flatnonzero(turn.mask)[0])


def monitored(n: int) -> Any:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    return make_vec_env(ID, n_envs=n)


def by_call(env: Any) -> Callable[[Any], Any]:
    return lambda opponent: env.call("set_opponent", opponent)


def by_method(env: Any) -> Callable[[Any], Any]:
    return lambda opponent: env.env_method("set_opponent", opponent)


FORMS: dict[str, tuple[Callable[[], Any], Callable[[Any], Callable[[Any], Any]]]] = {
    "single": (lambda: gym.make(ID), lambda env: env.get_wrapper_attr("set_opponent")),
    "batch": (lambda: gym.make_vec(ID, num_envs=2), lambda env: env.set_opponent),
    "batch by call": (lambda: gym.make_vec(ID, num_envs=2, autoreset_mode="SameStep"), by_call),
    "Gymnasium's batch": (lambda: gym.make_vec(ID, num_envs=2, vectorization_mode="sync"), by_call),
    "SB3VecEnv": (lambda: SB3VecEnv(GAME, 2), by_method),
    "Stable-Baselines3's own": (lambda: monitored(2), by_method),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_opponent_set_sits_down_with_the_next_games(form: str) -> None:
    make, setter = FORMS[form]
    env = make()
    set_opponent = setter(env)
    env.reset()
    opponent = Counting()
    set_opponent(opponent)
    assert opponent.games == 0
    env.reset()
    assert opponent.games > 0
    set_opponent({"honest": 1, "even": 2})
    before = opponent.games
    env.reset()
    assert opponent.games == before


@pytest.mark.parametrize("form", ["single", "batch", "SB3VecEnv"])
@pytest.mark.parametrize(
    ("wrong", "error"),
    [("nobody", UnknownNameError), ("nowhere.py", AgentError), ({}, ParameterError), (7, ParameterError)],
)
def test_a_wrong_opponent_is_refused_and_nothing_changes(form: str, wrong: Any, error: type[Exception]) -> None:
    make, setter = FORMS[form]
    env = make()
    set_opponent = setter(env)
    opponent = Counting()
    set_opponent(opponent)
    env.reset()
    with pytest.raises(error):
        set_opponent(wrong)
    before = opponent.games
    env.reset()
    assert opponent.games > before


def test_the_game_that_is_being_played_keeps_its_opponent_and_none_is_the_default_again() -> None:
    env = SingleAgentEnv(GAME, opponent="honest")
    env.reset(seed=0)
    env.set_opponent("even")
    for one in (env, pickle.loads(pickle.dumps(env))):
        assert [player.name for player in one.pool.players] == ["honest"]
        one.reset()
        assert [player.name for player in one.pool.players] == ["even"]
    for env in (SingleAgentEnv(GAME, opponent="honest"), gym.make_vec(ID, opponent="honest")):
        env.set_opponent(None)
        env.reset()
        names = [player.name for player in env.pool.players]
        assert names == [player.name for player in SingleAgentEnv(GAME).pool.players]


def test_a_file_that_does_not_ship_is_told_once_in_a_process(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("def final_strategy(score, opponent_score):\n    return 4\n", encoding="utf-8")
    program = f"""
import warnings
import dicegym
import gymnasium as gym
from dicegym.errors import UntrustedCodeWarning
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    gym.make("dicegym/Hog-v0", opponent=["streak", "always_roll(5)"])
    assert not told, told
    gym.make("dicegym/Hog-v0", opponent={str(mine)!r})
    gym.make_vec("dicegym/Hog-v0", opponent={{{str(mine)!r}: 1, "streak": 1}})
assert [one.category for one in told] == [UntrustedCodeWarning], told
assert "'mine' is a program that runs in this process" in str(told[0].message)
"""
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
