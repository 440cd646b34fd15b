"""The list of games and environments. A new game adds one line here.

Another package adds its game by an entry point, which names the environment and the module of the rules. The game's
name is the environment's in snake case::

    [project.entry-points."dicegym.games"]
    Pig-v0 = "dicegym_pig.rules"

Nothing here imports a game, so that ``import dicegym`` stays light.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, NamedTuple

NAMESPACE = "dicegym"
ENTRY_POINTS = "dicegym.games"
"""The group of entry points by which other packages register their games."""


class Environment(NamedTuple):
    """One registered environment of a game."""

    id: str
    """Name and version without the namespace, such as ``Hog-v0``."""
    game: str
    settings: dict[str, Any] = {}  # noqa: RUF012 - read only: shared by no caller that writes
    """Arguments of the game in this environment."""
    multi: bool = True
    """Whether there is a PettingZoo environment too."""
    rules: str = ""
    """Dotted name of the rules' module; empty for the package's own games."""

    @property
    def full_id(self) -> str:
        """The identifier for ``gymnasium.make`` and ``pettingzoo.make``."""
        return f"{NAMESPACE}/{self.id}"

    @property
    def module_name(self) -> str:
        """The name in `dicegym.pettingzoo`: ``LiarsDice-v0`` -> ``liars_dice_v0``."""
        return _snake_case(self.id).replace("-", "_")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


SHIPPED: tuple[Environment, ...] = (
    Environment("Hog-v0", "hog"),
    Environment("Yatzy-v0", "yatzy", {"players": 2}),
    Environment("YatzySolo-v0", "yatzy", {"players": 1}, multi=False),
    Environment("LiarsDice-v0", "liarsdice"),
    Environment("LiarsDiceSpotOn-v0", "liarsdice_spot_on"),
    Environment("Lucky-v0", "lucky"),
)
"""The environments that come with the package."""


def from_entry_points(points: Iterable[EntryPoint]) -> tuple[Environment, ...]:
    """Return the environments that other packages register; invalid ones are left out with a warning."""
    taken = {environment.id for environment in SHIPPED} | {environment.game for environment in SHIPPED}
    found = []
    for point in points:
        environment = Environment(point.name, _snake_case(point.name.partition("-v")[0]), rules=point.value)
        reason = ""
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*-v\d+", point.name):
            reason = "invalid name of an environment: use the form 'Pig-v0'"
        elif not re.fullmatch(r"\w+(\.\w+)*", point.value):
            reason = "invalid module: name the game's rules, such as 'dicegym_pig.rules'"
        elif taken & {environment.id, environment.game}:
            reason = "the name is taken: choose another for the game"
        elif find_spec(point.value.partition(".")[0]) is None:
            reason = "there is no such package: install it again, or remove what is left of it"
        if reason:
            told = f"the entry point {point.name} = {point.value!r} of {ENTRY_POINTS} adds no game: {reason}"
            warnings.warn(told, RuntimeWarning, stacklevel=2)
            continue
        taken |= {environment.id, environment.game}
        found.append(environment)
    return tuple(found)


ENVIRONMENTS: tuple[Environment, ...] = (*SHIPPED, *from_entry_points(entry_points(group=ENTRY_POINTS)))
"""All environments: the package's own, then those that installed packages add."""

GAMES: tuple[str, ...] = tuple(dict.fromkeys(environment.game for environment in ENVIRONMENTS))
_RULES = {environment.game: environment.rules for environment in ENVIRONMENTS if environment.rules}


def rules_module(game: str) -> str:
    """Return the dotted name of a registered game's rules; its other parts are beside them."""
    return _RULES.get(game, f"{NAMESPACE}.games.{game}.rules")


def is_shipped(game: str) -> bool:
    """Return whether a registered game, with its agents, comes with the package."""
    return game not in _RULES
