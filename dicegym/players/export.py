"""The way back: any player as a file in its game's original bot interface."""

from __future__ import annotations

from dicegym.core import Game
from dicegym.errors import ParameterError
from dicegym.players import Player


def export_forms(game: Game) -> tuple[str, ...]:
    """Return the file names that bots of a game can be exported as; empty if they cannot."""
    forms: tuple[str, ...] = game.adapter.ENTRY_FILES if hasattr(game.adapter, "export") else ()
    return forms


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
    forms = export_forms(game)
    if not forms:
        raise ParameterError(f"players of {game.rules.title} cannot be written as bots: enter the model itself")
    if form not in forms:
        raise ParameterError(f"{game.rules.title} has no bots called {form!r}: export as {' or '.join(forms)}")
    source: str = game.adapter.export(player, game, form)
    return source
