"""What a seat has known in the course of a game: OpenSpiel's information states, which forget nothing.

As text it is the seat, what it sees now and a hash of what it saw and did before; as numbers, in games that have a
`dicegym.games.parts.Recall`, all of it.

A seat learns what its view shows when it is to move and, where the game has a public event, when that has passed: the
very moments in which a `dicegym.Player` is asked or told. So a player with a policy at our tables knows its
information state.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyspiel

from dicegym.engine.game import Game
from dicegym.games.parts import CHANCE, Recall, part

NOTHING = b""
"""The memory of a seat that has seen nothing yet."""
_SIZE = 12


def append_memory(memory: bytes, view: Any, action: int | None) -> bytes:
    """Return the memory of a seat that then saw ``view``, and chose ``action`` if it was to move."""
    return hashlib.blake2b(memory + repr((view, action)).encode(), digest_size=_SIZE).digest()


def information_state(seat: int, memory: bytes, view: Any) -> str:
    """Return the information state as text: the seat, a hash of all that it saw and did before, and what it sees."""
    return f"{seat} {memory.hex()} {view!r}"


def recall_of(game: Game) -> Recall | None:
    """Return what writes information states of a game as numbers, or None if it has none."""
    chance = part(game, CHANCE)
    return None if chance is None else chance.recall(game)


def information_tensor(
    game: Game, recall: Recall | None, shown: tuple[bytes, ...], state: Any, seat: int
) -> np.ndarray:
    """Return the information state as numbers: float32[recall.size].

    ``shown`` has the bytes of the record after each public event. Raises SpielError if the game has no such numbers.
    """
    if recall is None:
        raise pyspiel.SpielError(
            f"{game!r} has no information state tensor with perfect recall: use information_state_string, which has "
            "it, or observation_tensor, which shows the present alone"
        )
    return recall.write(np.frombuffer(b"".join(shown), game.spec.state), state, seat)
