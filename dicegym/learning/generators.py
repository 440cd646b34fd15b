"""The generators that Stable-Baselines3 draws from, all of them global: their states, to be kept and set again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch


class GeneratorStates(NamedTuple):
    """What each library says of the state of its generator."""

    python: tuple[Any, ...]
    numpy: dict[str, Any] | tuple[str, np.ndarray, int, int, float]
    torch: torch.Tensor
    cuda: tuple[torch.Tensor, ...] = ()
    """Of each graphics processor, if one was used."""

    @classmethod
    def now(cls) -> GeneratorStates:
        """Return the states as they are."""
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else ()
        numpy = np.random.get_state()  # noqa: NPY002 - theirs, not ours
        return cls(random.getstate(), numpy, torch.get_rng_state(), tuple(cuda))

    def to_plain(self) -> dict[str, Any]:
        """Return them as lists, numbers and arrays."""
        return {
            "python": self.python,
            "numpy": self.numpy,
            "torch": self.torch.numpy(),
            "cuda": [state.numpy() for state in self.cuda],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> GeneratorStates:
        """Return what `to_plain` told of. Raises KeyError, TypeError or ValueError if that is damaged."""
        version, numbers, gauss = plain["python"]
        name, key, *rest = plain["numpy"]
        return cls(
            (version, tuple(numbers), gauss),
            (name, key, *rest),
            torch.from_numpy(plain["torch"]),
            tuple(torch.from_numpy(state) for state in plain["cuda"]),
        )

    def restore(self) -> None:
        """Let all go on from here."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002 - as above
        torch.set_rng_state(self.torch)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
