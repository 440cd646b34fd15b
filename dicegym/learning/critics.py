"""Value networks of those who begin with another's networks: a model that was taught may have next to none."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.learning.configuration import from_plain, to_plain
from dicegym.learning.settings import TrainingSettings

WIDE_ENOUGH = 1 / 4
"""A value network whose widest layer is a smaller part of the policy's was not meant to learn what states are worth."""
_CRITIC = ("mlp_extractor.value_net.", "value_net.")


def with_enough_critic(settings: TrainingSettings) -> TrainingSettings:
    """Return settings with a value network of the policy's sizes if theirs is hardly any; else the same object.

    Who is taught how to play learns no values, so such models have value networks of a few units. Whoever goes on
    from there by rewards does need them.
    """
    sizes = settings.network.net_arch
    policy = sizes.get("pi", []) if isinstance(sizes, dict) else []
    value = sizes.get("vf", []) if isinstance(sizes, dict) else []
    if max(value, default=0) >= WIDE_ENOUGH * max(policy, default=0):
        return settings
    plain = to_plain(settings)
    return from_plain(plain | {"network": plain["network"] | {"net_arch": {"pi": policy, "vf": policy}}})


def but_critic(weights: dict[str, Any], model: BaseAlgorithm) -> dict[str, Any]:
    """Return weights of a policy with those of the value network of ``model``, as they are, in place of their own."""
    own = {name: value for name, value in model.policy.state_dict().items() if name.startswith(_CRITIC)}
    return {name: value for name, value in weights.items() if not name.startswith(_CRITIC)} | own


def other_critic(weights: dict[str, Any], model: BaseAlgorithm) -> bool:
    """Return whether the value network in weights of a policy has other layers than that of ``model``."""
    own = {name: value.shape for name, value in model.policy.state_dict().items() if name.startswith(_CRITIC)}
    return own != {name: value.shape for name, value in weights.items() if name.startswith(_CRITIC)}
