"""The fast trainer takes MaskablePPO's steps: the same gradients, the same updates, the same files."""

from __future__ import annotations

import contextlib
import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from dicegym.engine.jit import COMPILED
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo import FastMaskablePPO, kernels
from dicegym.learning.fast_ppo.engine import LEAST_PARAMETERS
from dicegym.learning.fast_ppo.vectors import masks_with_room
from dicegym.players.asymmetric import AsymmetricPolicy
from dicegym.registry import GAMES

pytestmark = pytest.mark.skipif(not COMPILED, reason="MaskablePPO computes where nothing is compiled")

GAMES_AT_ONCE, STEPS = 24, 16


def made(kind: type[MaskablePPO], game: str, games: int = GAMES_AT_ONCE, **given: Any) -> MaskablePPO:
    """Return a fresh model; the same seed gives both kinds the same networks."""
    policy = given.pop("policy", "MlpPolicy")
    env = SB3VecEnv(game, games, seed=3, privileged=policy is AsymmetricPolicy)
    if policy is AsymmetricPolicy:
        given["policy_kwargs"] = given["policy_kwargs"] | {"privileged": env.privileged}
    arguments = {"n_steps": STEPS, "batch_size": 96, "n_epochs": 2, "seed": 5, "device": "cpu", "ent_coef": 0.02}
    return kind(policy, env, **(arguments | given))


def rolled_out(model: MaskablePPO) -> MaskablePPO:
    """Let a model play one rollout."""

    class Once(BaseCallback):
        def _on_step(self) -> bool:
            return True

    _, callback = model._setup_learn(GAMES_AT_ONCE * STEPS, Once())
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return model


def copied(fast: MaskablePPO, plain: MaskablePPO) -> None:
    """Give a plain model the rollout of a fast one."""
    plain.policy.load_state_dict(fast.policy.state_dict())
    _, callback = plain._setup_learn(GAMES_AT_ONCE * STEPS)
    plain.collect_rollouts(plain.env, callback, plain.rollout_buffer, STEPS)
    for name in ("observations", "actions", "values", "log_probs", "advantages", "returns", "rewards"):
        getattr(plain.rollout_buffer, name)[:] = getattr(fast.rollout_buffer, name)
    plain.rollout_buffer.action_masks[:] = fast.rollout_buffer.action_masks


def flat(tensors: Any) -> np.ndarray:
    """Return tensors one after the other."""
    return np.concatenate([one.detach().numpy().ravel() for one in tensors])


def gradient(model: FastMaskablePPO) -> np.ndarray:
    """Return the gradient of the latest minibatch in the order of ``policy.parameters()``."""
    engine = model._engine
    assert engine is not None
    found = np.zeros(engine.parameters.size, np.float32)
    engine._layout.unpack(engine._memory.gradients[0], found)
    return found


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the relative distance of two vectors."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.mark.parametrize(
    ("game", "activation"),
    [  # every game, and both functions in turn: the games differ in sizes alone
        pytest.param(game, activation, marks=[] if number % 2 == place else [pytest.mark.slow])
        for number, game in enumerate(GAMES)
        for place, activation in enumerate(("Tanh", "ReLU"))
    ],
)
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
    for _ in range(2):  # in the second, the policy is no longer the one that drew, and ratios are clipped
        np.random.seed(1)  # noqa: NPY002 - the generator of SB3
        fast.train()
        np.random.seed(1)  # noqa: NPY002 - the generator of SB3
        plain.train()
        wanted = flat(one.grad for one in plain.policy.parameters())
        assert apart(gradient(fast), wanted) < 1e-5
        plain.policy.load_state_dict(fast.policy.state_dict())


EARLY = {"clip_range_vf": 0.05, "target_kl": 1e-4, "learning_rate": 1e-3, "n_epochs": 3, "clip_range": 0.1}
UPDATES: dict[str, tuple[str, dict[str, Any]]] = {
    **{game: (game, {}) for game in GAMES},
    "clipped values, stopped early": ("yatzy", EARLY),
    "a critic that sees more": ("liarsdice", {"policy": AsymmetricPolicy, "policy_kwargs": {"net_arch": [32, 24]}}),
}


@pytest.mark.parametrize("case", UPDATES)
def test_the_same_seed_gives_the_same_first_update(case: str) -> None:
    game, given = UPDATES[case]
    fast, plain = made(FastMaskablePPO, game, **given), made(MaskablePPO, game, **given)
    assert isinstance(fast, FastMaskablePPO)
    assert not fast.fallback
    begun = flat(plain.policy.parameters())
    assert np.array_equal(flat(fast.policy.parameters()), begun)
    rolled_out(fast)
    copied(fast, plain)
    for model in (fast, plain):
        np.random.seed(7)  # noqa: NPY002 - the generator of SB3
        model.train()
    assert apart(flat(fast.policy.parameters()) - begun, flat(plain.policy.parameters()) - begun) < 1e-3
    assert fast._n_updates == plain._n_updates
    assert fast._n_updates < 3
    told, wanted = (model.logger.name_to_value for model in (fast, plain))
    for name in wanted if given is EARLY else ():
        assert told[name] == pytest.approx(wanted[name], rel=1e-3, abs=1e-6), name
    check_draws(rolled_out(fast))  # the next rollout uses the new parameters


def check_draws(model: MaskablePPO) -> np.ndarray:
    """Check that a rollout's actions are legal and were drawn by the policy; return them."""
    buffer = model.rollout_buffer
    actions = buffer.actions.reshape(-1).astype(np.int64)
    masks, seen = (one.reshape(len(actions), -1) for one in (buffer.action_masks, buffer.observations))
    assert masks[np.arange(len(actions)), actions].all()
    with torch.no_grad():
        told = torch.as_tensor(seen), torch.as_tensor(actions)
        wanted = model.policy.evaluate_actions(*told, action_masks=masks)[1]
    np.testing.assert_allclose(buffer.log_probs.reshape(-1), wanted.numpy(), atol=2e-5)
    return actions


@pytest.mark.parametrize("kinds", [(FastMaskablePPO, MaskablePPO), (MaskablePPO, FastMaskablePPO)])
def test_each_loads_the_files_of_the_other_and_continues(kinds: tuple[Any, Any], tmp_path: Path) -> None:
    writes, reads = kinds
    model = made(writes, "liarsdice").learn(2 * GAMES_AT_ONCE * STEPS)
    model.save(tmp_path / "model.zip")
    found = reads.load(tmp_path / "model.zip", device="cpu")
    assert type(found) is reads
    assert np.array_equal(flat(found.policy.parameters()), flat(model.policy.parameters()))
    before, after = model.policy.optimizer.state_dict()["state"], found.policy.optimizer.state_dict()["state"]
    for number, known in before.items():
        assert all(torch.equal(torch.as_tensor(after[number][name]), torch.as_tensor(known[name])) for name in known)
    found.set_env(SB3VecEnv("liarsdice", GAMES_AT_ONCE, seed=9))
    found.learn(GAMES_AT_ONCE * STEPS, reset_num_timesteps=False)
    assert not np.array_equal(flat(found.policy.parameters()), flat(model.policy.parameters()))
    assert found.num_timesteps == 3 * GAMES_AT_ONCE * STEPS


@pytest.mark.slow_after(1)  # first updates of all games end with the same check
@pytest.mark.parametrize("game", GAMES)
def test_actions_are_legal_and_the_same_seed_draws_the_same(game: str) -> None:
    runs = [check_draws(rolled_out(made(FastMaskablePPO, game))) for _ in range(2)]
    assert np.array_equal(*runs)
    assert len(set(runs[0].tolist())) > 1


def test_actions_are_drawn_as_often_as_the_policy_says() -> None:
    rng = np.random.default_rng(4)
    n, n_actions, columns = 60_000, 7, 16
    room = np.zeros(n * columns + 4 * columns, np.float32)  # scratch behind the logits
    logits = rng.normal(0, 2, n_actions).astype(np.float32)
    room[: n * columns].reshape(n, columns)[:, :n_actions] = logits
    mask = np.array([1, 1, 0, 1, 1, 0, 1], np.bool_)
    actions, log_probs = np.zeros(n, np.int64), np.zeros(n, np.float32)
    uniforms = ((np.arange(n) + 0.5) / n).astype(np.float32)
    masks = masks_with_room(n, n_actions)
    masks[:] = mask
    kernels.draw(room, 0, n * columns, columns, masks, 0, uniforms, actions, log_probs)
    wanted = np.where(mask, np.exp(logits.astype(np.float64)), 0)
    wanted /= wanted.sum()
    np.testing.assert_allclose(np.bincount(actions, minlength=n_actions) / n, wanted, atol=1e-3)
    np.testing.assert_allclose(log_probs, np.log(wanted[actions]), atol=1e-5)


def test_unsupported_networks_fall_back_to_maskable_ppo() -> None:
    elu = {"policy_kwargs": {"activation_fn": torch.nn.ELU}}
    with pytest.warns(UserWarning, match="falls back to MaskablePPO's code here, as its activation is ELU"):
        odd = made(FastMaskablePPO, "hog", **elu).learn(GAMES_AT_ONCE * STEPS)
    plain = made(MaskablePPO, "hog", **elu).learn(GAMES_AT_ONCE * STEPS)
    assert np.array_equal(flat(odd.policy.parameters()), flat(plain.policy.parameters()))
    assert isinstance(odd, FastMaskablePPO)
    assert "ELU" in odd.fallback
    with pytest.raises(ParameterError, match=r"kl_coef=0.1 needs .*leave kl_coef out"):
        made(FastMaskablePPO, "hog", kl_coef=0.1, **elu)
    with pytest.raises(ParameterError, match="kl_anchor_rate=2 a share from 0 to 1"):
        made(FastMaskablePPO, "hog", kl_anchor_rate=2)
    for name in ("n_steps", "batch_size", "n_epochs"):
        for value in (0, -1, 1.5, "a", None):
            with pytest.raises(ParameterError, match=f"{name}=.*a setting of the algorithm: give a whole number from"):
                made(FastMaskablePPO, "hog", **{name: value})


def test_networks_changed_after_construction_are_checked() -> None:
    """Changes that its passes do not support are refused."""
    model = made(FastMaskablePPO, "hog").learn(GAMES_AT_ONCE)
    for layer in model.policy.mlp_extractor.policy_net.parameters():
        layer.requires_grad = False
    with pytest.raises(ParameterError, match="as some of its parameters are frozen: use MaskablePPO"):
        model.learn(GAMES_AT_ONCE)
    for layer in model.policy.parameters():
        layer.requires_grad = True
    model.policy.optimizer.param_groups[0]["weight_decay"] = 0.1
    with pytest.raises(ParameterError, match=r"as its optimizer has weight_decay=0\.1"):
        model.learn(GAMES_AT_ONCE)


def test_the_anchor_s_pull_is_the_gradient_of_the_divergence() -> None:
    given = {"batch_size": GAMES_AT_ONCE * STEPS, "n_epochs": 1, "max_grad_norm": 1e9, "vf_coef": 0.0, "ent_coef": 0.0}
    model = rolled_out(made(FastMaskablePPO, "liarsdice", kl_coef=0.7, kl_anchor_rate=0.25, **given))
    assert isinstance(model, FastMaskablePPO)
    begun = flat(model.policy.parameters())
    anchor = begun + np.random.default_rng(2).normal(0, 0.1, len(begun)).astype(np.float32)
    model.kl_anchor = anchor.copy()
    buffer = model.rollout_buffer
    buffer.advantages[:] = 0.0
    model.normalize_advantage = False

    def distribution(vector: np.ndarray) -> Any:
        torch.nn.utils.vector_to_parameters(torch.as_tensor(vector.copy()), model.policy.parameters())
        masks = buffer.action_masks.reshape(GAMES_AT_ONCE * STEPS, -1)
        found = model.policy.get_distribution(torch.as_tensor(buffer.observations.reshape(len(masks), -1)))
        return torch.log_softmax(
            torch.where(torch.as_tensor(masks), found.distribution.logits, torch.tensor(-torch.inf)), dim=1
        )

    with torch.no_grad():
        log_q = distribution(anchor)
    log_p = distribution(begun)
    legal = log_p > -torch.inf
    terms = torch.where(legal, log_p.exp() * (log_p - log_q).masked_fill(~legal, 0.0), torch.tensor(0.0))
    gradients = torch.autograd.grad(0.7 * terms.sum(dim=1).mean(), list(model.policy.parameters()), allow_unused=True)
    wanted = [
        torch.zeros_like(one) if found is None else found
        for one, found in zip(model.policy.parameters(), gradients, strict=True)
    ]
    model.train()
    assert apart(gradient(model), flat(wanted)) < 1e-5
    moved = anchor + 0.25 * (flat(model.policy.parameters()) - anchor)
    np.testing.assert_allclose(model.kl_anchor, moved, atol=1e-6)


@contextlib.contextmanager
def on_threads(number: int) -> Iterator[None]:
    """Set the threads of PyTorch, and so of the fast trainer."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
        assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(before)


def after_an_update(threads: int, game: str, **given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the actions of a rollout and the parameters after its update."""
    with on_threads(threads):
        model = rolled_out(made(FastMaskablePPO, game, games=200, **given))
        model.train()
        return model.rollout_buffer.actions.copy(), flat(model.policy.parameters())


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("game", ["hog", "lucky"])
def test_threads_share_the_work_with_equal_results_up_to_rounding(game: str) -> None:
    given = {"n_steps": 12, "batch_size": 1024, "kl_coef": 0.1}
    alone_played, alone = after_an_update(1, game, **given)
    for threads in (2, 3):
        played, found = after_an_update(threads, game, **given)
        assert np.array_equal(played, alone_played)  # sums of a row do not depend on the thread
        assert apart(found, alone) < 1e-4
        again_played, again = after_an_update(threads, game, **given)
        assert np.array_equal(again_played, played)
        assert np.array_equal(again, found)
    if game == "hog":  # a step of many parameters is shared too
        given = {"n_steps": 4, "batch_size": 400, "policy_kwargs": {"net_arch": [256, 256]}}
        (_, alone), (_, shared) = (after_an_update(threads, "hog", **given) for threads in (1, 2))
        assert len(alone) > 2 * LEAST_PARAMETERS
        assert apart(shared, alone) < 1e-4


def test_a_callback_that_ends_the_training_ends_it_within_a_rollout() -> None:
    class Third(BaseCallback):
        def _on_step(self) -> bool:
            return self.n_calls < 3

    model = made(FastMaskablePPO, "hog")
    begun = flat(model.policy.parameters())
    model.learn(10 * GAMES_AT_ONCE * STEPS, callback=Third())
    assert model.num_timesteps == 3 * GAMES_AT_ONCE
    assert np.array_equal(flat(model.policy.parameters()), begun)


def test_a_copied_learner_continues_independently() -> None:
    model = made(FastMaskablePPO, "hog").learn(GAMES_AT_ONCE * STEPS)
    other = copy.deepcopy(model)
    begun = flat(model.policy.parameters())
    assert np.array_equal(flat(other.policy.parameters()), begun)
    other.set_random_seed(7)
    other.learn(GAMES_AT_ONCE * STEPS)
    assert np.array_equal(flat(model.policy.parameters()), begun)
    model.set_random_seed(7)
    model.learn(GAMES_AT_ONCE * STEPS)
    learned = flat(model.policy.parameters())
    assert not np.array_equal(learned, begun)
    assert np.array_equal(flat(other.policy.parameters()), learned)
    assert np.shares_memory(other.rollout_buffer.observations, other.rollout_buffer.seen)


@pytest.mark.slow
def test_without_a_compiler_it_falls_back_to_maskable_ppo() -> None:
    code = """
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.fast_ppo import FastMaskablePPO
model = FastMaskablePPO("MlpPolicy", SB3VecEnv("hog", 4, seed=3), n_steps=2, batch_size=8, n_epochs=1)
print(model.learn(8).fallback)
"""
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, text=True, check=True)
    assert done.stdout == "Numba's compilation is off\n"


TRAIN = """
import hashlib, sys
import dicegym.envs.sb3
from dicegym.engine import kernel_cache
from numba.core.caching import NullCache
if sys.argv[1] == "compile":
    kernel_cache.KernelCache = lambda *_: NullCache()
from dicegym.learning.fast_ppo import FastMaskablePPO
import torch
given = {"policy_kwargs": {"net_arch": [64, 64], "activation_fn": torch.nn.Tanh}, "ent_coef": 0.02, "n_epochs": 2}
env = dicegym.envs.sb3.SB3VecEnv("liarsdice", 24, seed=3)
model = FastMaskablePPO("MlpPolicy", env, n_steps=16, batch_size=96, seed=5, device="cpu", kl_coef=0.05, **given)
model.learn(4 * 24 * 16)
digest = hashlib.sha256()
for one in model.policy.parameters():
    digest.update(one.detach().numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_whoever_compiled_the_kernels() -> None:
    """A process that compiles a kernel optimises its callers differently from one that loads it from the cache."""

    def train(how: str) -> str:
        command = [sys.executable, "-c", TRAIN, how]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    train("load")  # fills the cache
    assert train("load") == train("compile")
