"""What a rollout leaves for the update: SB3's buffer, whose memory is kept, and observations without their zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from dicegym.learning.fast_ppo.passes import Inputs
from dicegym.learning.fast_ppo.vectors import masks_with_room

SPARSE = 0.4
"""Up to this share of inputs that are not 0, sums of rows are quicker than a dense product (measured)."""


class KeptRolloutBuffer(MaskableRolloutBuffer):
    """SB3's buffer, which asks for its memory once instead of for each rollout; masks take a byte, not four.

    Its observations are the vectors that the networks read, whatever the environment's space is.

    Attributes:
        seen: float32[steps + 1, games, size], the observations of the rollout and, last, those after it.
    """

    seen: np.ndarray

    def reset(self) -> None:
        """Begin a rollout."""
        if getattr(self, "generator_ready", True) or not hasattr(self, "seen"):
            super().reset()
            self.action_masks = masks_with_room(*self.action_masks.shape)
            self.seen = np.zeros((self.buffer_size + 1, *self.observations.shape[1:]), np.float32)
        self.observations = self.seen[:-1]  # said each time, as a copy of this has copies of both
        self.pos, self.full = 0, False

    def put(self, *step: np.ndarray) -> None:
        """Write down a step, whose observations and masks are there already.

        Args:
            *step: beginnings of episodes, values, actions, log-probabilities and rewards, each [games].
        """
        kept = self.episode_starts, self.values, self.actions[..., 0], self.log_probs, self.rewards
        for array, one in zip(kept, step, strict=True):
            array[self.pos] = one
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Compute both as SB3 does, where they were before."""
        kept = self.returns
        super().compute_returns_and_advantage(last_values, dones)
        kept[:] = self.returns
        self.returns = kept


def inputs_of(buffer: KeptRolloutBuffer) -> Inputs:
    """Return the observations of a buffer, with room for lists of what is not 0 in them."""
    dense = buffer.seen.reshape(buffer.seen.shape[0] * buffer.n_envs, -1)
    rows, size = dense.shape
    most = rows * size + 1  # one is written before it is known to be wanted; what is never written is never taken
    return Inputs(
        dense,
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.empty(most, np.uint16 if size <= 1 << 16 else np.uint32),
        np.empty(most, np.float32),
        np.zeros(1, np.int64),
    )


def is_sparse(observations: np.ndarray) -> bool:
    """Return whether enough of the observations' numbers are 0 for lists of the others to be quicker."""
    return bool(np.count_nonzero(observations) <= SPARSE * observations.size)


def rows_of(buffer: Any) -> np.ndarray:
    """Return, of the decisions that SB3 counts game by game, the rows in order of time (int64[decisions])."""
    indices = np.arange(buffer.buffer_size * buffer.n_envs)
    games = indices // buffer.buffer_size
    rows: np.ndarray = (indices - games * buffer.buffer_size) * buffer.n_envs + games
    return rows
