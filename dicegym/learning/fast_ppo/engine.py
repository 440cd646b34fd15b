"""Threads and their passes: who computes which decisions, and whose gradients are added in which order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from dicegym.learning.fast_ppo.layers import FlatParameters
from dicegym.learning.fast_ppo.passes import CHUNK, Front, Inputs, Losses, Passes
from dicegym.learning.fast_ppo.rollouts import KeptRolloutBuffer, RolloutInputs

LEAST = 256
"""Decisions that are worth a thread."""


class Engine:
    """All that computes for one policy and one size of rollouts.

    Args:
        policy: whose networks; its parameters become views of `parameters`.
        buffer: what rollouts are kept in.
    """

    def __init__(self, policy: MaskableActorCriticPolicy, buffer: KeptRolloutBuffer) -> None:
        self.parameters = FlatParameters(policy)
        self._policy, self._buffer = policy, buffer
        self._shape = buffer.buffer_size, buffer.n_envs
        self._games, size = buffer.n_envs, int(np.prod(buffer.obs_shape))
        self._privileged = int(getattr(policy, "privileged", 0))
        self._activation = policy.activation_fn
        self.inputs = RolloutInputs(buffer.buffer_size * buffer.n_envs, buffer.n_envs, size)
        self._size = size
        self._threads = torch.get_num_threads()
        # A pool begins a thread when it first needs it.
        self._pool = ThreadPoolExecutor(max(1, self._threads - 1), "dicegym-ppo", torch.set_num_threads, (1,))
        networks = self.parameters.networks(self.parameters.values)
        self._front = Front(networks, size, self._privileged)
        self._gradients = [torch.zeros(self.parameters.size) for _ in range(self._threads)]
        self._passes = [
            Passes(networks, self._front, self.parameters.networks(one), self._activation) for one in self._gradients
        ]
        self._seen: Inputs | None = None
        self.filled = False
        """Whether the latest rollout was played here."""

    def fits(self, policy: MaskableActorCriticPolicy, buffer: Any) -> bool:
        """Return whether this computes for them, with as many threads as PyTorch is to use now."""
        same = policy is self._policy and buffer is self._buffer and self._threads == torch.get_num_threads()
        return same and self._shape == (buffer.buffer_size, buffer.n_envs)

    def begin(self, observations: np.ndarray) -> None:
        """Begin a rollout whose first observations are these."""
        self.parameters.adopt()
        self._front.refresh()
        self.inputs.begin(observations)
        self.filled = False

    def act(
        self, step: int, observations: np.ndarray, masks: np.ndarray | None, uniforms: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return actions (int64[games]), values and log-probabilities (float32[games]) of a step.

        Args:
            step: of the rollout; the one after the last is for its values.
            observations: float32[games, size].
            masks: bool[games, n_actions]; None: no actions are wanted.
            uniforms: float32[games] from 0 to below 1.
        """
        n = len(observations)
        inputs, first = self.inputs.add(step, np.ascontiguousarray(observations, np.float32))
        actions, values = np.zeros(n, np.int64), np.empty(n, np.float32)
        log_probs = np.zeros(n, np.float32)

        def part(passes: Passes, low: int, high: int) -> None:
            for at in range(low, high, CHUNK):
                end = min(at + CHUNK, high)
                _, found = passes.forward(inputs, np.arange(first + at, first + end))
                values[at:end] = found.numpy()[:, 0]
                if masks is not None and uniforms is not None:
                    passes.draw(masks[at:end], uniforms[at:end], actions[at:end], log_probs[at:end])

        self._share(n, part)
        self.filled = masks is None
        return actions, values, log_probs

    def begin_update(self) -> None:
        """Begin to learn from the rollout."""
        self.parameters.adopt()
        self._front.refresh()
        self._seen = self.inputs.of(torch.from_numpy(self._buffer.observations.reshape(-1, self._size)))

    def log_probs_by(self, vector: np.ndarray, buffer: KeptRolloutBuffer) -> np.ndarray:
        """Return log-probabilities of all legal actions of the rollout by other parameters (float32[size]).

        float32[decisions, n_actions], 0 for illegal ones.
        """
        networks = self.parameters.networks(torch.from_numpy(vector))
        front = Front(networks, self._size, self._privileged)
        masks = buffer.action_masks.reshape(-1, buffer.mask_dims)
        found = np.zeros(masks.shape, np.float32)
        inputs = self._update_inputs()
        others = [Passes(networks, front, networks, self._activation) for _ in self._passes]

        def part(passes: Passes, low: int, high: int) -> None:
            other = others[self._passes.index(passes)]
            for at in range(low, high, CHUNK):
                end = min(at + CHUNK, high)
                other.forward(inputs, np.arange(at, end), critic=False)
                other.log_softmax(masks[at:end], found[at:end])

        self._share(len(masks), part)
        return found

    def slopes(self, rows: np.ndarray, advantages: np.ndarray, losses: Losses) -> np.ndarray:
        """Compute the gradient of a minibatch; return the means of what `Passes` tells of it (float64[6]).

        Args:
            rows: int64[n], its decisions.
            advantages: float32[n], theirs.
            losses: see there.
        """
        inputs, share = self._update_inputs(), 1.0 / len(rows)

        def part(passes: Passes, low: int, high: int) -> None:
            for at in range(low, high, CHUNK):
                end = min(at + CHUNK, high)
                passes.backward(inputs, rows[at:end], advantages[at:end], share, losses)
            passes.finish()

        for gradient, passes in zip(self._gradients, self._passes, strict=True):
            gradient.zero_()
            passes.clear()
            passes.told[:] = 0
        busy = self._share(len(rows), part)
        for gradient in self._gradients[1:busy]:
            self._gradients[0].add_(gradient)
        told: np.ndarray = sum(one.told for one in self._passes[:busy])  # type: ignore[assignment]  # there is one
        return told * share

    @property
    def gradient(self) -> torch.Tensor:
        """The gradient of the latest minibatch, float32[size], in the order of ``policy.parameters()``."""
        return self._gradients[0]

    def step(self, most: float) -> None:
        """Take the step that the gradient says, whose norm is clipped to ``most``."""
        self.parameters.step(self.gradient, most)
        self._front.refresh()

    def _update_inputs(self) -> Inputs:
        if self._seen is None:
            raise RuntimeError("no update has begun")
        return self._seen

    def _share(self, n: int, part: Callable[[Passes, int, int], None]) -> int:
        """Let threads compute parts of ``n`` decisions, always the same ones; return how many did."""
        busy = max(1, min(self._threads, n // LEAST))
        bounds = [n * number // busy for number in range(busy + 1)]
        tasks = [
            self._pool.submit(part, passes, low, high)
            for passes, low, high in zip(self._passes[1:busy], bounds[1:], bounds[2:], strict=False)
        ]
        part(self._passes[0], bounds[0], bounds[1])
        for task in tasks:
            task.result()
        return busy


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute in the calling thread alone: its others would wait, busily, where ours are to compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
