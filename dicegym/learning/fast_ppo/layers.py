"""The networks of a policy as views of one vector, and whether they are of a kind that `FastMaskablePPO` computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor

ACTIVATIONS = (torch.nn.ReLU, torch.nn.Tanh)
"""What may stand between layers."""


class Dense(NamedTuple):
    """A linear layer, as views of a vector of parameters or of their gradient."""

    weight: torch.Tensor
    """float32[units, inputs]"""
    bias: torch.Tensor
    """float32[units]"""


@dataclass(frozen=True)
class Networks:
    """The linear layers of actor and critic; the last of each is its head."""

    actor: list[Dense]
    critic: list[Dense]


def why_not(model: MaskablePPO) -> str:
    """Return why a model's networks cannot be computed here; an empty text if they can."""
    policy, space = model.policy, model.observation_space
    if type(policy) is not MaskableActorCriticPolicy and not hasattr(policy, "privileged"):
        return f"its policy is a {type(policy).__name__}"
    if not isinstance(space, Box) or len(space.shape) != 1 or space.dtype != np.float32:
        return f"its observations are {space}, and no vector of float32"
    if not isinstance(model.action_space, Discrete) or model.action_space.start != 0:
        return f"its actions are {model.action_space}"
    if model.device.type != "cpu":
        return f"its networks are on {model.device}"
    if type(policy.features_extractor) is not FlattenExtractor or not policy.share_features_extractor:
        return f"its features extractor is a {type(policy.features_extractor).__name__}"
    for net in (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net):
        modules = list(net)
        kinds = {type(one) for one in modules[1::2]}
        if not modules or any(type(one) is not torch.nn.Linear or one.bias is None for one in modules[::2]):
            return "its networks are not linear layers with one activation after each"
        if len(modules) % 2 or not kinds <= {policy.activation_fn} or policy.activation_fn not in ACTIVATIONS:
            return f"between its layers stands {', '.join(sorted(one.__name__ for one in kinds))}"
    if list(policy.parameters()) != [each for layer in _modules(policy) for each in (layer.weight, layer.bias)]:
        return "its policy has parameters besides"
    optimizer = policy.optimizer
    usual = {"weight_decay": 0, "amsgrad": False, "maximize": False}
    group = optimizer.param_groups[0]
    if type(optimizer) is not torch.optim.Adam or len(optimizer.param_groups) > 1:
        return f"its optimizer is {type(optimizer).__name__}"
    if unusual := [f"{name}={group[name]}" for name, value in usual.items() if group[name] != value]:
        return f"its optimizer has {', '.join(unusual)}"
    if model.rollout_buffer_class is not None and model.rollout_buffer_class.__module__.partition(".")[0] not in (
        "sb3_contrib",
    ):
        return f"its rollout buffer is a {model.rollout_buffer_class.__name__}"
    return ""


def _modules(policy: Any) -> list[torch.nn.Linear]:
    """Return the linear layers of a policy in the order of its parameters."""
    extractor = policy.mlp_extractor
    hidden = [one for net in (extractor.policy_net, extractor.value_net) for one in list(net)[::2]]
    return [*hidden, policy.action_net, policy.value_net]


class FlatParameters:
    """All parameters of a policy, and what Adam remembers of them, each as one vector of float32.

    The policy's own parameters become views of the vector, as do the optimizer's tensors: whatever else reads or
    writes them (files, callbacks, ``load_state_dict``) goes on as before.

    Args:
        policy: of a model that `why_not` has nothing against.
    """

    def __init__(self, policy: MaskableActorCriticPolicy) -> None:
        self._policy = policy
        self._parameters = list(policy.parameters())
        self._shapes = [tuple(one.shape) for one in self._parameters]
        self.size = sum(map(math.prod, self._shapes))
        self.values, self.first, self.second = (torch.zeros(self.size) for _ in range(3))
        self._views = {id(one): self._split(one) for one in (self.values, self.first, self.second)}
        self.steps = 0
        self.adopt()

    def _split(self, vector: torch.Tensor) -> list[torch.Tensor]:
        """Return the views of a vector that have the parameters' shapes, in their order."""
        ends = list(accumulate(math.prod(shape) for shape in self._shapes))
        return [vector[end - math.prod(shape) : end].view(shape) for end, shape in zip(ends, self._shapes, strict=True)]

    def networks(self, vector: torch.Tensor) -> Networks:
        """Return a vector of this size as layers."""
        views = self._split(vector)
        layers = [Dense(*pair) for pair in zip(views[::2], views[1::2], strict=True)]
        hidden = len(list(self._policy.mlp_extractor.policy_net)) // 2
        return Networks([*layers[:hidden], layers[-2]], [*layers[hidden:-2], layers[-1]])

    def adopt(self) -> None:
        """Take over what others have put in the place of views: loaded weights, an optimizer's loaded memory."""
        state = self._policy.optimizer.state
        for parameter, value, first, second in zip(
            self._parameters, *(self._views[id(one)] for one in (self.values, self.first, self.second)), strict=True
        ):
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
        """Tell the optimizer how many steps were taken in all."""
        for parameter in self._parameters:
            self._policy.optimizer.state[parameter]["step"] = torch.tensor(float(self.steps))

    def next_step(self, factor: float) -> tuple[float, ...]:
        """Count a step; return what `dicegym.learning.fast_ppo.kernels.adam` asks for, from ``factor`` on."""
        group = self._policy.optimizer.param_groups[0]
        self.steps += 1
        beta1, beta2 = map(float, group["betas"])
        rate = float(group["lr"]) / (1 - beta1**self.steps)
        return factor, rate, beta1, beta2, math.sqrt(1 - beta2**self.steps), float(group["eps"])
