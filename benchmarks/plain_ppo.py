"""A plain masked PPO loop in torch, as people write it by hand: what an algorithm's surroundings cost beside it.

One file in the manner of CleanRL (Huang et al., "CleanRL: High-quality single-file implementations of deep
reinforcement learning algorithms", JMLR 23, 2022): arrays of torch for the rollout, autograd for the update; no
buffers, distributions, callbacks or logs. It learns what MaskablePPO does: the same loss, the same generalised
advantages, the same batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from dicegym.learning.training_settings import TrainingSettings

ADAM_EPSILON = 1e-5
"""As in Stable-Baselines3's policies."""
MOST_GRADIENT = 0.5
"""Norm that gradients are cut to, as there."""
FORBIDDEN = -1e8
"""Logit of an action that is not legal, as there."""
LEARNING_RATE, GAMMA, GAE_LAMBDA, CLIP_RANGE, ENT_COEF, VF_COEF = 3e-4, 0.99, 0.95, 0.2, 0.0, 0.5
"""What MaskablePPO has where nothing is said."""


def _network(inputs: int, hidden: list[int], outputs: int, activation: type[nn.Module]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(inputs, size), activation()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


class PlainPPO:
    """PPO with masks, on the CPU.

    Args:
        env: the games: observations of one vector, discrete actions, masks by ``env_method("action_masks")``.
        settings: ``n_steps``, ``batch_size`` and ``n_epochs`` have to be given; learning rates and bonuses stay as
            they are at the beginning.
        seed: of the networks, and of what is drawn.
    """

    def __init__(self, env: VecEnv, settings: TrainingSettings, seed: int = 0) -> None:
        algorithm, network = settings.algorithm, settings.network
        self._env = env
        self._steps, self._batch = int(algorithm.n_steps or 0), int(algorithm.batch_size or 0)
        self._epochs = int(algorithm.n_epochs or 0)
        self._gamma, self._gae_lambda = _given(algorithm.gamma, GAMMA), _given(algorithm.gae_lambda, GAE_LAMBDA)
        self._clip = _given(algorithm.clip_range, CLIP_RANGE)
        self._entropy, self._value = _given(algorithm.ent_coef, ENT_COEF), _given(algorithm.vf_coef, VF_COEF)
        inputs, actions = int(np.prod(env.observation_space.shape or ())), int(vars(env.action_space)["n"])
        sizes = network.net_arch if isinstance(network.net_arch, dict) else {}
        shared = [] if isinstance(network.net_arch, dict) else list(network.net_arch)
        activation: type[nn.Module] = getattr(nn, network.activation)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.policy = _network(inputs, sizes.get("pi", shared), actions, activation)
            self.value = _network(inputs, sizes.get("vf", shared), 1, activation)
        self._draws = torch.Generator().manual_seed(seed)
        self._parameters = [*self.policy.parameters(), *self.value.parameters()]
        rate = _given(algorithm.learning_rate, LEARNING_RATE)
        self._optimizer = torch.optim.Adam(self._parameters, lr=rate, eps=ADAM_EPSILON)
        n = self._steps, env.num_envs
        self._observations, self._masks = torch.zeros(*n, inputs), torch.zeros(*n, actions, dtype=torch.bool)
        self._actions = torch.zeros(n, dtype=torch.long)
        self._logs, self._values, self._rewards = torch.zeros(n), torch.zeros(n), torch.zeros(n)
        self._begins = torch.zeros(self._steps + 1, env.num_envs)
        self._begins[-1] = 1.0  # the first rollout begins with games that begin
        self._last: Any = env.reset()

    def _log_policy(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Return the logarithms of all actions' probabilities, float32[rows, actions]."""
        logits: torch.Tensor = self.policy(observations)
        return logits.masked_fill(~masks, FORBIDDEN).log_softmax(-1)

    @torch.no_grad()
    def collect(self) -> torch.Tensor:
        """Play a rollout; return the advantages, float32[steps, games]."""
        self._begins[0] = self._begins[-1]
        for step in range(self._steps):
            self._observations[step] = torch.from_numpy(self._last)
            self._masks[step] = torch.from_numpy(np.stack(self._env.env_method("action_masks")).astype(np.bool_))
            logs = self._log_policy(self._observations[step], self._masks[step])
            drawn = torch.multinomial(logs.exp(), 1, generator=self._draws)
            self._actions[step] = drawn[:, 0]
            self._logs[step] = logs.gather(1, drawn)[:, 0]
            self._values[step] = self.value(self._observations[step])[:, 0]
            self._last, rewards, dones, _ = self._env.step(self._actions[step].numpy())
            self._rewards[step] = torch.from_numpy(rewards)
            self._begins[step + 1] = torch.from_numpy(dones)
        advantages, later = torch.zeros_like(self._rewards), torch.zeros(self._env.num_envs)
        following = self.value(torch.from_numpy(self._last))[:, 0]
        for step in reversed(range(self._steps)):
            goes_on = 1 - self._begins[step + 1]
            surprise = self._rewards[step] + self._gamma * following * goes_on - self._values[step]
            later = advantages[step] = surprise + self._gamma * self._gae_lambda * goes_on * later
            following = self._values[step]
        return advantages

    def update(self, advantages: torch.Tensor) -> None:
        """Learn from the rollout that was played last."""
        observations, masks = self._observations.flatten(0, 1), self._masks.flatten(0, 1)
        actions, logs = self._actions.flatten(), self._logs.flatten()
        flat, returns = advantages.flatten(), (advantages + self._values).flatten()
        for _ in range(self._epochs):
            order = torch.randperm(len(flat), generator=self._draws)
            for first in range(0, len(flat), self._batch):
                rows = order[first : first + self._batch]
                log_policy = self._log_policy(observations[rows], masks[rows])
                values = self.value(observations[rows])[:, 0]
                ratio = (log_policy.gather(1, actions[rows, None])[:, 0] - logs[rows]).exp()
                gain = flat[rows]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = ratio.clamp(1 - self._clip, 1 + self._clip)
                entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
                loss = -torch.min(ratio * gain, clipped * gain).mean() - self._entropy * entropy
                loss = loss + self._value * nn.functional.mse_loss(returns[rows], values)
                self._optimizer.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(self._parameters, MOST_GRADIENT)
                self._optimizer.step()
