"""FastMaskablePPO on environments that are none of ours: every way to give masks, every space that can be flattened."""

from __future__ import annotations

import copy
import re
from pathlib import Path
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

import dicegym  # noqa: F401 - registers its environments
from dicegym.engine.jit import COMPILED
from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo import FastMaskablePPO
from dicegym.learning.fast_ppo.environments import KEY, with_masks

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
    """Both learn from the same rollout, of vectors and of the space's observations."""
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
def test_masks_are_found_everywhere_and_never_violated(told: str) -> None:
    """The environment raises an error at an illegal action."""
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("planes", told)] * 3))
    learner.learn(192)
    assert learner.observation_space == SPACES["planes"]
    buffer = learner.rollout_buffer
    assert bool(buffer.action_masks.all()) is (not told)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        *((told, "sync") for told in ("observation", "info", "")),
        ("info", "async"),
        *(pytest.param(told, "async", marks=pytest.mark.slow) for told in ("observation", "")),
    ],
)
def test_vector_environments_of_gymnasium_are_trained_on(kind: str, told: str) -> None:
    makers = [lambda: Masked("vector", told, cut=True)] * 3
    vector = {"sync": gymnasium.vector.SyncVectorEnv, "async": gymnasium.vector.AsyncVectorEnv}[kind]
    learner = model(FastMaskablePPO, vector(makers, autoreset_mode="SameStep"))
    learner.learn(192)
    assert learner.ep_info_buffer
    assert {episode["l"] for episode in learner.ep_info_buffer} == {9}
    assert learner.env is not None
    infos = [learner.env.step(learner.env.action_masks().argmax(1))[3] for _ in range(9)]
    ended = [info for step in infos for info in step if "terminal_observation" in info]
    assert len(ended) == 3
    assert all(info["TimeLimit.truncated"] and info["terminal_observation"].shape == (5,) for info in ended)
    learner.env.close()


def test_the_batches_that_the_page_names_can_be_trained_on() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "fast_ppo.md").read_text("utf-8")
    calls = re.findall(r"`(gymnasium\.make_vec\(.*?\))`", page)
    assert len(calls) == 2
    for call in calls:  # CartPole's own batch only resets in the next step
        env = eval(call, {"gymnasium": gymnasium, "ID": "CartPole-v1"})
        model(FastMaskablePPO, env, batch_size=64).learn(256)


def test_normalised_observations_and_one_environment_by_its_id() -> None:
    learner = model(FastMaskablePPO, VecNormalize(make_vec_env("CartPole-v1", 3)))
    learner.learn(200)
    assert learner.get_vec_normalize_env() is not None
    told = VecNormalize(DummyVecEnv([lambda: Masked("vector", "info")] * 3))
    model(FastMaskablePPO, told).learn(200)  # an illegal action is an error
    one = model(FastMaskablePPO, "CartPole-v1", n_steps=64, batch_size=64).learn(200)
    assert isinstance(one, FastMaskablePPO)
    assert not one.fallback


def test_it_learns_an_easy_task() -> None:
    """Action 2 is taken whenever it is allowed."""
    env = DummyVecEnv([lambda: Masked("number", "observation")] * 8)
    learner = model(FastMaskablePPO, env, learning_rate=1e-2, batch_size=64, n_epochs=4).learn(1500)
    seen = env.reset()
    taken = total = 0
    for _ in range(40):
        actions = learner.predict(seen, deterministic=True)[0]
        allowed = seen[KEY][:, 2] == 1
        taken, total = taken + int((actions[allowed] == 2).sum()), total + int(allowed.sum())
        seen = env.step(actions)[0]
    assert taken > 0.95 * total


@pytest.mark.parametrize("kind", ["one", "async", "wrapped"])
def test_the_method_comes_before_other_masks(kind: str) -> None:
    class Both(Masked):
        """Its observations allow everything, its method only action 1."""

        def action_masks(self) -> np.ndarray:
            return np.arange(ACTIONS) == 1

        def _look(self) -> tuple[Any, dict[str, Any]]:
            super()._look()
            self._mask = np.ones(ACTIONS, np.bool_)
            return {"observation": self._space.sample(), KEY: np.ones(ACTIONS, np.int8)}, {}

    makers = [lambda: Both("vector", "observation")] * 2
    env: Any = DummyVecEnv(makers)
    if kind == "async":
        env = gymnasium.vector.AsyncVectorEnv(makers, autoreset_mode="SameStep")
    if kind == "wrapped":
        inner = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode="SameStep")
        env = gymnasium.wrappers.vector.RecordEpisodeStatistics(inner)
    learner = model(FastMaskablePPO, env, batch_size=64).learn(64)
    assert set(learner.rollout_buffer.actions.ravel().tolist()) == {1}
    assert learner.env is not None
    learner.env.close()


@pytest.mark.filterwarnings("ignore:FastMaskablePPO falls back")
def test_multi_discrete_actions_fall_back_to_maskable_ppo() -> None:
    class Several(Masked):
        action_space = MultiDiscrete([2, 3])  # type: ignore[assignment]  # instead of one number

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self._mask[:] = True
            return super().step(int(action[0]))

    learner = model(FastMaskablePPO, Several("vector", "")).learn(64)
    assert isinstance(learner, FastMaskablePPO)
    assert "MultiDiscrete" in learner.fallback


def test_a_minibatch_of_one_decision_gives_finite_numbers() -> None:
    learner = model(FastMaskablePPO, Masked("vector", "info"), n_steps=17, batch_size=8)
    learner.learn(17)
    assert torch.isfinite(vectors(learner)).all()
    assert np.isfinite(learner.logger.name_to_value["train/loss"])


def test_a_copied_learner_and_environment_continue_independently() -> None:
    learner = model(FastMaskablePPO, DummyVecEnv([lambda: Masked("vector", "observation")] * 2)).learn(64)
    other, before = copy.deepcopy(learner), vectors(learner)
    other.learn(64)
    assert torch.equal(vectors(learner), before)
    assert not torch.equal(vectors(other), before)


def test_files_are_those_of_maskable_ppo_and_continue(tmp_path: Any) -> None:
    def made() -> DummyVecEnv:
        return DummyVecEnv([lambda: Masked("planes", "observation")] * 3)

    learner = model(FastMaskablePPO, made(), inputs=True).learn(100)  # the policy that MaskablePPO asks for
    learner.save(tmp_path / "model")
    plain = MaskablePPO.load(tmp_path / "model", device="cpu")
    assert torch.equal(vectors(plain), vectors(learner))
    again = FastMaskablePPO.load(tmp_path / "model", made(), device="cpu")
    assert not again.fallback
    again.learn(100)
    assert not torch.equal(vectors(again), vectors(learner))


def test_a_prediction_uses_the_given_mask_or_that_of_its_observation() -> None:
    env = Masked("number", "observation")
    learner = model(FastMaskablePPO, env)
    assert with_masks(learner.env) is learner.env  # masks need no wrapper
    observation, _ = env.reset(seed=4)
    for allowed in range(ACTIONS):
        mask = np.arange(ACTIONS) == allowed
        observation[KEY] = np.ones(ACTIONS, np.int8)
        assert learner.predict(observation, action_masks=mask, deterministic=True)[0] == allowed
        assert int(learner.predict(observation["observation"], action_masks=mask)[0]) == allowed
        observation[KEY] = mask
        assert learner.predict(observation)[0] == allowed


# --- what cannot be learned from --------------------------------------------------------------------------------


class Stuck(Masked):
    """Allows no action from the second step on."""

    def _look(self) -> tuple[Any, dict[str, Any]]:
        observation, info = super()._look()
        self._mask[:] = self._steps == 0
        return observation, info


class Broken(Masked):
    """Its observations are NaN."""

    def _look(self) -> tuple[Any, dict[str, Any]]:
        return np.full(5, np.nan, np.float32), super()._look()[1]


class Boxed(Masked):
    """Its masks are a Box, which `VecNormalize` takes for observations."""

    def __init__(self) -> None:
        super().__init__("vector", "observation")
        self.observation_space = Dict({"observation": self._space, KEY: Box(0, 1, (ACTIONS,), np.int8)})


class AtTimes(Masked):
    """Has masks in every second step."""

    def _look(self) -> tuple[Any, dict[str, Any]]:
        observation, info = super()._look()
        return observation, info if self._steps % 2 else {}


class MasksAlone(Masked):
    """Observes only masks."""

    def __init__(self) -> None:
        super().__init__("vector", "observation")
        self.observation_space = Dict({KEY: MultiBinary(ACTIONS)})


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: DummyVecEnv([lambda: Masked("vector", "info"), lambda: Stuck("vector", "info")]),
            "mask of environment 1 allows no action",
        ),
        (lambda: Broken("vector", ""), "not finite"),
        (lambda: VecNormalize(DummyVecEnv([Boxed] * 2)), "norm_obs_keys"),
        (lambda: AtTimes("vector", "info"), "at every reset and step, or never"),
        (MasksAlone, "consist only of masks"),
        (
            lambda: gymnasium.make_vec("CartPole-v1", 2),
            r"vector_kwargs=\{'autoreset_mode': 'SameStep'\}.*make_vec\(ID, autoreset_mode='SameStep'\)",
        ),
    ],
    ids=["no action", "NaN", "normalised masks", "masks at times", "masks alone", "next step"],
)
def test_unsuitable_environments_are_refused(make: Any, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        model(FastMaskablePPO, make()).learn(64)


def test_masks_with_normalised_observations() -> None:
    model(FastMaskablePPO, VecNormalize(DummyVecEnv([Boxed] * 2), norm_obs_keys=["observation"])).learn(64)
