"""Marks of decisions: how much one must give away to be called doubtful, a mistake or a blunder.

One table for all games. Thresholds are in win rate; in another unit they are so many times as high.
"""

from __future__ import annotations

from typing import NamedTuple

from dicegym.errors import unknown_name
from dicegym.games.parts import Z_95
from dicegym.games.worth import ValueUnit


class Mark(NamedTuple):
    """What a decision is called that costs at least so much."""

    level: str
    """What ``dicegym play --tutor`` calls it."""
    sign: str
    noun: str
    cost: float
    """In win rate, at least."""


MARKS = (
    Mark("doubtful", "?!", "a doubtful choice", 0.02),
    Mark("mistake", "?", "a mistake", 0.05),
    Mark("bad", "??", "a blunder", 0.10),
)
"""From the cheapest on."""
UNITS: dict[ValueUnit, float] = {"win rate": 1.0, "points": 100.0, "return": 2.0}
"""What a win rate of 1 is in each unit. A return goes from -1 to 1. A point of Yatzy wins about 0.7 % at the beginning
of a game for two; a hundredth is near that, and easier to remember."""
TRIVIAL = 0.001
"""In win rate: where all candidates lie within this, nothing is decided."""
OBVIOUS = 0.20
"""In win rate: where every other candidate gives away more than this, only one is sensible."""


def threshold(level: str, unit: ValueUnit) -> float:
    """Return what a decision of this level costs at least. Raises UnknownNameError if there is no such level."""
    for mark in MARKS:
        if mark.level == level:
            return mark.cost * UNITS[unit]
    raise unknown_name("level of mistakes", level, [mark.level for mark in MARKS])


def mark_of(cost: float, unit: ValueUnit, error: float = 0.0) -> Mark | None:
    """Return the mark of a decision; None: it has none.

    Args:
        cost: what it gave away.
        unit: of ``cost``.
        error: standard error of ``cost``: there is no mark for what may as well be chance (95 %).
    """
    if not cost > Z_95 * error:  # nan too
        return None
    reached = [mark for mark in MARKS if cost >= mark.cost * UNITS[unit] * (1 - 1e-12)]  # 0.05 is 0.05, rounded or not
    return reached[-1] if reached else None


def amount(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return a value, a cost or luck in words: ``12.3%``, ``5.25 points``, ``0.123``; with a sign if asked."""
    plus = "+" if sign else ""
    if unit == "win rate":
        return f"{_no_zero(100 * value, 1):{plus}.1f}%"
    if unit == "points":
        return f"{_no_zero(value, 2):{plus}.2f} points"
    return f"{_no_zero(value, 3):{plus}.3f}"


def figure(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return the same for a column whose title says the unit."""
    return amount(value, unit, sign).removesuffix(" points").removesuffix("%")


def titled(unit: ValueUnit) -> str:
    """Return what figures of this unit are called in a title: ``%``, ``points``, ``return``."""
    return "%" if unit == "win rate" else unit


def thresholds(unit: ValueUnit) -> str:
    """Return the table in a sentence, for the unit that values are in."""
    marks = ", ".join(f"{mark.sign} {mark.noun} from {amount(mark.cost * UNITS[unit], unit)} on" for mark in MARKS)
    trivial, obvious = (amount(share * UNITS[unit], unit) for share in (TRIVIAL, OBVIOUS))
    return (
        f"Marks: {marks}. Left out of the error rate: forced moves, choices among candidates within {trivial}, and the "
        f"best one taken where every other gives away more than {obvious}."
    )


def _no_zero(value: float, digits: int) -> float:
    """Return a value without the sign of a zero that rounding makes."""
    return 0.0 if abs(value) < 0.5 * 10**-digits else value
