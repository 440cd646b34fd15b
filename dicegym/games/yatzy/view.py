"""What a player of Yatzy may know, as plain values, and a record made of it again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.yatzy.tables import BOXES, SEATS, UPPER


class View(NamedTuple):
    """What a player may know: all that lies on the table."""

    seat: int
    player: int
    """The seat to move."""
    round_number: int
    rolls_left: int
    dice: tuple[int, ...]
    """The face in each of five places."""
    scores: tuple[tuple[int, ...], ...]
    """By seat and box (from 0): points, -1 while the box is open."""


def view(state: Any, seat: int) -> View:
    """Return the `View` of ``seat``."""
    players = int(state["players"])
    return View(
        seat,
        int(state["player"]),
        int(state["round_number"]),
        int(state["rolls_left"]),
        tuple(state["dice"].tolist()),
        tuple(map(tuple, state["scores"][:players].tolist())),
    )


def read_fields(shown: View) -> dict[str, Any]:
    """Return the fields of the record that ``shown`` tells, by their names.

    Exported bots read a standing with it, so it needs no more than the attributes of a `View`.
    """
    players = len(shown.scores)
    scores = np.full((SEATS, BOXES), -1, np.int64)
    scores[:players] = shown.scores
    points = np.maximum(scores, 0)
    return {
        "players": players,
        "player": shown.player,
        "round_number": shown.round_number,
        "dice": shown.dice,
        "rolls_left": shown.rolls_left,
        "scores": scores,
        "totals": points.sum(axis=1),
        "upper": points[:, :UPPER].sum(axis=1),
        "over": bool((scores[:players] >= 0).all()),
    }


def record_of(game: Game, shown: View) -> Any:
    """Return a record that looks like ``shown``; what nobody may know is as in a new game.

    ``shown`` must have as many seats as ``game``, and values that a game can have.
    """
    state = game.new_states(1)[0]
    for name, value in read_fields(shown).items():
        state[name] = value
    return state
