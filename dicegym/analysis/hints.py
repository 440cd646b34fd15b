"""Help for players: what is best in a state, and a warning before a blunder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.valuers import (
    MARKS,
    SAME,
    amount,
    assess_state,
    figure,
    is_fair,
    mark_of,
    sure,
    threshold,
    unit_title,
)
from dicegym.columns import plain_table
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.worth import Valuer
from dicegym.pictures.watched import action_in
from dicegym.play.turn import Turn

TOP = 10
"""Choices that are shown unless another number is asked for."""
LEVEL = MARKS[-1].level
"""What a tutor warns of unless told otherwise: blunders."""


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
        titles = ["", "choice", unit_title(unit), "behind", *(["± error"] if estimated else []), ""]
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
        valuer: the source of their values (`dicegym.analysis.valuer`).

    Raises ParameterError if the game is over.

    Example:
        >>> import dicegym
        >>> from dicegym.values import hint, valuer
        >>> game = dicegym.game("hog")
        >>> found = hint(game, game.new_game(seed=1)[0], valuer(game))
        >>> found.choices[0].name
        'roll 8'
    """
    if state["over"]:
        raise ParameterError("the game is over: there is nothing left to choose")
    asked = assess_state(valuer, state)
    values, errors, behind_errors = asked.values[0], asked.errors[0], asked.behind_errors[0]
    legal = np.flatnonzero(game.legal(state))
    known = ~np.isnan(values[legal])
    order = [*legal[known][np.argsort(-values[legal][known], kind="stable")].tolist(), *legal[~known].tolist()]
    best = float(values[order[0]])
    choices = []
    for action in order:
        value, error = float(values[action]), float(errors[action])
        behind_error = float(behind_errors[action]) if action != order[0] else 0.0
        choices.append(RankedAction(action, game.action_name(action), value, best - value, error, behind_error))
    return Hint(game, int(state["player"]), valuer, tuple(choices))


class Tutor:
    """Warns a person of what gives much away, by what the person knows.

    Args:
        asked: where the values of actions come from, as `dicegym.analysis.valuers.fair_valuer` finds it.
        level: of `dicegym.analysis.valuers.MARKS`, from which on it warns.

    Raises:
        UnknownNameError: the level is unknown.
        ParameterError: ``asked`` judges by what is hidden from people.
    """

    def __init__(self, asked: Valuer, level: str = LEVEL) -> None:
        if not is_fair(asked):
            raise ParameterError(
                f"the values of source {asked.name!r} use what is hidden from a person: use `fair_valuer`"
            )
        self.valuer = asked
        self.least = threshold(level, asked.unit)

    @property
    def says(self) -> str:
        """What it does, and whose values it goes by, in a sentence."""
        unit = self.valuer.unit
        return f"You are warned of what gives away {amount(self.least, unit)} or more. {sure(self.valuer)}."

    def warning(self, turn: Turn, actions: Sequence[int]) -> str:
        """Return why a person had better not play so, or nothing; see `dicegym.players.sitting.Warn`."""
        game, unit = self.valuer.game, self.valuer.unit
        state = turn.record.copy()
        cost, variance, better, value, best = 0.0, 0.0, "", 0.0, 0.0
        played: list[int] = []
        for action in actions:
            if state["over"] or int(state["player"]) != turn.seat:
                break
            found = assess_state(self.valuer, state).judge([action])
            if found.costs[0] > 0 and not better:
                right = int(np.nanargmax(found.values[0] >= found.best[0] - SAME))
                better = _in_words(game, turn.record, [*played, right])
                best, value = float(found.best[0]), float(found.chosen[0])
            cost += float(found.costs[0])
            variance += float(found.errors[0]) ** 2
            played.append(int(action))
            if len(played) < len(actions):
                game.step(state, action)
        mark = mark_of(cost, unit, variance**0.5)
        if mark is None or cost < self.least * (1 - SAME):
            return ""
        lost = amount(cost, unit) + (f" (give or take {amount(variance**0.5, unit)})" if variance else "")
        chosen = f"{_in_words(game, turn.record, played)} ({amount(value, unit)})"
        return f"That is {mark.noun}: {chosen} gives away {lost} against {better} ({amount(best, unit)})."


def _in_words(game: Game, state: Any, actions: Sequence[int]) -> str:
    return ", ".join(action_in(game, state, action) for action in actions)
