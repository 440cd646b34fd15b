"""Tables of Liar's Dice set up by hand: what the tests of both games build their cases with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dicegym
from dicegym.engine.game import Game


def counts(faces: Sequence[int]) -> list[int]:
    return [list(faces).count(face) for face in range(1, 7)]


def bid(quantity: int, face: int) -> int:
    """The ordinary action that bids."""
    return (quantity - 1) * 6 + face - 1


def table(name: str, hands: Sequence[Sequence[int]], player: int = 0, **fields: Any) -> tuple[Game, Any]:
    """Return a game and its state at the beginning of a hand in which everybody holds ``hands``."""
    game = dicegym.game(name, players=len(hands), dice=fields.pop("dice", 5))
    state = game.new_game(7)[0]
    state["player"] = player
    for seat, faces in enumerate(hands):
        state["hands"][seat] = counts(faces)
        state["left"][seat] = state["rolled"][seat] = len(faces)
    for field, value in fields.items():
        state[field] = value
    return game, state


def left(state: Any) -> list[int]:
    """The dice that each seat has left."""
    return list(state["left"][: state["players"]].tolist())


def legal(game: Game, state: Any) -> list[int]:
    return list(np.flatnonzero(game.legal(state)).tolist())
