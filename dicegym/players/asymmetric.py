"""A policy whose critic sees more than its actor: for learning games with hidden dice. Needs the extra ``train``.

Observations are those of the game's seats with ``privileged`` numbers behind them, as
``SB3VecEnv(game, num_envs, privileged=True)`` makes them. The actor reads what a seat may know, the critic everything.
What plays later is the actor alone, which takes observations with or without them.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor, MlpExtractor
from torch import nn

from dicegym.errors import ParameterError


class AsymmetricExtractor(MlpExtractor):
    """The hidden layers: of the actor over the first numbers of an observation, of the critic over all of them.

    Of ``width`` numbers the actor does not see the last ``privileged``; the rest is as of Stable-Baselines3's
    ``MlpExtractor``.
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
        """Numbers that the actor reads."""
        narrow = MlpExtractor(self.seen, net_arch, activation_fn, device)
        self.policy_net, self.latent_dim_pi = narrow.policy_net, narrow.latent_dim_pi

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Return what the actor makes of the first numbers: float[n, latent_dim_pi] of float[n, at least `seen`]."""
        hidden: torch.Tensor = self.policy_net(features[:, : self.seen])
        return hidden


class AsymmetricPolicy(MaskableActorCriticPolicy):
    """An actor that sees what a seat may know, beside a critic that sees everybody's dice.

    Args:
        privileged: how many of the last numbers of an observation only the critic reads; 0: none.
        **arguments: of sb3-contrib's ``MaskableActorCriticPolicy``.

    Raises:
        ParameterError: there are fewer numbers, or a features extractor would mix them before they are separated.
    """

    def __init__(self, *args: Any, privileged: int = 0, **arguments: Any) -> None:
        self.privileged = privileged
        if arguments.get("features_extractor_class", FlattenExtractor) is not FlattenExtractor:
            raise ParameterError(
                "a privileged critic and a features extractor cannot go together, as that would show the actor what "
                "it may not know: leave out one of them"
            )
        super().__init__(*args, **arguments)

    def _build_mlp_extractor(self) -> None:
        if not 0 <= self.privileged < self.features_dim:
            raise ParameterError(
                f"privileged={self.privileged!r} of {self.features_dim} numbers leave the actor none: give a whole "
                "number below that"
            )
        self.mlp_extractor = AsymmetricExtractor(
            self.features_dim, self.privileged, self.net_arch, self.activation_fn, self.device
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"privileged": self.privileged}
