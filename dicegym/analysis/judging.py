"""What decisions cost, many at once: the best candidate's value less that of what was chosen.

The one place that says what a forced, a trivial and an obvious choice is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.marks import OBVIOUS, TRIVIAL, UNITS
from dicegym.engine.jit import records
from dicegym.games.worth import ActionValues, BatchValuer, Valuer, ValueUnit

SAME = 1e-12
"""Values within this are the same, rounded in two ways."""


class Stake(IntEnum):
    """What was at stake in a decision. Only a CHOICE counts in an error rate."""

    CHOICE = 0
    FORCED = 1
    """One action was allowed, and it was played."""
    TRIVIAL = 2
    """All candidates were worth nearly the same."""
    OBVIOUS = 3
    """One candidate was better than all others by a mile, and it was played."""
    UNKNOWN = 4
    """The valuer does not say what was chosen, or anything else, is worth."""


class Judged(NamedTuple):
    """Decisions and what they cost, row by row."""

    best: np.ndarray
    """float64[rows]: value of the best choice, what was chosen included; nan if unknown."""
    chosen: np.ndarray
    """float64[rows]: value of what was chosen; nan if unknown."""
    costs: np.ndarray
    """float64[rows]: what was given away, never negative; 0 where nothing is known."""
    errors: np.ndarray
    """float64[rows]: standard errors of the costs."""
    stakes: np.ndarray
    """int8[rows]: a `Stake` each."""
    values: np.ndarray
    """float64[rows, n_actions]: of all candidates; nan for what is none."""


def values_of(valuer: Valuer, states: np.ndarray) -> np.ndarray:
    """Return what each state is worth to each seat: float64[states, players]."""
    if isinstance(valuer, BatchValuer):
        return valuer.values_rows(states)
    seats = range(valuer.game.players)
    return np.array([[valuer.value(state, seat) for seat in seats] for state in states]).reshape(-1, len(seats))


def action_values_of(valuer: Valuer, states: np.ndarray) -> ActionValues:
    """Return what each action is worth in each state, of which none is over: float64[states, n_actions] each."""
    if isinstance(valuer, BatchValuer):
        return valuer.action_values_rows(states)
    n_actions = valuer.game.n_actions
    found = [valuer.action_values(state) for state in states]
    values, errors = (np.array([one[column] for one in found], np.float64).reshape(-1, n_actions) for column in (0, 1))
    behind = [one.behind for one in found]
    whole = [row for row in behind if row is not None]
    return ActionValues(values, errors, np.array(whole) if whole and len(whole) == len(behind) else None)


def judged(valuer: Valuer, states: np.ndarray, actions: Sequence[int] | np.ndarray) -> Judged:
    """Return what decisions cost.

    Args:
        valuer: who says what actions are worth.
        states: the records before each decision, none of which is over: ``states[row]``.
        actions: what was chosen in each, wide and illegal ones included.
    """
    asked = action_values_of(valuer, states)
    actions = np.asarray(actions, np.int64)
    rows = np.arange(len(actions))
    known = (actions >= 0) & (actions < valuer.game.n_actions)
    inside = np.where(known, actions, 0)
    chosen = np.where(known, asked.values[rows, inside], np.nan)
    for row in np.flatnonzero(np.isnan(chosen)):
        chosen[row] = valuer.action_value(states[row], int(actions[row]))
    return _judged(asked, inside, known, chosen, valuer.unit)


def judge(valuer: Valuer, state: Any, action: int) -> Judged:
    """Return the same of a single decision: arrays of one row."""
    states = records(1, valuer.game.spec.state)
    states[0] = state
    return judged(valuer, states, [action])


def _judged(asked: ActionValues, inside: np.ndarray, known: np.ndarray, chosen: np.ndarray, unit: ValueUnit) -> Judged:
    """Return costs and stakes.

    Args:
        asked: what actions are worth.
        inside: int64[rows], the actions that were chosen, 0 for those that have no column.
        known: bool[rows], whether they have one.
        chosen: float64[rows], what these are worth.
        unit: of values.
    """
    rows = np.arange(len(inside))
    candidates = ~np.isnan(asked.values)
    lowest = np.where(candidates, asked.values, np.inf)
    highest = np.where(candidates, asked.values, -np.inf)
    first = highest.argmax(axis=1)
    top = highest[rows, first]
    unknown = np.isnan(chosen) | ~np.isfinite(top)
    best = np.where(unknown, np.nan, np.maximum(top, chosen))
    costs = np.where(unknown, 0.0, best - np.where(unknown, 0.0, chosen))
    costs[costs <= SAME] = 0.0
    # Of what has no column no error is told: it is taken for as large as that of the best.
    errors = np.where(known, _errors(asked, rows, inside, first), 2**0.5 * asked.errors[rows, first])
    errors[costs == 0] = 0.0
    below = np.where(highest < top[:, None] - SAME, highest, -np.inf).max(axis=1)
    stakes = np.full(len(rows), Stake.CHOICE, np.int8)
    scale = UNITS[unit]
    with np.errstate(invalid="ignore"):
        sensible = np.isfinite(below) & (top - below > OBVIOUS * scale) & (costs == 0)
        spread = top - lowest.min(axis=1)
        level = (spread <= TRIVIAL * scale) & (costs <= TRIVIAL * scale)
    stakes[sensible] = Stake.OBVIOUS
    stakes[level] = Stake.TRIVIAL
    stakes[(candidates.sum(axis=1) == 1) & known & candidates[rows, inside]] = Stake.FORCED
    stakes[unknown] = Stake.UNKNOWN
    return Judged(best, chosen, costs, np.nan_to_num(errors), stakes, asked.values)


def _errors(asked: ActionValues, rows: np.ndarray, inside: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the standard error of how far each chosen action is behind the best one."""
    if asked.behind is not None:
        behind: np.ndarray = asked.behind[rows, inside]
        return behind
    both: np.ndarray = np.hypot(asked.errors[rows, inside], asked.errors[rows, first])
    return both
