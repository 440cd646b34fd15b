"""A running average of a learner's parameters, which plays better than the learner whose last steps were luck.

Each update moves the networks by what the dice of one rollout happened to say. The mean of many such places lies nearer
to where they wander about (Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal
on Control and Optimization 30, 1992).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm


@dataclass
class ParameterAverage:
    """What the parameters of a learner were on average."""

    values: np.ndarray | None = None
    """float32[parameters], in the order of ``policy.parameters()``; None: nothing was averaged yet."""
    taken: int = 0
    """How many places it is the mean of, the newest counting most."""

    def follow(self, model: BaseAlgorithm, rate: float) -> None:
        """Move by ``rate`` to where ``model`` is now, or at the beginning so that all places count alike."""
        now = _parameters(model)
        self.taken += 1
        if self.values is None:
            self.values = now
        else:
            self.values = self.values + np.float32(max(rate, 1 / self.taken)) * (now - self.values)

    @contextmanager
    def shown(self, model: BaseAlgorithm) -> Iterator[None]:
        """Let ``model`` have the average for its parameters meanwhile, if there is one."""
        if self.values is None:
            yield
            return
        before = _parameters(model)
        _set(model, self.values)
        try:
            yield
        finally:
            _set(model, before)


def _parameters(model: BaseAlgorithm) -> np.ndarray:
    """Return a copy of the parameters as one vector."""
    return np.concatenate([one.detach().cpu().numpy().ravel() for one in model.policy.parameters()]).astype(np.float32)


def _set(model: BaseAlgorithm, values: np.ndarray) -> None:
    """Write parameters where they are, as an algorithm may hold views of them."""
    first = 0
    with torch.no_grad():
        for one in model.policy.parameters():
            one.copy_(torch.from_numpy(values[first : first + one.numel()]).view_as(one))
            first += one.numel()
