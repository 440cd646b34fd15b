"""All that may be chosen in a state, the best first: with what each is worth, and how sure that is."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.marks import figure, mark_of, titled
from dicegym.columns import plain_table
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.worth import Valuer

TOP = 10
"""Choices that are shown unless another number is asked for."""


class RankedAction(NamedTuple):
    """One legal action, and what it is worth to the player to move."""

    action: int
    name: str
    value: float
    """nan where the valuer leaves it out."""
    behind: float
    """By how much it is worth less than the best."""
    error: float
    """Standard error of ``value``; 0 where that is computed."""
    behind_error: float
    """Standard error of ``behind``."""


class Hint(NamedTuple):
    """All legal actions of a state, the best first; those that the valuer leaves out come last."""

    game: Game
    seat: int
    """Who is to move."""
    valuer: Valuer
    choices: tuple[RankedAction, ...]

    def table(self, top: int | None = TOP) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows of the best ``top`` choices, all of them if None."""
        unit = self.valuer.unit
        estimated = any(one.error > 0 for one in self.choices)
        titles = ["", "choice", titled(unit), "behind", *(["± error"] if estimated else []), ""]
        rows = []
        for place, one in enumerate(self.choices[:top], 1):
            known = not math.isnan(one.value)
            mark = mark_of(one.behind, unit, one.behind_error) if known else None
            rows.append(
                [
                    str(place),
                    one.name,
                    figure(one.value, unit) if known else "not known",
                    figure(one.behind, unit) if known and place > 1 else "",
                    *([figure(one.error, unit) if one.error > 0 else ""] if estimated else []),
                    "" if mark is None else mark.sign,
                ]
            )
        return titles, rows

    def lines(self, top: int | None = TOP) -> list[str]:
        """Return the table, how sure it is, and how many choices it leaves out."""
        found = plain_table(*self.table(top))
        left_out = 0 if top is None else max(len(self.choices) - top, 0)
        if left_out:
            found.append(f"({left_out} more)")
        seen = "with everything in sight" if self.valuer.sees_all else "by what the player to move may know"
        found.append(f"Values of source {self.valuer.name}, {seen}, are {self.valuer.sure}.")
        return found


def hint(game: Game, state: Any, valuer: Valuer) -> Hint:
    """Return all legal actions of a state with what they are worth, the best first.

    Args:
        game: the game.
        state: its record.
        valuer: who says what they are worth (`dicegym.analysis.valuer`).

    Raises ParameterError if the game is over.
    """
    if state["over"]:
        raise ParameterError("the game is over: there is nothing left to choose")
    asked = valuer.action_values(state)
    legal = np.flatnonzero(game.legal(state))
    known = ~np.isnan(asked.values[legal])
    order = [*legal[known][np.argsort(-asked.values[legal][known], kind="stable")], *legal[~known]]
    first = int(order[0])
    best, best_error = float(asked.values[first]), float(asked.errors[first])
    choices = []
    for action in map(int, order):
        value, error = float(asked.values[action]), float(asked.errors[action])
        if asked.behind is not None:
            behind_error = float(asked.behind[action])
        else:
            behind_error = 0.0 if action == first else math.hypot(error, best_error)
        choices.append(RankedAction(action, game.action_name(action), value, best - value, error, behind_error))
    return Hint(game, int(state["player"]), valuer, tuple(choices))
