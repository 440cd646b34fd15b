"""FastMaskablePPO on environments that are none of ours: every way to give masks, every space that can be flattened."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo import FastMaskablePPO
from dicegym.learning.fast_ppo.environments import KEY, with_masks

SPACES: dict[str, gymnasium.Space[Any]] = {
    "vector": Box(-1.0, 1.0, (5,), np.float32),
    "double": Box(-1.0, 1.0, (5,), np.float64),
    "planes": Box(0, 1, (3, 4, 2), np.int8),
    "number": Discrete(6),
    "numbers": MultiDiscrete([3, 4]),
    "bits": MultiBinary(4),
    "dict": Dict({"a": Box(-1.0, 1.0, (2, 2), np.float32), "b": Discrete(3)}),
}
ACTIONS = 4


class Masked(gymnasium.Env[Any, Any]):
    """An environment whose observations are drawn; action 2 earns a point, and an illegal action is an error.

    Args:
        seen: one of `SPACES`.
        told: how masks are given, "method", "observation", "info" or "".
    """

    action_space = Discrete(ACTIONS)

    def __init__(self, seen: str = "vector", told: str = "method", length: int = 9, cut: bool = False) -> None:
        self._space, self._told, self._length, self._cut = SPACES[seen], told, length, cut
        self.observation_space = self._space
        if told == "observation":
            self.observation_space = Dict({"observation": self._space, KEY: MultiBinary(ACTIONS)})
        if told == "method":
            self.action_masks = lambda: self._mask

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._space.seed(seed)
        self._steps = 0
        return self._look()

    def _look(self) -> tuple[Any, dict[str, Any]]:
        self._mask = self.np_random.random(ACTIONS) < (0.5 if self._told else 1.1)
        self._mask[self.np_random.integers(ACTIONS)] = True
        seen = self._space.sample()
        observation = {"observation": seen, KEY: self._mask.astype(np.int8)} if self._told == "observation" else seen
        return observation, {KEY: self._mask} if self._told == "info" else {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self._mask[action]:
            raise ValueError(f"action {action} is illegal")
        self._steps += 1
        over = self._steps == self._length
        observation, info = self._look()
        return observation, float(action == 2), over and not self._cut, over and self._cut, info


def model(kind: type[MaskablePPO], env: Any, **given: Any) -> MaskablePPO:
    """Return a small model that learns in full batches."""
    arguments = {"n_steps": 32, "batch_size": 96, "n_epochs": 1, "seed": 1, "device": "cpu", "ent_coef": 0.01}
    policy = "MultiInputPolicy" if given.pop("inputs", False) else "MlpPolicy"
    return kind(policy, env, **(arguments | given))


def vectors(model: MaskablePPO) -> torch.Tensor:
    """Return all parameters as one vector."""
    return torch.nn.utils.parameters_to_vector(model.policy.parameters()).detach().clone()


@pytest.mark.parametrize("seen", SPACES)
def test_an_update_is_the_one_of_maskable_ppo_in_every_space(seen: str) -> None:
    """Both learn from the same rollout, of vectors here and of the space's observations there."""
    envs = [DummyVecEnv([lambda: Masked(seen)] * 3) for _ in range(2)]
    fast, plain = (
        model(kind, env, inputs=seen == "dict") for kind, env in zip((FastMaskablePPO, MaskablePPO), envs, strict=True)
    )
    assert isinstance(fast, FastMaskablePPO)
    assert not fast.fallback
    for one in (fast, plain):
        _, callback = one._setup_learn(96)
        one.env.seed(7)
        one._last_obs = one.env.reset()
        one.collect_rollouts(one.env, callback, one.rollout_buffer, 32)
    ours, theirs = fast.rollout_buffer, plain.rollout_buffer
    for name in ("actions", "values", "log_probs", "advantages", "returns", "rewards"):
        getattr(theirs, name)[:] = getattr(ours, name)
    theirs.action_masks[:] = ours.action_masks
    begun = vectors(fast)
    assert torch.equal(begun, vectors(plain))
    for one in (fast, plain):
        one.train()
    moved = vectors(plain) - begun
    assert torch.linalg.norm(vectors(fast) - vectors(plain)) < 0.02 * torch.linalg.norm(moved)


@pytest.mark.parametrize("told", ["method", "observation", "info", ""])
def test_masks_are_found_wherever_they_are_and_never_broken(told: str) -> None:
    """The environment raises an error at an illegal action."""
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("planes", told)] * 3))
    learner.learn(400)
    assert learner.observation_space == SPACES["planes"]
    buffer = learner.rollout_buffer
    assert bool(buffer.action_masks.all()) is (not told)


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("told", ["observation", "info", ""])
def test_vector_environments_of_gymnasium_are_trained_on(kind: str, told: str) -> None:
    makers = [lambda: Masked("vector", told, cut=True)] * 3
    vector = {"sync": gymnasium.vector.SyncVectorEnv, "async": gymnasium.vector.AsyncVectorEnv}[kind]
    learner = model(FastMaskablePPO, vector(makers, autoreset_mode="SameStep"))
    learner.learn(400)
    assert learner.ep_info_buffer
    assert {episode["l"] for episode in learner.ep_info_buffer} == {9}
    assert learner.env is not None
    infos = [learner.env.step(learner.env.action_masks().argmax(1))[3] for _ in range(9)]
    ended = [info for step in infos for info in step if "terminal_observation" in info]
    assert len(ended) == 3
    assert all(info["TimeLimit.truncated"] and info["terminal_observation"].shape == (5,) for info in ended)
    learner.env.close()


def test_episodes_that_begin_in_the_next_step_are_refused_with_what_to_write() -> None:
    with pytest.raises(ParameterError, match=r"vector_kwargs=\{'autoreset_mode': 'SameStep'\}"):
        FastMaskablePPO("MlpPolicy", gymnasium.make_vec("CartPole-v1", 2))


def test_a_prediction_takes_the_mask_of_its_observation() -> None:
    env = Masked("number", "observation")
    learner = model(FastMaskablePPO, env)
    observation, _ = env.reset(seed=4)
    for allowed in range(ACTIONS):
        observation[KEY] = np.arange(ACTIONS) == allowed
        assert learner.predict(observation)[0] == allowed
    assert int(learner.predict(observation["observation"], action_masks=np.arange(ACTIONS) == 1)[0]) == 1


def test_files_are_those_of_maskable_ppo_and_go_on(tmp_path: Any) -> None:
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("planes", "observation")] * 3)).learn(100)
    learner.save(tmp_path / "model")
    plain = MaskablePPO.load(tmp_path / "model", device="cpu")
    assert torch.equal(vectors(plain), vectors(learner))
    again = FastMaskablePPO.load(
        tmp_path / "model", DummyVecEnv([lambda: Masked("planes", "observation")] * 3), device="cpu"
    )
    assert not again.fallback
    again.learn(100)
    assert not torch.equal(vectors(again), vectors(learner))


def test_normalised_observations_and_one_environment_by_its_id() -> None:
    learner = model(FastMaskablePPO, VecNormalize(make_vec_env("CartPole-v1", 3)))
    learner.learn(200)
    assert learner.get_vec_normalize_env() is not None
    told = VecNormalize(DummyVecEnv([lambda: Masked("vector", "info")] * 3))
    model(FastMaskablePPO, told).learn(200)  # an illegal action is an error
    one = model(FastMaskablePPO, "CartPole-v1", n_steps=64, batch_size=64).learn(200)
    assert isinstance(one, FastMaskablePPO)
    assert not one.fallback


def test_what_has_masks_is_left_as_it_is() -> None:
    env = DummyVecEnv([Masked])
    assert with_masks(env) is env


def test_it_learns_what_is_to_be_learned() -> None:
    """Action 2 is taken whenever it is allowed."""
    env = DummyVecEnv([lambda: Masked("number", "observation")] * 8)
    learner = model(FastMaskablePPO, env, learning_rate=3e-3, batch_size=64, n_epochs=4).learn(6000)
    seen = env.reset()
    taken = total = 0
    for _ in range(100):
        actions = learner.predict(seen, deterministic=True)[0]
        allowed = seen[KEY][:, 2] == 1
        taken, total = taken + int((actions[allowed] == 2).sum()), total + int(allowed.sum())
        seen = env.step(actions)[0]
    assert taken > 0.95 * total
