"""The rollout buffer, and the engine that distributes passes over threads."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from dicegym.engine.kernel_entries import Task
from dicegym.engine.thread_team import ThreadTeam
from dicegym.learning.fast_ppo import passes
from dicegym.learning.fast_ppo.kernels import choose_gains
from dicegym.learning.fast_ppo.layout import CHUNK, FlatParameters, Layout
from dicegym.learning.fast_ppo.passes import Inputs, Losses, Sorting
from dicegym.learning.fast_ppo.vectors import ROWS, allocate_aligned, masks_with_room, pad_size

LEAST = 64
"""Least decisions for a thread."""
LEAST_PARAMETERS = 65_536
"""Least parameters for a thread in a step of the optimizer."""

STATS, OF_LINE = 6, 8
"""Statistics of a minibatch, and float64 in a cache line: threads would slow each other down by writing to one line."""

SPARSE = 0.4
"""Up to this share of non-zero inputs, sums of rows are faster than a dense product (measured)."""


class KeptRolloutBuffer(MaskableRolloutBuffer):
    """SB3's buffer, which allocates memory once instead of for each rollout; masks take one byte, not four.

    Its observations are the vectors for the networks, whatever the environment's space is.

    Attributes:
        seen: float32[steps + 1, games, size], the observations of the rollout, then those after it.
    """

    seen: np.ndarray

    def reset(self) -> None:
        """Begin a rollout."""
        if getattr(self, "generator_ready", True) or not hasattr(self, "seen"):
            super().reset()
            self.action_masks = masks_with_room(*self.action_masks.shape)
            self.seen = np.zeros((self.buffer_size + 1, *self.observations.shape[1:]), np.float32)
        self.observations = self.seen[:-1]  # set each time, as a copied buffer has copies of both
        self.pos, self.full = 0, False

    def put(self, *step: np.ndarray) -> None:
        """Store a step: episode starts, values, actions, log-probabilities and rewards, each [games].

        Observations and masks are already stored.
        """
        kept = self.episode_starts, self.values, self.actions[..., 0], self.log_probs, self.rewards
        for array, one in zip(kept, step, strict=True):
            array[self.pos] = one
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Compute both as SB3 does, in the same memory."""
        kept = self.returns
        super().compute_returns_and_advantage(last_values, dones)
        kept[:] = self.returns
        self.returns = kept


def _inputs_of(buffer: KeptRolloutBuffer) -> Inputs:
    """Return the observations of a buffer, with memory for sparse lists of them."""
    dense = buffer.seen.reshape(buffer.seen.shape[0] * buffer.n_envs, -1)
    rows, size = dense.shape
    most = rows * size + 1  # a number is written before it is known to be used; untouched memory costs nothing
    inputs, values = np.empty(most, np.uint16 if size <= 1 << 16 else np.uint32), np.empty(most, np.float32)
    return Inputs(dense, np.zeros(rows, np.int64), np.zeros(rows, np.int64), inputs, values, np.zeros(1, np.int64))


class Engine:
    """Runs the passes for one policy and one size of rollouts.

    The policy's parameters do not change between `begin_update` and `end_update`.

    Args:
        policy: the policy; its parameters become views of `parameters`.
        buffer: the rollout buffer.
    """

    def __init__(self, policy: MaskableActorCriticPolicy, buffer: KeptRolloutBuffer) -> None:
        self.parameters = FlatParameters(policy)
        self._policy, self._buffer = policy, buffer
        self._shape = buffer.buffer_size, buffer.n_envs
        self._threads = torch.get_num_threads()
        self._team = ThreadTeam(self._threads)
        size = int(np.prod(buffer.obs_shape))
        privileged = int(getattr(policy, "privileged", 0))
        self._layout = Layout(self.parameters, size, privileged, policy.activation_fn is torch.nn.Tanh)
        # Parameters and Adam's moments: in the policy's order, and in the layout for passes.
        vectors = self.parameters.values, self.parameters.first, self.parameters.second
        self._flat = [one.numpy() for one in vectors]
        self._packed = [allocate_aligned((self._layout.size,)) for _ in vectors]
        self._memory = passes.PassMemory(
            vector=self._packed[0],
            gradients=allocate_aligned((self._threads, self._layout.size)),
            first=self._packed[1],
            second=self._packed[2],
            rooms=allocate_aligned((self._threads, self._layout.room)),
            stats=allocate_aligned((self._threads, OF_LINE), np.float64),
            squares=allocate_aligned((self._threads, OF_LINE), np.float64),
        )
        self._sorting = Sorting(
            allocate_aligned((self._threads, pad_size(size)), np.int64),
            np.empty((self._threads, CHUNK * size), np.int32),
            np.empty((self._threads, CHUNK * size), np.float32),
        )
        decisions, games = buffer.buffer_size * buffer.n_envs, buffer.n_envs
        self._orders = passes.Orders(
            bounds=np.zeros(self._threads + 1, np.int64),
            first=np.zeros(1, np.int64),
            busy=np.zeros(1, np.int64),
            adam=np.zeros(6, np.float32),
            everyone=np.arange(decisions + games),
            rows=np.zeros(decisions, np.int64),
            uniforms=np.zeros(games, np.float32),
            actions=np.zeros(games, np.int64),
            log_probs=np.zeros(games, np.float32),
            values=np.zeros(games, np.float32),
        )
        self._rows_of = np.arange(decisions).reshape(self._shape).T.ravel()  # SB3 counts decisions game by game
        self._gains = np.zeros(decisions, np.float32)
        self._weights = np.zeros(6, np.float32)
        self._read: list[np.ndarray] = []
        self._task: Task | None = None
        self.filled = False
        """Whether the latest rollout was played by this engine."""

    def fits(self, policy: MaskableActorCriticPolicy, buffer: Any) -> bool:
        """Return whether the engine fits a policy, a buffer, and PyTorch's current number of threads."""
        same = policy is self._policy and buffer is self._buffer and self._threads == torch.get_num_threads()
        return same and self._shape == (buffer.buffer_size, buffer.n_envs)

    def _look(self, anchor: np.ndarray | None) -> None:
        """Make a new task if the buffer's arrays, or the anchor's, are not those of the present one."""
        buffer = self._buffer
        if anchor is None:  # any array
            anchor = self._read[-1][:1] if self._read else np.zeros((1, buffer.mask_dims), np.float32)
        arrays = [buffer.seen, buffer.action_masks, buffer.actions, buffer.log_probs, buffer.values, buffer.returns]
        if self._read and all(one is other for one, other in zip([*arrays, anchor], self._read, strict=True)):
            return
        if not self._read or arrays[0] is not self._read[0]:
            self._inputs = _inputs_of(buffer)
        self._read = [*arrays, anchor]
        masks, *others = arrays[1:]
        actions, log_probs, values, returns = (one.reshape(-1) for one in others)
        masks = masks.reshape(-1, buffer.mask_dims)
        losses = Losses(masks, actions, log_probs, values, returns, anchor, self._gains, self._weights)
        arguments = self._layout.plan, self._memory, self._inputs, self._sorting, losses, self._orders
        self._task = Task(passes.do_part, arguments, unlocks=True)

    def begin(self, observations: np.ndarray) -> None:
        """Begin a rollout with its first observations."""
        self.parameters.adopt()
        self._layout.pack(self._flat[0], self._packed[0])
        self._look(None)
        self._inputs.sparse[0] = np.count_nonzero(observations) <= SPARSE * observations.size
        self.filled = False

    def act(
        self,
        step: int,
        observations: np.ndarray,
        masks: np.ndarray | None,
        uniforms: np.ndarray | None,
        meanwhile: Callable[[], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return actions (int64[games]), values and log-probabilities (float32[games]) of a step of the rollout.

        Args:
            step: its number; after the last one only values are computed, without masks and uniforms.
            observations: float32[games, size]; stored in the buffer, like masks.
            masks: bool[games, n_actions].
            uniforms: float32[games] in [0, 1).
            meanwhile: runs in this thread while the others compute.
        """
        orders, games = self._orders, self._buffer.n_envs
        self._buffer.seen[step] = observations
        if masks is not None and uniforms is not None:
            self._buffer.action_masks[step] = masks
            orders.uniforms[:] = uniforms
        orders.first[0] = step * games
        self._share(passes.ACT, 0, games, LEAST, meanwhile)
        self.filled = masks is None
        return orders.actions.copy(), orders.values.copy(), orders.log_probs.copy()

    def begin_update(self, weights: Sequence[float], anchor: np.ndarray | None) -> None:
        """Begin an update from the rollout.

        Args:
            weights: the first five of `dicegym.learning.fast_ppo.passes.Losses`; a value clip of 0 means none.
            anchor: float32[size], the parameters of the anchor, if there is one.
        """
        self.parameters.adopt()
        found = None
        if anchor is not None:
            decisions = self._buffer.buffer_size * self._buffer.n_envs
            found = np.zeros((decisions, self._buffer.mask_dims), np.float32)
        self._look(found)
        if anchor is not None:
            self._layout.pack(anchor, self._packed[0])
            self._share(passes.SAY, 0, decisions, LEAST)
        for flat, packed in zip(self._flat, self._packed, strict=True):
            self._layout.pack(flat, packed)
        self._weights[:5] = weights

    def begin_epoch(self, order: np.ndarray) -> None:
        """Set the order of decisions: int64[decisions], numbered as in SB3."""
        self._orders.rows[:] = self._rows_of[order]

    def slopes(self, low: int, high: int, normalise: bool) -> np.ndarray:
        """Compute the gradient of decisions ``low`` to ``high - 1`` of the epoch; return mean statistics, float64[6].

        ``normalise`` scales their advantages to mean 0 and deviation 1.
        """
        share = 1.0 / (high - low)
        self._weights[5] = share
        advantages = self._buffer.advantages.reshape(-1)
        whole = normalise and high - low > 1  # one number has no standard deviation
        choose_gains(advantages, self._orders.rows, low, high - low, whole, self._gains)
        busy = self._share(passes.LEARN, low, high, LEAST)
        self._orders.busy[0] = busy
        parts = self._share(passes.ADD, 0, self._layout.size, LEAST_PARAMETERS)
        self._norm = math.sqrt(self._memory.squares[:parts, 0].sum())
        stats: np.ndarray = self._memory.stats[:busy, :STATS].sum(axis=0) * share
        return stats

    def step(self, most: float) -> None:
        """Take a step of Adam with the gradient, its norm clipped to ``most``."""
        self._orders.adam[:] = self.parameters.next_step(min(1.0, most / (self._norm + 1e-6)))
        self._share(passes.STEP, 0, self._layout.size, LEAST_PARAMETERS)

    def end_update(self) -> None:
        """Copy the result into the policy and its optimizer."""
        for flat, packed in zip(self._flat, self._packed, strict=True):
            self._layout.unpack(packed, flat)
        self.parameters.note_steps()

    def _share(self, job: int, low: int, high: int, least: int, meanwhile: Callable[[], None] | None = None) -> int:
        """Distribute a job over threads, always in the same way; return how many took part."""
        n, task = high - low, self._task
        assert task is not None, "no rollout or update was begun"  # noqa: S101 - internal callers begin one first
        busy = max(1, min(self._threads, n // least))
        bounds = self._orders.bounds
        for part in range(busy):  # whole tiles
            bounds[part] = low + n * part // busy // ROWS * ROWS
        bounds[busy] = high
        self._team.call(task, range(busy + 1), job, meanwhile=meanwhile)
        return busy


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Restrict PyTorch to the calling thread: its other threads would busy-wait on the processors that ours need."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
