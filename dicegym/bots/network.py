"""Policy networks in NumPy, so that processes that play need not load PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.threads import one_thread_of_products

UNSHARED_ROWS = 16
"""For up to this many rows and some hundred units, OpenBLAS uses one thread anyway (measured, 0.3.31)."""


def relu(x: np.ndarray) -> Any:
    """Return the rectified linear unit."""
    return np.maximum(x, 0)


def tanh(x: np.ndarray) -> Any:
    """Return the hyperbolic tangent."""
    return np.tanh(x)


def sigmoid(x: np.ndarray) -> Any:
    """Return the logistic function."""
    return 1 / (1 + np.exp(-x))


def silu(x: np.ndarray) -> Any:
    """Return the sigmoid linear unit."""
    return x / (1 + np.exp(-x))


def elu(x: np.ndarray) -> Any:
    """Return the exponential linear unit, with alpha 1."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def leaky_relu(x: np.ndarray) -> Any:
    """Return the leaky rectified linear unit, with slope 0.01."""
    return np.where(x > 0, x, 0.01 * x)


ACTIVATIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "ReLU": relu,
    "Tanh": tanh,
    "Sigmoid": sigmoid,
    "SiLU": silu,
    "ELU": elu,
    "LeakyReLU": leaky_relu,
}
"""Allowed classes of ``torch.nn`` between layers, with their default arguments."""


class Layer(NamedTuple):
    """A linear layer and its activation."""

    weight: np.ndarray
    """float64[inputs, outputs]"""
    bias: np.ndarray
    """float64[outputs]"""
    activation: str = ""
    """A key of `ACTIVATIONS`; empty after the last layer."""


class Network(NamedTuple):
    """A multilayer perceptron in float64, so that single games and batches round to the same choice."""

    layers: tuple[Layer, ...]

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Return a score of each action, float64[n, n_actions], of float32[n, observation size]."""
        if len(observations) > UNSHARED_ROWS:
            with one_thread_of_products():
                return self._scores(observations)
        return self._scores(observations)

    def _scores(self, observations: np.ndarray) -> np.ndarray:
        x = observations.astype(np.float64)
        for weight, bias, activation in self.layers:
            x = x @ weight + bias
            if activation:
                x = ACTIVATIONS[activation](x)
        return x
