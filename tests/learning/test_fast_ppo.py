"""The fast trainer takes MaskablePPO's steps: the same gradients, the same updates, the same files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.fast_ppo import FastMaskablePPO
from dicegym.registry import GAMES

GAMES_AT_ONCE, STEPS = 24, 16


def made(kind: type[MaskablePPO], game: str, **given: Any) -> MaskablePPO:
    """Return a fresh model; the same seed gives both kinds the same networks."""
    env = SB3VecEnv(game, GAMES_AT_ONCE, seed=3)
    arguments = {"n_steps": STEPS, "batch_size": 96, "n_epochs": 2, "seed": 5, "device": "cpu", "ent_coef": 0.02}
    return kind("MlpPolicy", env, **(arguments | given))


def rolled_out(model: MaskablePPO) -> MaskablePPO:
    """Let a model play one rollout."""

    class Once(BaseCallback):
        def _on_step(self) -> bool:
            return True

    _, callback = model._setup_learn(GAMES_AT_ONCE * STEPS, Once())
    model.collect_rollouts(model.env, callback, model.rollout_buffer, STEPS)
    return model


def copied(fast: MaskablePPO, plain: MaskablePPO) -> None:
    """Let a plain model have had the rollout of a fast one."""
    plain.policy.load_state_dict(fast.policy.state_dict())
    _, callback = plain._setup_learn(GAMES_AT_ONCE * STEPS)
    plain.collect_rollouts(plain.env, callback, plain.rollout_buffer, STEPS)
    for name in ("observations", "actions", "values", "log_probs", "advantages", "returns", "rewards"):
        getattr(plain.rollout_buffer, name)[:] = getattr(fast.rollout_buffer, name)
    plain.rollout_buffer.action_masks[:] = fast.rollout_buffer.action_masks


def flat(tensors: Any) -> np.ndarray:
    """Return tensors one after the other."""
    return np.concatenate([one.detach().numpy().ravel() for one in tensors])


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return how far vectors are apart, as a share of their length."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.mark.parametrize("activation", ["Tanh", "ReLU"])
@pytest.mark.parametrize("game", GAMES)
def test_gradients_are_those_of_maskable_ppo(game: str, activation: str) -> None:
    layers = {"pi": [48, 32], "vf": [40]} if activation == "ReLU" else [64, 64]
    given = {
        "policy_kwargs": {"net_arch": layers, "activation_fn": getattr(torch.nn, activation)},
        "batch_size": GAMES_AT_ONCE * STEPS,
        "n_epochs": 1,
        "max_grad_norm": 1e9,
        "learning_rate": 1e-3,
    }
    fast, plain = made(FastMaskablePPO, game, **given), made(MaskablePPO, game, **given)
    assert isinstance(fast, FastMaskablePPO)
    assert not fast.fallback
    rolled_out(fast)
    copied(fast, plain)
    # An update before, so that the policy is no longer the one that drew the actions, and some ratios are clipped.
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002 - the generator of SB3
        fast.train()
        np.random.seed(1)  # noqa: NPY002 - the generator of SB3
        plain.train()
        assert fast._engine is not None
        found = fast._engine.gradient.numpy()
        wanted = flat(one.grad for one in plain.policy.parameters())
        assert apart(found, wanted) < 1e-5
        plain.policy.load_state_dict(fast.policy.state_dict())
        for name in ("observations", "actions", "values", "log_probs", "advantages", "returns"):
            setattr(plain.rollout_buffer, name, getattr(plain.rollout_buffer, name))


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_gives_the_same_first_update(game: str) -> None:
    fast, plain = made(FastMaskablePPO, game), made(MaskablePPO, game)
    begun = flat(plain.policy.parameters())
    assert np.array_equal(flat(fast.policy.parameters()), begun)
    rolled_out(fast)
    copied(fast, plain)
    for model in (fast, plain):
        np.random.seed(7)  # noqa: NPY002 - the generator of SB3
        model.train()
    assert apart(flat(fast.policy.parameters()) - begun, flat(plain.policy.parameters()) - begun) < 1e-3
