"""A bridge to OpenSpiel: our games for its algorithms, its policies in our games, and our agents as its bots.

``import dicegym.openspiel`` registers every game with OpenSpiel as ``dicegym_<game>``, with the game's parameters and
``players``::

    import pyspiel
    import dicegym.openspiel

    game = pyspiel.load_game("dicegym_liarsdice(dice=1)")

Needs the extra ``openspiel``. Raises DependencyError without it.
"""

from __future__ import annotations

from dicegym.errors import DependencyError

try:
    import pyspiel  # noqa: F401 - the one place that reports a missing package
except ImportError as error:
    raise DependencyError.for_extra("OpenSpiel", "openspiel", "dicegym.openspiel") from error

from dicegym.openspiel.bot import PlayerBot
from dicegym.openspiel.policy_player import SpielPlayer
from dicegym.openspiel.spiel_game import SpielGame, SpielState, load, register_games

__all__ = ["PlayerBot", "SpielGame", "SpielPlayer", "SpielState", "load"]

register_games()
