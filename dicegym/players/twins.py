"""Compiled twins: agents that live beside the rules too, so that a batch plays them without leaving its loop.

A game's ``twins.py`` declares them (`dicegym.engine.twins.twin`). A twin chooses as its file does, move for move; one
that draws chooses with the same probabilities. It stands in for the file wherever the name of a shipped agent is given
and its source is what it was made of: an edited file, or one of the same name in another folder, plays itself.
"""

from __future__ import annotations

from typing import Any

from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.players.roster import agent, resolve
from dicegym.players.twin_player import TwinPlayer, source_hash, twin_numbers, twin_of

__all__ = ["TwinPlayer", "opponent", "source_hash", "twin_numbers"]


def opponent(game: Game, spec: Any, trust: bool = False) -> Player:
    """Return the player that ``spec`` names, as `dicegym.agent` does, but its compiled twin if it has one.

    ``trust`` is as for `dicegym.agent`.

    Raises:
        UnknownNameError, ParameterError, AgentError, ModelError, DependencyError: see `dicegym.agent`.
    """
    name = spec.strip() if isinstance(spec, str) else ""
    origin = resolve(game, name) if name in twin_numbers(game) else None
    twin = twin_of(game, origin, name) if isinstance(origin, Source) else None
    return twin or agent(game, spec, trust=trust)
