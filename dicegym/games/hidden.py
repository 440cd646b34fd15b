"""What a seat at a table may know of a state, and a copy of the record without everything else.

The hidden parts are the key (it names all future dice), secret fields, and the private fields of other seats. Private
fields that a game's ``controls.py`` lists as ``OPEN`` are not hidden: at a real table everybody sees dice rolled in the
open, although programs of the original contest are not told them. Analyses use what a table shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.parts import CONTROLS, part


def open_fields(game: Game) -> frozenset[str]:
    """Return the private fields of a game that everybody at a table can see."""
    controls = part(game, CONTROLS)
    return frozenset() if controls is None else controls.OPEN & game.spec.private


def list_hidden_fields(game: Game) -> frozenset[str]:
    """Return the private fields in which a seat at a table sees only its own entry."""
    return game.spec.private - open_fields(game)


def keep_known(game: Game, state: Any, seat: int) -> np.ndarray:
    """Return a copy of a record, as an array of one, with zeros for everything that ``seat`` may not know."""
    states = game.new_states(1)
    states[0] = state
    states["key"] = 0
    for name in game.spec.secret:
        states[name] = 0
    others = [other for other in range(game.players) if other != seat]
    for name in list_hidden_fields(game):
        states[name][:, others] = 0
    return states
