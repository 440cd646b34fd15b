"""Masks where learners look for them: in the observation, in ``info``, in Gymnasium's form."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test, parallel_api_test
from variants import covering

from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.errors import ParameterError
from dicegym.registry import ENVIRONMENTS, Environment
from dicegym.wrappers import MaskInObservation, VectorMaskInObservation

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
        for wrapper, made in ((MaskInObservation, gym.make), (VectorMaskInObservation, gym.make_vec)):
            with pytest.raises(ParameterError, match="cannot be the observation's key"):
                wrapper(made("dicegym/Hog-v0"), key=key)


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


@pytest.mark.parametrize(("env_id", "mode"), covering(ENV_IDS, list(AutoresetMode)))
def test_the_batch_form_shows_what_a_batch_of_wrapped_environments_shows(env_id: str, mode: AutoresetMode) -> None:
    settings: dict[str, Any] = {"num_envs": 2, "max_episode_steps": 5}
    own = VectorMaskInObservation(gym.make_vec(env_id, autoreset_mode=mode, **settings), key="observations")
    theirs = gym.make_vec(
        env_id,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        wrappers=[lambda env: MaskInObservation(env, key="observations")],
        **settings,
    )
    assert own.single_observation_space == theirs.single_observation_space
    assert own.observation_space == theirs.observation_space
    seen = [env.reset(seed=3)[0] for env in (own, theirs)]
    for _ in range(12):
        assert data_equivalence(dict(seen[0]), dict(seen[1]))
        assert own.observation_space.contains(seen[0])
        steps = [env.step(seen[0]["action_mask"].argmax(axis=1)) for env in (own, theirs)]
        seen = [step[0] for step in steps]
        if "final_obs" in steps[0][4]:
            ended = np.flatnonzero(steps[0][4]["_final_obs"])
            lasts = ([step[4]["final_obs"][row] for row in ended] for step in steps)
            assert all(data_equivalence(dict(one), dict(other)) for one, other in zip(*lasts, strict=True))
        over = steps[0][2] | steps[0][3]
        if mode == AutoresetMode.DISABLED and over.any():
            seen = [env.reset(options={"reset_mask": over.copy()})[0] for env in (own, theirs)]


def test_bounds_of_a_batchs_spaces_can_be_handed_to_torch() -> None:
    torch = pytest.importorskip("torch")
    env = gym.make_vec("dicegym/Hog-v0", num_envs=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = (torch.as_tensor(bound) for bound in (env.observation_space.low, env.observation_space.high))
        torch.as_tensor(env.action_space.nvec)
    assert low.shape == high.shape == env.observation_space.shape
    assert env.observation_space.low.strides[0] == 0  # once for all games
