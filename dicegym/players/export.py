"""The way back: any player as a file in its game's original bot interface."""

from __future__ import annotations

from dicegym.core import Game
from dicegym.errors import ParameterError
from dicegym.players import Player


def export_source(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays as ``player`` does.

    Args:
        player: any player; a learned one plays its best action.
        game: the game with its parameters.
        form: the file name of the original interface, such as ``hog.py``.

    Raises:
        ParameterError: the game has no such form.
        AgentError, ModelError: the player cannot play the game.
    """
    forms: tuple[str, ...] = game.adapter.ENTRY_FILES
    if form not in forms:
        raise ParameterError(f"{game.rules.title} has no bots called {form!r}: export as {' or '.join(forms)}")
    source: str = game.adapter.export(player, game, form)
    return source
