"""FastMaskablePPO on environments of others: every space that can be flattened, with masks and without."""

from __future__ import annotations

import copy
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

from dicegym.engine.jit import COMPILED
from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo import FastMaskablePPO

pytestmark = pytest.mark.skipif(not COMPILED, reason="MaskablePPO computes where nothing is compiled")

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
        masked: whether it has the method ``action_masks``.
    """

    action_space = Discrete(ACTIONS)

    def __init__(self, seen: str = "vector", masked: bool = True, length: int = 9) -> None:
        self._masked, self._length = masked, length
        self.observation_space = self._space = SPACES[seen]
        if masked:
            self.action_masks = self._legal

    def _legal(self) -> np.ndarray:
        return self._mask

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._space.seed(seed)
        self._steps = 0
        return self._look(), {}

    def _look(self) -> Any:
        self._mask = self.np_random.random(ACTIONS) < (0.5 if self._masked else 1.1)
        self._mask[self.np_random.integers(ACTIONS)] = True
        return self._space.sample()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self._mask[action]:
            raise ValueError(f"action {action} is illegal")
        self._steps += 1
        return self._look(), float(action == 2), self._steps == self._length, False, {}


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


@pytest.mark.parametrize("masked", [True, False])
def test_masks_are_kept(masked: bool) -> None:
    """The environment raises an error at an illegal action."""
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("planes", masked)] * 3))
    learner.learn(400)
    assert bool(learner.rollout_buffer.action_masks.all()) is not masked


def test_vector_environments_of_gymnasium_are_refused_with_what_to_use() -> None:
    with pytest.raises(ParameterError, match=r"use dicegym\.envs\.SB3VecEnv"):
        FastMaskablePPO("MlpPolicy", gymnasium.make_vec("CartPole-v1", 2))


def test_files_are_those_of_maskable_ppo_and_go_on(tmp_path: Any) -> None:
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("planes")] * 3)).learn(100)
    learner.save(tmp_path / "model")
    plain = MaskablePPO.load(tmp_path / "model", device="cpu")
    assert torch.equal(vectors(plain), vectors(learner))
    again = FastMaskablePPO.load(tmp_path / "model", DummyVecEnv([lambda: Masked("planes")] * 3), device="cpu")
    assert not again.fallback
    again.learn(100)
    assert not torch.equal(vectors(again), vectors(learner))


def test_normalised_observations_and_one_environment_by_its_id() -> None:
    learner = model(FastMaskablePPO, VecNormalize(make_vec_env("CartPole-v1", 3)))
    learner.learn(200)
    assert learner.get_vec_normalize_env() is not None
    told = VecNormalize(DummyVecEnv([lambda: Masked("vector")] * 3))
    model(FastMaskablePPO, told).learn(200)  # an illegal action is an error
    one = model(FastMaskablePPO, "CartPole-v1", n_steps=64, batch_size=64).learn(200)
    assert isinstance(one, FastMaskablePPO)
    assert not one.fallback


def test_it_learns_what_is_to_be_learned() -> None:
    """Action 2 is taken whenever it is allowed."""
    env = DummyVecEnv([lambda: Masked("number")] * 8)
    learner = model(FastMaskablePPO, env, learning_rate=3e-3, batch_size=64, n_epochs=4).learn(6000)
    seen = env.reset()
    taken = total = 0
    for _ in range(100):
        masks = np.stack(env.env_method("action_masks"))
        actions = learner.predict(seen, deterministic=True, action_masks=masks)[0]
        allowed = masks[:, 2]
        taken, total = taken + int((actions[allowed] == 2).sum()), total + int(allowed.sum())
        seen = env.step(actions)[0]
    assert taken > 0.95 * total


def test_a_mask_that_allows_nothing_is_an_error_that_names_the_environment() -> None:
    class Stuck(Masked):
        def _look(self) -> Any:
            seen = super()._look()
            self._mask[:] = False
            return seen

    with pytest.raises(ParameterError, match="mask of environment 1 allows no action"):
        model(FastMaskablePPO, DummyVecEnv([Masked, Stuck])).learn(64)


def test_observations_that_are_no_numbers_are_an_error() -> None:
    class Broken(Masked):
        def _look(self) -> Any:
            return np.full_like(super()._look(), np.nan)

    with pytest.raises(ParameterError, match="not finite"):
        model(FastMaskablePPO, Broken()).learn(64)


@pytest.mark.filterwarnings("ignore:FastMaskablePPO does what MaskablePPO does")
def test_several_numbers_as_an_action_are_left_to_maskable_ppo() -> None:
    class Several(Masked):
        action_space = MultiDiscrete([2, 3])  # type: ignore[assignment]  # instead of one number

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self._mask[:] = True
            return super().step(int(action[0]))

    learner = model(FastMaskablePPO, Several("vector", masked=False)).learn(64, use_masking=False)
    assert isinstance(learner, FastMaskablePPO)
    assert "MultiDiscrete" in learner.fallback


def test_a_minibatch_of_one_decision_teaches_numbers() -> None:
    learner = model(FastMaskablePPO, Masked("vector"), n_steps=17, batch_size=8)
    learner.learn(17)
    assert torch.isfinite(vectors(learner)).all()
    assert np.isfinite(learner.logger.name_to_value["train/loss"])


def test_a_copy_with_its_environment_goes_on_and_leaves_the_other_alone() -> None:
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("vector")] * 2)).learn(64)
    other, before = copy.deepcopy(learner), vectors(learner)
    other.learn(64)
    assert torch.equal(vectors(learner), before)
    assert not torch.equal(vectors(other), before)
