"""The part of a policy network that plays, in NumPy: no process that plays has to load PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


def _gelu(x: np.ndarray) -> np.ndarray:
    from math import erf

    cumulative: np.ndarray = 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2)))
    found: np.ndarray = x * cumulative
    return found


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ReLU": lambda x: np.maximum(x, 0),
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "SiLU": lambda x: x / (1 + np.exp(-x)),
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "LeakyReLU": lambda x: np.where(x > 0, x, 0.01 * x),
    "GELU": _gelu,
}
"""The classes of ``torch.nn`` (with their default arguments) that a network may have between its layers."""


class Layer(NamedTuple):
    """A linear layer and what follows it."""

    weight: np.ndarray
    """float64[inputs, outputs]"""
    bias: np.ndarray
    """float64[outputs]"""
    activation: str = ""
    """A key of `ACTIVATIONS`; empty after the last layer."""


class Network(NamedTuple):
    """A multilayer perceptron in float64, so that one game and a thousand at once round to the same choice."""

    layers: tuple[Layer, ...]

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Return a score of each action, float64[n, n_actions], of float32[n, observation size]."""
        x = observations.astype(np.float64)
        for weight, bias, activation in self.layers:
            x = x @ weight + bias
            if activation:
                x = ACTIVATIONS[activation](x)
        return x
