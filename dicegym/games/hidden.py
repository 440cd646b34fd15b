"""What of a state a seat may know at a table, and the record with all else taken out of it.

Hidden are the key, which names the dice to come, secret fields, and the private fields of the other seats, except those
that a game's ``controls.py`` calls ``OPEN``: what is rolled in the open is seen by everybody at a real table, though
programs of the original contest are not told of it. Analyses judge by what a table shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.parts import CONTROLS, part


def open_fields(game: Game) -> frozenset[str]:
    """Return the private fields of a game that everybody at a table sees all the same."""
    controls = part(game, CONTROLS)
    return frozenset() if controls is None else controls.OPEN & game.spec.private


def list_hidden_fields(game: Game) -> frozenset[str]:
    """Return the private fields of which a seat at a table knows its own entry alone."""
    return game.spec.private - open_fields(game)


def keep_known(game: Game, state: Any, seat: int) -> np.ndarray:
    """Return a copy of a record, as an array of one, in which all that ``seat`` may not know is zero."""
    states = game.new_states(1)
    states[0] = state
    states["key"] = 0
    for name in game.spec.secret:
        states[name] = 0
    others = [other for other in range(game.players) if other != seat]
    for name in list_hidden_fields(game):
        states[name][:, others] = 0
    return states
