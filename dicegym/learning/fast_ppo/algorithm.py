"""`FastMaskablePPO`: sb3-contrib's MaskablePPO with hand-written passes for rollouts and updates."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.vector import VectorEnv
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy, MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from dicegym.engine.validate import MOST, finite_number, whole_number
from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo.engine import Engine, KeptRolloutBuffer, one_thread
from dicegym.learning.fast_ppo.environments import KEY, GymnasiumVecEnv, masks_of, split_masks, with_masks
from dicegym.learning.fast_ppo.layout import why_not

Self = TypeVar("Self", bound="FastMaskablePPO")
SMALLEST = 1e-30
"""Least ``clip_range_vf``: 0 means no clipping to the passes, but a schedule may end at 0."""


class FastMaskablePPO(MaskablePPO):
    """MaskablePPO, several times as fast on a processor: same policy, files, callbacks, schedules and logs.

    It computes plain networks (linear layers with ReLU or tanh, discrete actions, Adam, on the CPU) with its own passes
    on ``torch.get_num_threads()`` threads. Otherwise it falls back to MaskablePPO's code, and warns with the reason.

    The environment may be any of Stable-Baselines3 or Gymnasium: one, a vector, or an id. Observations are flattened as
    in Stable-Baselines3. Masks come from the first of these: its method ``action_masks``, the entry ``action_mask`` of
    Dict observations, which the networks do not see, or that entry of ``info``; otherwise all actions are legal.

    An update takes the same step as MaskablePPO's from the same rollout and generators, up to rounding in float32.
    Each action is drawn with one number, so rollouts differ from MaskablePPO's for the same seed. The number of
    threads changes the rounding of sums.

    MaskablePPO and this class ``load`` each other's files. They do not contain the anchor: a resumed ``dicegym train``
    restores it, otherwise it starts at the loaded policy.

    Args:
        *args: as for MaskablePPO.
        kl_coef: weight in the loss of the divergence from an anchor, KL(policy || anchor), per decision: the magnet of
            Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player
            zero-sum games", ICLR 2023, which keeps self-play from running in circles.
        kl_anchor_rate: step of the anchor's parameters towards the policy's after each update, from 0 to 1.
        **kwargs: as for MaskablePPO.

    Attributes:
        fallback: why MaskablePPO's code is used; empty if it is not.

    Raises:
        ParameterError: ``n_steps``, ``batch_size``, ``n_epochs``, ``kl_coef`` or ``kl_anchor_rate`` is invalid, or
            ``kl_coef`` is given where MaskablePPO's code, which has none, would be used.

    Example:
        >>> from dicegym.envs import SB3VecEnv
        >>> from dicegym.training import FastMaskablePPO
        >>> model = FastMaskablePPO("MlpPolicy", SB3VecEnv("hog", 64, seed=0), n_steps=16, batch_size=256)
        >>> model.learn(1024).num_timesteps
        1024
    """

    def __init__(self, *args: Any, kl_coef: float = 0.0, kl_anchor_rate: float = 0.01, **kwargs: Any) -> None:
        kl_coef = finite_number("kl_coef", kl_coef, "the weight of a divergence")
        if not (kl_coef >= 0 and 0 <= kl_anchor_rate <= 1):
            raise ParameterError(
                f"kl_coef={kl_coef!r} must be 0 or more, and kl_anchor_rate={kl_anchor_rate!r} a share from 0 to 1"
            )
        self.kl_coef, self.kl_anchor_rate = kl_coef, kl_anchor_rate
        self.kl_anchor: np.ndarray | None = None
        """The anchor's parameters, float32[size], as in ``policy.parameters()``; None before they are needed."""
        self.fallback = ""
        self._engine: Engine | None = None
        super().__init__(*args, **kwargs)

    def _setup_model(self) -> None:
        if self.policy_class is MaskableMultiInputActorCriticPolicy and not isinstance(self.observation_space, Dict):
            self.policy_class = MaskableActorCriticPolicy  # the Dict had one entry next to the mask
        for name in ("n_steps", "batch_size", "n_epochs"):
            whole_number(name, getattr(self, name), 1, MOST, "a setting of the algorithm")
        super()._setup_model()
        self._engine, self.fallback = None, why_not(self)
        if self.fallback:
            if self.kl_coef:
                raise ParameterError(
                    f"kl_coef={self.kl_coef} needs FastMaskablePPO's own passes, which cannot be used, as "
                    f"{self.fallback}: leave kl_coef out, or change that"
                )
            warnings.warn(
                f"FastMaskablePPO falls back to MaskablePPO's code here, as {self.fallback}", UserWarning, stacklevel=4
            )
            return
        old = self.rollout_buffer
        self.rollout_buffer = KeptRolloutBuffer(
            old.buffer_size,
            Box(-np.inf, np.inf, (self.policy.features_dim,), np.float32),
            old.action_space,
            old.device,
            gae_lambda=old.gae_lambda,
            gamma=old.gamma,
            n_envs=old.n_envs,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of copies: it works on this learner's memory, and is made when needed."""
        return vars(self) | {"_engine": None}

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_engine", "fallback", "kl_anchor"]

    def get_parameters(self) -> dict[str, dict[str, Any]]:
        """Return copies of the parameters of policy and optimizer."""
        found: dict[str, dict[str, Any]] = _cloned(super().get_parameters())
        return found

    @staticmethod
    def _wrap_env(env: Any, verbose: int = 0, monitor_wrapper: bool = True) -> VecEnv:
        """Return an environment as a VecEnv with masks."""
        found = VecMonitor(GymnasiumVecEnv(env)) if isinstance(env, VectorEnv) else env
        return with_masks(MaskablePPO._wrap_env(found, verbose, monitor_wrapper))

    def predict(
        self,
        observation: Any,
        state: tuple[np.ndarray, ...] | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = False,
        action_masks: np.ndarray | None = None,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...] | None]:
        """Return actions as MaskablePPO does; a Dict observation may contain its ``action_mask``."""
        masked = isinstance(observation, dict) and KEY in observation
        if masked and KEY not in getattr(self.observation_space, "spaces", ()):
            observation, action_masks = split_masks(observation, action_masks, self.action_space)
        return super().predict(observation, state, episode_start, deterministic, action_masks)

    def _vectors(self, observations: Any) -> np.ndarray:
        """Return observations as inputs of the networks, float32[episodes, size]."""
        space = self.observation_space
        if isinstance(space, Box) and len(space.shape) == 1 and space.dtype == np.float32:
            return observations  # type: ignore[no-any-return]  # by the space
        with torch.no_grad():
            features: Any = self.policy.extract_features(self.policy.obs_to_tensor(observations)[0])
        found: np.ndarray = features.numpy()  # of one extractor: `why_not` checks that
        return found

    def _ready(self) -> Engine | None:
        """Return the engine, a new one if networks, games or threads have changed; None for MaskablePPO's code.

        Raises ParameterError if the policy or its optimizer was changed to an unsupported kind.
        """
        if not isinstance(self.rollout_buffer, KeptRolloutBuffer):
            return None
        if why := why_not(self):
            raise ParameterError(f"FastMaskablePPO cannot continue, as {why}: use MaskablePPO")
        if self._engine is None or not self._engine.fits(self.policy, self.rollout_buffer):
            self._engine = Engine(self.policy, self.rollout_buffer)
        return self._engine

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Fill the rollout buffer as MaskablePPO does; return False if a callback ended the training."""
        engine = self._ready()
        if engine is None or not isinstance(rollout_buffer, KeptRolloutBuffer):
            return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps, use_masking)
        allowed = np.ones((env.num_envs, rollout_buffer.mask_dims), np.bool_)
        masks = masks_of(env) if use_masking else lambda: allowed
        return self._collect(engine, env, callback, rollout_buffer, n_rollout_steps, masks)

    @one_thread()
    def _collect(
        self,
        engine: Engine,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: KeptRolloutBuffer,
        n_rollout_steps: int,
        masks: Callable[[], np.ndarray],
    ) -> bool:
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        last = self._vectors(self._last_obs)
        starts: np.ndarray = self._last_episode_starts  # type: ignore[assignment]  # set with them
        engine.begin(last)
        callback.on_rollout_start()
        action_masks = _usable(masks())
        actions, values, log_probs = engine.act(0, last, action_masks, torch.rand(env.num_envs).numpy())
        for n_steps in range(n_rollout_steps):
            new_obs, rewards, dones, infos = env.step(actions)
            last = self._vectors(new_obs)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            note = partial(self._note, rollout_buffer, (starts, values, actions, log_probs, rewards), dones, infos)
            self._last_obs, self._last_episode_starts = new_obs, dones  # type: ignore[assignment]  # as SB3 says
            starts = dones
            if n_steps + 1 < n_rollout_steps:
                action_masks = _usable(masks())
                uniforms = torch.rand(env.num_envs).numpy()
                actions, values, log_probs = engine.act(n_steps + 1, last, action_masks, uniforms, note)
            else:
                values = engine.act(n_steps + 1, last, None, None, note)[1]
        if not np.isfinite(rollout_buffer.values).all() or not np.isfinite(rollout_buffer.log_probs).all():
            raise ParameterError(
                "the networks' outputs are not finite: remove NaN and infinity from observations and rewards, or lower "
                "the learning rate"
            )
        rollout_buffer.compute_returns_and_advantage(last_values=torch.from_numpy(values), dones=dones)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _note(
        self, buffer: KeptRolloutBuffer, step: tuple[np.ndarray, ...], dones: np.ndarray, infos: list[dict[str, Any]]
    ) -> None:
        """Store the outcome of a step; ``step`` is as for `KeptRolloutBuffer.put`, with rewards last."""
        ended = np.flatnonzero(dones).tolist()
        self._update_info_buffer([infos[row] for row in ended], dones[ended])
        for row in ended:  # a truncated game is bootstrapped (Pardo et al., ICML 2018)
            if infos[row].get("TimeLimit.truncated") and infos[row].get("terminal_observation") is not None:
                cut_off = self.policy.obs_to_tensor(infos[row]["terminal_observation"])[0]
                with torch.no_grad():
                    step[-1][row] += self.gamma * float(self.policy.predict_values(cut_off)[0])
        buffer.put(*step)

    def train(self) -> None:
        """Update the policy from the rollout, as MaskablePPO does."""
        buffer = self.rollout_buffer
        engine = self._ready()
        if engine is None or not isinstance(buffer, KeptRolloutBuffer) or buffer.generator_ready or not engine.filled:
            super().train()
        else:
            self._update(engine, buffer)

    @one_thread()
    def _update(self, engine: Engine, buffer: KeptRolloutBuffer) -> None:
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        remaining = self._current_progress_remaining
        clip_range = float(self.clip_range(remaining))  # type: ignore[operator]  # a schedule since it was set up
        clip_values = None if self.clip_range_vf is None else float(self.clip_range_vf(remaining))  # type: ignore[operator]
        if self.kl_coef and (self.kl_anchor is None or self.kl_anchor.shape != (engine.parameters.size,)):
            engine.parameters.adopt()
            self.kl_anchor = engine.parameters.values.numpy().copy()
        most = 0.0 if clip_values is None else max(clip_values, SMALLEST)
        weights = clip_range, most, self.ent_coef, self.vf_coef, self.kl_coef
        engine.begin_update(weights, self.kl_anchor if self.kl_coef else None)
        stats, of_epoch = self._epochs(engine, buffer)
        engine.end_update()
        if self.kl_anchor is not None:
            self.kl_anchor += np.float32(self.kl_anchor_rate) * (engine.parameters.values.numpy() - self.kl_anchor)
        self._log(stats, of_epoch, clip_range, clip_values)

    def _epochs(self, engine: Engine, buffer: KeptRolloutBuffer) -> tuple[np.ndarray, int]:
        """Run the epochs; return statistics, float64[minibatches, 6], and the number of minibatches in the last one."""
        decisions = buffer.buffer_size * buffer.n_envs
        batch = self.batch_size or decisions
        stats: list[np.ndarray] = []
        for epoch in range(self.n_epochs):
            engine.begin_epoch(np.random.permutation(decisions))  # noqa: NPY002 - SB3's generator, for its order
            first = len(stats)
            for low in range(0, decisions, batch):
                stats.append(engine.slopes(low, min(low + batch, decisions), self.normalize_advantage))
                if self.target_kl is not None and stats[-1][3] > 1.5 * self.target_kl:
                    if self.verbose >= 1:
                        print(f"Early stopping at step {epoch} due to reaching max kl: {stats[-1][3]:.2f}")
                    self._n_updates += 1
                    return np.array(stats), len(stats) - first
                engine.step(self.max_grad_norm)
            self._n_updates += 1
        return np.array(stats), len(stats) - first

    def _log(self, stats: np.ndarray, of_epoch: int, clip_range: float, clip_values: float | None) -> None:
        """Log the same values as MaskablePPO."""
        surrogate, entropy, clipped, _, anchor_kl, squared = stats.mean(axis=0)
        last = stats[-1]
        loss = last[0] - self.ent_coef * last[1] + self.vf_coef * last[5] + self.kl_coef * last[4]
        buffer = self.rollout_buffer
        self.logger.record("train/entropy_loss", -entropy)
        self.logger.record("train/policy_gradient_loss", surrogate)
        self.logger.record("train/value_loss", squared)
        self.logger.record("train/approx_kl", stats[-of_epoch:, 3].mean())
        self.logger.record("train/clip_fraction", clipped)
        self.logger.record("train/loss", loss)
        self.logger.record(
            "train/explained_variance", explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        )
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)
        if clip_values is not None:
            self.logger.record("train/clip_range_vf", clip_values)
        if self.kl_coef:
            self.logger.record("train/anchor_kl", anchor_kl)

    def learn(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Train; see MaskablePPO."""
        kwargs.setdefault("tb_log_name", "FastMaskablePPO")
        return super().learn(*args, **kwargs)


_OWN = [one for one in inspect.signature(FastMaskablePPO.__init__).parameters.values() if one.kind is one.KEYWORD_ONLY]
FastMaskablePPO.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what inspect reads
    [*inspect.signature(MaskablePPO).parameters.values(), *_OWN]
)


def _usable(given: Any) -> np.ndarray:
    """Return masks as an array. Raises ParameterError if a mask allows no action."""
    masks = np.asarray(given)
    some = masks.any(axis=1)
    if not some.all():
        raise ParameterError(f"the mask of environment {int(some.argmin())} allows no action: allow at least one")
    return masks


def _cloned(found: Any) -> Any:
    """Return a tree of dicts with copies of its tensors."""
    if isinstance(found, torch.Tensor):
        return found.detach().clone()
    if isinstance(found, dict):
        return type(found)((key, _cloned(value)) for key, value in found.items())
    return found
