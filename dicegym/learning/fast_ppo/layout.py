"""Where the parameters of actor and critic lie for compiled passes, and what a thread computes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from dicegym.learning.fast_ppo.layers import FlatParameters, Networks
from dicegym.learning.fast_ppo.products import aligned
from dicegym.learning.fast_ppo.vectors import padded

CHUNK = 128
"""Decisions that go through the networks together: as many as a cache holds all outputs of.

With 256 units in a layer, 256 decisions together took up to half as long again for each; with 64 it is all the same.
"""

DEPTH, INPUTS, UNITS, WEIGHT, BIAS, TURNED, FROM, FROM_ROW, FROM_SLOPES, TO, TO_SLOPES = range(11)
"""What is said of a layer: inputs, the same padded, units padded, where its weight and bias begin, where a thread has
the weight turned round, where its inputs begin, how far apart their rows are, where slopes by them begin, the same of
outputs. A layer of one unit has its weight as a row, and ``UNITS`` is 1."""
SIZE, WIDTH, FIRST_UNITS, SPLIT, FIRST_BIAS, X, FIRST, FIRST_SLOPES = range(8)
ACTIONS, LOGITS, VALUES, SCRATCH, TANH, NOTHING, SEEN = range(8, 15)
"""What is said of all: numbers in an observation, the same padded, units of both first layers and how many of them are
the actor's (padded), where their bias begins, where a thread has observations, outputs of the first layers and slopes
by them; actions padded, where a thread has logits, values and scratch; whether units are tanh, not ReLU; where a
thread has zeros, as many as a row can be long; how many numbers of an observation the actor sees."""


class NetworkPlan(NamedTuple):
    """A layout as kernels read it."""

    sizes: np.ndarray
    """int64[15]"""
    layers: np.ndarray
    """int64[2, most layers, 11], of actor and critic without their first ones"""
    counts: np.ndarray
    """int64[2], how many each has"""


class _Places:
    """Hands out places, one after the other."""

    def __init__(self) -> None:
        self.end = 0

    def take(self, *shape: int) -> int:
        """Return where there is room for an array."""
        start = self.end
        self.end += padded(int(np.prod(shape)))
        return start


class Layout:
    """All parameters in one vector, weights as float32[inputs, units], rows and columns padded with zeros.

    The first layers of actor and critic are one, which reads the observation once. Padding stays 0, as its slopes are.

    Args:
        parameters: whose sizes.
        size: of an observation.
        privileged: how many inputs at the end the critic alone has.
        tanh: whether units are tanh; else ReLU.

    Attributes:
        plan: for kernels.
        size: of the vector.
        room: numbers that a thread needs to compute in.
    """

    def __init__(self, parameters: FlatParameters, size: int, privileged: int, tanh: bool) -> None:
        numbers = parameters.networks(torch.arange(parameters.size))  # which number of the flat vector stands where
        networks, self._seen = numbers, (size - privileged, size)
        towers = networks.actor, networks.critic
        sizes = np.zeros(15, np.int64)
        counts = np.array([len(tower) - 1 for tower in towers])
        layers = np.zeros((2, counts.max(), 11), np.int64)
        vector, room = _Places(), _Places()
        split = padded(len(networks.actor[0].bias))
        units = split + padded(len(networks.critic[0].bias))
        width, actions = padded(size), padded(len(networks.actor[-1].bias))
        vector.take(width, units)
        bias = vector.take(units)
        x, first, first_slopes = room.take(CHUNK, width), room.take(CHUNK, units), room.take(CHUNK, units)
        logits, values = room.take(CHUNK, actions), room.take(CHUNK)
        scratch = room.take(3, actions)
        nothing = room.take(max(padded(len(layer.bias)) for tower in towers for layer in tower))
        sizes[:] = (
            size, width, units, split, bias, x, first, first_slopes, actions, logits, values, scratch, tanh, nothing,
            self._seen[0],
        )  # fmt: skip
        for number, (tower, start) in enumerate(zip(towers, (0, split), strict=True)):
            inputs, row, at, slopes = padded(len(tower[0].bias)), units, first + start, first_slopes + start
            for place, layer in enumerate(tower[1:]):
                last = place == len(tower) - 2
                n = 1 if last and number == 1 else padded(len(layer.bias))
                to = (logits, values)[number] if last else room.take(CHUNK, n)
                to_slopes = to if last else room.take(CHUNK, n)
                weight, of_bias, turned = vector.take(inputs, n), vector.take(n), room.take(n, inputs)
                depth = layer.weight.shape[1]
                layers[number, place] = depth, inputs, n, weight, of_bias, turned, at, row, slopes, to, to_slopes
                inputs, row, at, slopes = n, n, to, to_slopes
        self.plan = NetworkPlan(sizes, layers, counts)
        self.size, self.room = vector.end, room.end
        self._places = np.zeros(parameters.size, np.int64)
        for flat, places in self._parts(np.arange(self.size), numbers):
            self._places[flat] = places

    def vector(self) -> np.ndarray:
        """Return a vector of zeros."""
        return aligned((self.size,))

    def _parts(self, vector: np.ndarray, networks: Networks) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield each weight and each bias of networks beside the part of a vector where it stands."""
        _, width, units, split, bias = self.plan.sizes[:5].tolist()
        whole = vector[: width * units].reshape(width, units)
        starts = (0, split)
        for number, tower in enumerate((networks.actor, networks.critic)):
            for place, layer in enumerate(tower):
                n, depth = layer.weight.shape
                if place == 0:
                    start, seen = starts[number], self._seen[number]
                    weight, of_bias = whole[:seen, start : start + n], vector[bias + start : bias + start + n]
                else:
                    _, inputs, columns, at, bias_at = self.plan.layers[number, place - 1, :5].tolist()
                    weight = vector[at : at + inputs * columns].reshape(inputs, columns)[:depth, :n]
                    of_bias = vector[bias_at : bias_at + n]
                yield layer.weight.numpy(), weight.T
                yield layer.bias.numpy(), of_bias

    def pack(self, flat: np.ndarray, vector: np.ndarray) -> None:
        """Write parameters (float32[parameters], in the policy's order) into a vector."""
        vector[self._places] = flat

    def unpack(self, vector: np.ndarray, flat: np.ndarray) -> None:
        """Write a vector into parameters."""
        np.take(vector, self._places, out=flat)
