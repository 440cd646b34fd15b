"""A policy whose critic sees more than its actor, for games with hidden dice. Needs the extra ``train``.

Observations are those of a seat, followed by ``privileged`` numbers, as ``SB3VecEnv(game, num_envs, privileged=True)``
makes them. The actor reads what a seat may know, the critic everything. Only the actor plays later, with or without the
privileged numbers.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor, MlpExtractor
from torch import nn

from dicegym.errors import ParameterError


class AsymmetricExtractor(MlpExtractor):
    """The hidden layers of the actor, over the first numbers of an observation, and of the critic, over all.

    The actor does not see the last ``privileged`` of ``width`` numbers; see ``MlpExtractor`` of Stable-Baselines3.
    """

    def __init__(
        self,
        width: int,
        privileged: int,
        net_arch: list[int] | dict[str, list[int]],
        activation_fn: type[nn.Module],
        device: torch.device | str = "auto",
    ) -> None:
        super().__init__(width, net_arch, activation_fn, device)
        self.seen = width - privileged
        """Count of numbers that the actor reads."""
        narrow = MlpExtractor(self.seen, net_arch, activation_fn, device)
        self.policy_net, self.latent_dim_pi = narrow.policy_net, narrow.latent_dim_pi

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Return the actor's features, float[n, latent_dim_pi], for float[n, at least `seen`]."""
        hidden: torch.Tensor = self.policy_net(features[:, : self.seen])
        return hidden


class AsymmetricPolicy(MaskableActorCriticPolicy):
    """An actor that sees what a seat may know, and a critic that sees all dice.

    Args:
        privileged: count of the last numbers of an observation that only the critic reads.
        **arguments: of sb3-contrib's ``MaskableActorCriticPolicy``.

    Raises:
        ParameterError: an observation has fewer numbers, or there is a features extractor, which would mix them.
    """

    def __init__(self, *args: Any, privileged: int = 0, **arguments: Any) -> None:
        self.privileged = privileged
        if arguments.get("features_extractor_class", FlattenExtractor) is not FlattenExtractor:
            raise ParameterError(
                "a privileged critic cannot have a features extractor, which would show the actor what it may not "
                "know: leave out one of them"
            )
        super().__init__(*args, **arguments)

    def _build_mlp_extractor(self) -> None:
        if not 0 <= self.privileged < self.features_dim:
            raise ParameterError(
                f"invalid privileged={self.privileged!r}: observations have {self.features_dim} numbers, so give a "
                "smaller whole number"
            )
        self.mlp_extractor = AsymmetricExtractor(
            self.features_dim, self.privileged, self.net_arch, self.activation_fn, self.device
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"privileged": self.privileged}
