"""The list of games and environments: the one line that a new game adds outside its folder.

Nothing here imports a game, so that ``import dicegym`` stays light.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

NAMESPACE = "dicegym"


class Environment(NamedTuple):
    """One registered environment of a game."""

    id: str
    """Name and version without the namespace, such as ``Hog-v0``."""
    game: str
    settings: dict[str, Any] = {}  # noqa: RUF012 - read only: shared by no caller that writes
    """Arguments that set this environment apart from the game's others."""
    multi: bool = True
    """Whether there is a PettingZoo environment too."""

    @property
    def full_id(self) -> str:
        """The identifier for ``gymnasium.make`` and ``pettingzoo.make``."""
        return f"{NAMESPACE}/{self.id}"

    @property
    def module_name(self) -> str:
        """The name in `dicegym.pettingzoo`: ``LiarsDice-v0`` -> ``liars_dice_v0``."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.id).lower().replace("-", "_")


ENVIRONMENTS: tuple[Environment, ...] = (
    Environment("Hog-v0", "hog"),
    Environment("Yatzy-v0", "yatzy", {"players": 2}),
    Environment("YatzySolo-v0", "yatzy", {"players": 1}, multi=False),
    Environment("LiarsDice-v0", "liarsdice"),
    Environment("LiarsDiceSpotOn-v0", "liarsdice_spot_on"),
    Environment("Lucky-v0", "lucky"),
)

GAMES: tuple[str, ...] = tuple(dict.fromkeys(environment.game for environment in ENVIRONMENTS))


def rules_module(game: str) -> str:
    """Return the dotted name of the rules of a registered game; its other parts stand beside them."""
    return f"{NAMESPACE}.games.{game}.rules"


def register_gymnasium() -> None:
    """Register every environment with Gymnasium, single and batch."""
    import gymnasium

    for environment in ENVIRONMENTS:
        if environment.full_id not in gymnasium.registry:
            gymnasium.register(
                environment.full_id,
                entry_point="dicegym.envs.single:SingleAgentEnv",
                vector_entry_point="dicegym.envs.vector:BatchEnv",
                kwargs={"game": environment.game, **environment.settings},
            )


def register_pettingzoo() -> None:
    """Register every multi-agent environment with PettingZoo."""
    import pettingzoo

    forms = (
        ("aec", pettingzoo.aec_registry, "dicegym.envs.multi:TurnEnv"),
        ("parallel", pettingzoo.parallel_registry, "dicegym.envs.multi:parallel_env"),
    )
    for environment in ENVIRONMENTS:
        for form, registry, entry_point in forms:
            if environment.multi and environment.full_id not in registry:
                kwargs = {"game": environment.game, **environment.settings}
                pettingzoo.register(form, environment.full_id, entry_point, kwargs=kwargs)
