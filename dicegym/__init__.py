"""dicegym: five real dice games as reinforcement-learning environments.

``import dicegym`` registers every environment with Gymnasium and PettingZoo, whether they are imported before or after
it. It loads nothing heavy: the names below are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dicegym import registration

if TYPE_CHECKING:
    from dicegym.engine.batch import Batch as Batch
    from dicegym.engine.game import Game as Game
    from dicegym.games import game as game
    from dicegym.pictures.drawing import draw as draw
    from dicegym.play.player import Player as Player
    from dicegym.play.turn import Turn as Turn
    from dicegym.players.model import save_model as save_model
    from dicegym.players.roster import agent as agent
    from dicegym.players.roster import agent_names as agent_names

__version__ = "0.1.0"

_HOMES = {
    "Batch": "dicegym.engine.batch",
    "Game": "dicegym.engine.game",
    "game": "dicegym.games",
    "Player": "dicegym.play.player",
    "Turn": "dicegym.play.turn",
    "agent": "dicegym.players.roster",
    "agent_names": "dicegym.players.roster",
    "draw": "dicegym.pictures.drawing",
    "save_model": "dicegym.players.model",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dicegym' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, loaded or not: what `help` and completion show."""
    return sorted(__all__)


registration.register()
