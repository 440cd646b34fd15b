"""Masks where learners look for them: in the observation, in ``info``, in Gymnasium's form."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test

from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.errors import ParameterError
from dicegym.registry import ENVIRONMENTS, Environment
from dicegym.wrappers import MaskInObservation

ENV_IDS = [environment.full_id for environment in ENVIRONMENTS]
each_environment = pytest.mark.parametrize("env_id", ENV_IDS)
each_multi = pytest.mark.parametrize(
    "environment", [environment for environment in ENVIRONMENTS if environment.multi], ids=lambda one: one.id
)


@each_environment
def test_the_mask_stands_in_the_observation(env_id: str) -> None:
    env: Any = MaskInObservation(gym.make(env_id))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*is different from the unwrapped version")  # it is a wrapper
        check_env(MaskInObservation(gym.make(env_id).unwrapped))
    observation, info = env.reset(seed=0)
    over = False
    while not over:
        assert env.observation_space.contains(observation)
        assert (observation["action_mask"] == info["action_mask"]).all()
        action = env.action_space.sample(observation["action_mask"])
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    assert observation["action_mask"].all(), "a policy is asked about the last observation too"
    assert not info["action_mask"].any()


def test_the_wrapper_can_be_made_again_and_has_the_name_that_a_library_looks_for() -> None:
    env: Any = MaskInObservation(gym.make("dicegym/Hog-v0", goal=50), key="observations")
    observation, info = env.reset(seed=0)
    assert set(observation) == set(env.observation_space) == {"observations", "action_mask"}
    observation["action_mask"][:] = 0  # the caller's own
    assert info["action_mask"].all()
    again = gym.make(env.spec)
    assert isinstance(again, MaskInObservation)
    assert "observations" in again.observation_space.spaces
    assert again.get_wrapper_attr("game").parameters["goal"] == 50
    for key in ("", "action_mask", 3):
        with pytest.raises(ParameterError, match="cannot be the observation's key"):
            MaskInObservation(gym.make("dicegym/Hog-v0"), key=key)


def test_environments_without_a_mask_are_refused() -> None:
    with pytest.raises(ParameterError, match="has no 'action_mask': wrap"):
        MaskInObservation(gym.make("CartPole-v1")).reset()
    with pytest.raises(ParameterError, match="Discrete"):
        MaskInObservation(gym.make("Pendulum-v1"))


@each_multi
def test_flat_observations_of_every_seat(environment: Environment) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a plain Box is what PettingZoo's checker likes best
        api_test(TurnEnv(environment.game, flat=True, **environment.settings), num_cycles=100)
    parallel_api_test(parallel_env(environment.game, flat=True, **environment.settings), num_cycles=100)
