"""A running average of a learner's parameters, which plays better than the learner whose last steps were luck.

Each update moves the networks by what the dice of one rollout happened to say. The mean of many such places lies nearer
to where they wander about (Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal
on Control and Optimization 30, 1992). Parameters are averaged, and what else a network keeps, such as the running
statistics of normalisation, is the learner's.
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
    newest: int = -1
    """After how many steps the learner was at the newest of them."""

    def follow(self, model: BaseAlgorithm, rate: float) -> None:
        """Move by ``rate`` to where ``model`` is now, or at the beginning so that all places count alike.

        A place that it was told of already is not counted again: a resumed run begins where it was.
        """
        if model.num_timesteps <= self.newest:
            return
        now = parameters_of(model)
        self.taken += 1
        self.newest = model.num_timesteps
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
        before = [one.detach().clone() for one in model.policy.parameters()]
        first = 0
        try:
            with torch.no_grad():  # written where they are, as an algorithm may hold views of them
                for one in model.policy.parameters():
                    one.copy_(torch.from_numpy(self.values[first : first + one.numel()]).view_as(one))
                    first += one.numel()
            yield
        finally:
            with torch.no_grad():
                for one, learned in zip(model.policy.parameters(), before, strict=True):
                    one.copy_(learned)


def parameters_of(model: BaseAlgorithm) -> np.ndarray:
    """Return a copy of the parameters as one vector: float32[parameters]."""
    return np.concatenate([one.detach().cpu().numpy().ravel() for one in model.policy.parameters()]).astype(np.float32)
