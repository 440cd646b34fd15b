"""A policy's networks as vectors: which kinds `FastMaskablePPO` supports, and their layout for its passes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.spaces import Discrete
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy, MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor, FlattenExtractor

from dicegym.engine.jit import COMPILED
from dicegym.learning.fast_ppo.vectors import pad_size

ACTIVATIONS = (torch.nn.ReLU, torch.nn.Tanh)
"""Supported activations."""
POLICIES = (MaskableActorCriticPolicy, MaskableMultiInputActorCriticPolicy)
CHUNK = 128
"""Decisions in one pass, so that all outputs fit into a cache.

With 256 units in a layer, passes of 256 decisions took up to 1.5 times as long per decision; with 64 units the size
made no difference.
"""

DEPTH, INPUTS, UNITS, WEIGHT, BIAS, TURNED, FROM, FROM_ROW, FROM_SLOPES, TO, TO_SLOPES = range(11)
"""Columns for a layer: inputs, padded inputs, padded units, offsets of weight, bias and (in a thread's room) transposed
weight, offset and row stride of its inputs, offset of gradients by them, and the offsets of its outputs and gradients
by them. A layer of one unit stores its weight as a row, and ``UNITS`` is 1."""
SIZE, WIDTH, FIRST_UNITS, SPLIT, FIRST_BIAS, X, FIRST, FIRST_SLOPES = range(8)
ACTIONS, LOGITS, VALUES, SCRATCH, TANH, NOTHING, SEEN = range(8, 15)
"""Sizes and offsets of the networks: observation size, padded size, padded units of both first layers, and of the
actor's, offset of their bias; offsets in a thread's room of observations, outputs of the first layers and gradients by
them; padded actions; offsets of logits, values and scratch; whether units are tanh, not ReLU; offset of a row of zeros;
inputs that the actor sees."""


def why_not(model: MaskablePPO) -> str:
    """Return why a model is not supported; an empty text if it is."""
    policy = model.policy
    if not COMPILED:
        return "Numba's compilation is off"
    if type(policy) not in POLICIES and not hasattr(policy, "privileged"):
        return f"its policy is a {type(policy).__name__}"
    if not isinstance(model.action_space, Discrete) or model.action_space.start != 0:
        return f"its actions are {model.action_space}"
    if model.device.type != "cpu":
        return f"its networks are on {model.device}"
    if not policy.share_features_extractor:
        return "share_features_extractor is False"
    if not _only_flattens(policy.features_extractor):
        return f"its features extractor is a {type(policy.features_extractor).__name__}"
    for net in (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net):
        modules = list(net)
        kinds = {type(one) for one in modules[1::2]}
        if not modules or any(type(one) is not torch.nn.Linear or one.bias is None for one in modules[::2]):
            return "its networks are not linear layers with one activation after each"
        if len(modules) % 2 or not kinds <= {policy.activation_fn} or policy.activation_fn not in ACTIVATIONS:
            return f"its activation is {', '.join(sorted(one.__name__ for one in kinds))}"
    if list(policy.parameters()) != [each for layer in _modules(policy) for each in (layer.weight, layer.bias)]:
        return "its policy has more parameters than its layers"
    if not all(each.requires_grad for each in policy.parameters()):
        return "some of its parameters are frozen"
    optimizer = policy.optimizer
    usual = {"weight_decay": 0, "amsgrad": False, "maximize": False}
    group = optimizer.param_groups[0]
    if type(optimizer) is not torch.optim.Adam or len(optimizer.param_groups) > 1:
        return f"its optimizer is {type(optimizer).__name__}"
    if unusual := [f"{name}={group[name]}" for name, value in usual.items() if group[name] != value]:
        return f"its optimizer has {', '.join(unusual)}"
    buffer = model.rollout_buffer_class
    if buffer is not None and not buffer.__module__.startswith("sb3_contrib."):
        return f"its rollout buffer is a {buffer.__name__}"
    return ""


def _only_flattens(extractor: torch.nn.Module) -> bool:
    """Return whether a features extractor only flattens observations."""
    parts = extractor.extractors.values() if type(extractor) is CombinedExtractor else ()
    return type(extractor) is FlattenExtractor or (bool(parts) and all(type(one) is torch.nn.Flatten for one in parts))


def _modules(policy: Any) -> list[torch.nn.Linear]:
    """Return the linear layers of a policy in the order of its parameters."""
    extractor = policy.mlp_extractor
    hidden = [one for net in (extractor.policy_net, extractor.value_net) for one in list(net)[::2]]
    return [*hidden, policy.action_net, policy.value_net]


class FlatParameters:
    """All parameters of a policy, and Adam's moments of them, each as one vector of float32.

    The policy's parameters and the optimizer's tensors become views of the vectors, so that files, callbacks and
    ``load_state_dict`` work as before.

    Args:
        policy: of a model that `why_not` accepts.

    Attributes:
        shapes: of the parameters in order, alternately weight (units, inputs) and bias (units,).
        size: total number of parameters.
    """

    def __init__(self, policy: MaskableActorCriticPolicy) -> None:
        self._policy = policy
        self._parameters = list(policy.parameters())
        self.shapes = [tuple(one.shape) for one in self._parameters]
        sizes = [math.prod(shape) for shape in self.shapes]
        self.size = sum(sizes)
        self.values, self.first, self.second = vectors = [torch.zeros(self.size) for _ in range(3)]
        self._views = [
            [part.view(shape) for part, shape in zip(torch.split(one, sizes), self.shapes, strict=True)]
            for one in vectors
        ]
        self.steps = 0
        self.adopt()

    @property
    def towers(self) -> tuple[list[int], list[int]]:
        """The layers of actor and critic by their numbers in the order of the parameters; the last is the head."""
        hidden, layers = len(list(self._policy.mlp_extractor.policy_net)) // 2, len(self.shapes) // 2
        return [*range(hidden), layers - 2], [*range(hidden, layers - 2), layers - 1]

    def adopt(self) -> None:
        """Copy tensors that have replaced views, such as loaded weights or optimizers, and restore the views."""
        state = self._policy.optimizer.state
        for parameter, value, first, second in zip(self._parameters, *self._views, strict=True):
            if parameter.data_ptr() != value.data_ptr():
                value.copy_(parameter.data)
                parameter.data = value
            known = state[parameter]
            for name, view in (("exp_avg", first), ("exp_avg_sq", second)):
                found = known.get(name)
                if found is None:
                    view.zero_()
                elif found.data_ptr() != view.data_ptr():
                    view.copy_(found)
                known[name] = view
            self.steps = int(known.setdefault("step", torch.tensor(0.0)))

    def note_steps(self) -> None:
        """Set the number of steps in the optimizer."""
        for parameter in self._parameters:
            self._policy.optimizer.state[parameter]["step"] = torch.tensor(float(self.steps))

    def next_step(self, factor: float) -> tuple[float, ...]:
        """Count a step; return the arguments of `dicegym.learning.fast_ppo.kernels.adam` from ``factor`` on."""
        group = self._policy.optimizer.param_groups[0]
        self.steps += 1
        beta1, beta2 = map(float, group["betas"])
        rate = float(group["lr"]) / (1 - beta1**self.steps)
        return factor, rate, beta1, beta2, math.sqrt(1 - beta2**self.steps), float(group["eps"])


class NetworkPlan(NamedTuple):
    """A layout in the form for kernels."""

    sizes: np.ndarray
    """int64[15]"""
    layers: np.ndarray
    """int64[2, most layers, 11], of actor and critic, without their first layers"""
    counts: np.ndarray
    """int64[2], the number of layers of each"""


class _Places:
    """Allocates offsets for arrays in one vector."""

    def __init__(self) -> None:
        self.end = 0

    def take(self, *shape: int) -> int:
        start = self.end
        self.end += pad_size(int(np.prod(shape)))
        return start


class Layout:
    """All parameters in one vector, weights as float32[inputs, units], rows and columns padded with zeros.

    The first layers of actor and critic are joined, and read the observation once. Padding stays 0, as its gradient is.

    Args:
        parameters: of the policy.
        size: of an observation.
        privileged: number of inputs at the end that only the critic sees.
        tanh: whether units are tanh; otherwise ReLU.

    Attributes:
        plan: for kernels.
        size: of the vector.
        room: numbers in a thread's working memory.
    """

    def __init__(self, parameters: FlatParameters, size: int, privileged: int, tanh: bool) -> None:
        towers, shapes = parameters.towers, parameters.shapes[::2]
        sizes = np.zeros(15, np.int64)
        counts = np.array([len(tower) - 1 for tower in towers])
        layers = np.zeros((2, counts.max(), 11), np.int64)
        vector, room = _Places(), _Places()
        split, critic_units, actions = (pad_size(shapes[at][0]) for at in (towers[0][0], towers[1][0], towers[0][-1]))
        width, units = pad_size(size), split + critic_units
        first_weight, first_bias = vector.take(width, units), vector.take(units)
        x, first, first_slopes = room.take(CHUNK, width), room.take(CHUNK, units), room.take(CHUNK, units)
        logits, values = room.take(CHUNK, actions), room.take(CHUNK)
        scratch = room.take(3, actions)
        nothing = room.take(max(pad_size(n) for n, _ in shapes))
        sizes[:] = (
            size, width, units, split, first_bias, x, first, first_slopes, actions, logits, values, scratch, tanh,
            nothing, size - privileged,
        )  # fmt: skip
        places: dict[int, tuple[int, int, int]] = {}  # layer -> offsets of weight and bias, row stride
        for number, (tower, start) in enumerate(zip(towers, (0, split), strict=True)):
            places[tower[0]] = first_weight + start, first_bias + start, units
            inputs, row, at, slopes = pad_size(shapes[tower[0]][0]), units, first + start, first_slopes + start
            for place, layer in enumerate(tower[1:]):
                last = place == len(tower) - 2
                n = 1 if last and number == 1 else pad_size(shapes[layer][0])
                to = (logits, values)[number] if last else room.take(CHUNK, n)
                to_slopes = to if last else room.take(CHUNK, n)
                weight, bias, turned = vector.take(inputs, n), vector.take(n), room.take(n, inputs)
                depth = shapes[layer][1]
                layers[number, place] = depth, inputs, n, weight, bias, turned, at, row, slopes, to, to_slopes
                places[layer] = weight, bias, n
                inputs, row, at, slopes = n, n, to, to_slopes
        self.plan = NetworkPlan(sizes, layers, counts)
        self.size, self.room = vector.end, room.end
        parts: list[np.ndarray] = []  # the offset of each number of the flat vector
        for layer, (units, depth) in enumerate(shapes):
            weight, bias, row = places[layer]
            parts += [np.add.outer(np.arange(units), row * np.arange(depth)).ravel() + weight, np.arange(units) + bias]
        self._places = np.concatenate(parts)

    def pack(self, flat: np.ndarray, vector: np.ndarray) -> None:
        """Copy parameters (float32[parameters], in the policy's order) into a vector."""
        vector[self._places] = flat

    def unpack(self, vector: np.ndarray, flat: np.ndarray) -> None:
        """Copy a vector into parameters."""
        np.take(vector, self._places, out=flat)
