"""Attributes and methods of the games of a batch, by name, as Gymnasium's own batches have them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError
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
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


def test_methods_answer_for_each_game_or_once_for_all() -> None:
    envs = BatchEnv("yatzy", 3, render_mode="ansi")
    envs.reset(seed=0)
    assert envs.call("render") == envs.render()
    assert [text.splitlines()[0] for text in envs.render()] == ["Yatzy, round 1 of 15"] * 3
    assert [state["key"] for state in envs.get_attr("state")] == envs._states["key"].tolist()
    envs.call("set_opponent", "haphazard")
    assert envs.seating.pool.players[0].name == "haphazard"
    with pytest.raises(AttributeError, match="no_such"):
        envs.call("no_such")


@pytest.mark.parametrize("name", ["reset", "step", "close"])
def test_what_acts_on_the_whole_batch_is_not_called_game_by_game(name: str) -> None:
    with pytest.raises(ParameterError, match=f"call {name}\\(\\) of the batch"):
        BatchEnv("hog", 2).call(name)
