"""What a rollout leaves for the update: SB3's buffer, whose memory is kept, and observations without their zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from dicegym.learning.fast_ppo import kernels
from dicegym.learning.fast_ppo.passes import Inputs

SPARSE = 0.4
"""Up to this share of inputs that are not 0, sums of rows are quicker than a dense product (measured)."""


class KeptRolloutBuffer(MaskableRolloutBuffer):
    """SB3's buffer, which asks for its memory once instead of for each rollout; masks take a byte, not four."""

    def reset(self) -> None:
        """Begin a rollout."""
        if getattr(self, "generator_ready", True) or not hasattr(self, "observations"):
            super().reset()
            self.action_masks = np.ones(self.action_masks.shape, np.bool_)
        self.pos, self.full = 0, False

    def put(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        episode_starts: np.ndarray,
        values: np.ndarray,
    ) -> None:
        """Write down what is known before a step."""
        at = self.pos
        self.observations[at] = observations
        self.action_masks[at] = masks
        self.episode_starts[at] = episode_starts
        self.values[at] = values

    def put_after(self, actions: np.ndarray, log_probs: np.ndarray, rewards: np.ndarray) -> None:
        """Write down what came of it."""
        at = self.pos
        self.actions[at, :, 0] = actions
        self.log_probs[at] = log_probs
        self.rewards[at] = rewards
        self.pos += 1
        self.full = self.pos == self.buffer_size


class RolloutInputs:
    """The observations of a rollout and of the steps after it, as `Inputs`.

    Args:
        rows: decisions of a rollout.
        games: decisions of a step.
        size: of an observation.
    """

    def __init__(self, rows: int, games: int, size: int) -> None:
        self._games = games
        most = (rows + games) * size + size  # memory that is never written is never taken
        self._begins = np.zeros(rows + games + 1, np.int64)
        self._inputs = np.empty(most, np.uint16 if size < 1 << 16 else np.int32)
        self._values = np.empty(most, np.float32)
        self.sparse = True

    def begin(self, observations: np.ndarray) -> None:
        """Begin a rollout whose first observations are these, by which it is decided how all are read."""
        self.sparse = bool(np.count_nonzero(observations) <= SPARSE * observations.size)

    def add(self, step: int, observations: np.ndarray) -> tuple[Inputs, int]:
        """Take in the observations of a step; return what to read them by, and the row of the first."""
        if not self.sparse:
            return self.of(torch.from_numpy(observations)), 0
        row = step * self._games
        kernels.append_rows(observations, self._begins, row, self._inputs, self._values)
        return self.of(torch.from_numpy(observations)), row

    def of(self, dense: torch.Tensor) -> Inputs:
        """Return what to read decisions by, which as vectors are ``dense``."""
        return Inputs(dense, self._begins, self._inputs, self._values, self.sparse)


def rows_of(indices: np.ndarray, buffer: Any) -> np.ndarray:
    """Return the rows, in order of time, of decisions that SB3 counts game by game (int64[n])."""
    games: np.ndarray = indices // buffer.buffer_size
    rows: np.ndarray = (indices - games * buffer.buffer_size) * buffer.n_envs + games
    return rows
