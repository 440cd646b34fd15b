"""Attributes and methods of the games of a batch, by name, as Gymnasium's own batches have them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dicegym.envs.vector import BatchEnv
from dicegym.errors import IllegalActionError, ParameterError
from dicegym.registry import ENVIRONMENTS


@pytest.mark.parametrize("env_id", [environment.full_id for environment in ENVIRONMENTS])
@pytest.mark.parametrize("name", ["seat", "game", "on_illegal", "action_space", "observation_space", "action_masks"])
def test_a_batch_answers_as_gymnasiums_own_does(env_id: str, name: str) -> None:
    ours: Any = gym.make_vec(env_id, num_envs=3, vectorization_mode="vector_entry_point")
    theirs: Any = gym.make_vec(env_id, num_envs=3, vectorization_mode="sync")
    for envs in (ours, theirs):
        envs.reset(seed=5)
    for method in ("call", "get_attr"):
        found, expected = getattr(ours, method)(name), getattr(theirs, method)(name)
        assert type(found) is tuple
        assert len(found) == 3
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other) if isinstance(other, np.ndarray) else one == other


def test_methods_answer_for_each_game_or_once_for_all() -> None:
    envs = BatchEnv("yatzy", 3, render_mode="ansi")
    envs.reset(seed=0)
    assert envs.call("render") == envs.render()
    assert [state["key"] for state in envs.get_attr("state")] == envs._states["key"].tolist()
    envs.call("set_opponent", "haphazard")
    assert envs.seating.pool.players[0].name == "haphazard"
    with pytest.raises(AttributeError, match="no_such"):
        envs.call("no_such")


def test_settings_are_set_for_all_games_and_take_effect() -> None:
    envs = BatchEnv("liarsdice", 2)
    envs.reset(seed=0)
    envs.set_attr("on_illegal", "raise")
    with pytest.raises(IllegalActionError):
        envs.step(np.array([200, 200]))
    envs.set_attr("max_episode_steps", [1, 1])
    _, _, terminated, truncated, _ = envs.step(envs.action_masks().argmax(axis=1))
    assert (terminated | truncated).all()
    envs.set_attr("note", "mine")
    assert envs.get_attr("note") == ("mine", "mine")


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("on_illegal", "ignore", "on_illegal='ignore' is unknown"),
        ("illegal_reward", [0.0, 1.0], "cannot differ between games"),
        ("illegal_reward", [0.0], "1 values were given for illegal_reward of 2 games"),
        ("game", "yatzy", "cannot be set once games were made"),
        ("action_space", None, "cannot be set once games were made"),
    ],
)
def test_what_cannot_be_set_is_refused(name: str, values: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        BatchEnv("hog", 2).set_attr(name, values)


@pytest.mark.parametrize("name", ["reset", "step", "close"])
def test_what_acts_on_the_whole_batch_is_not_called_game_by_game(name: str) -> None:
    with pytest.raises(ParameterError, match=f"call {name}\\(\\) of the batch"):
        BatchEnv("hog", 2).call(name)
