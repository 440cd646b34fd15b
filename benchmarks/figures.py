"""What is measured, and what was: figures, and what had to be left out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """One figure, measured several times."""

    section: str
    """The table that it belongs to, a key of `benchmarks.report.SECTIONS`."""
    subject: str
    """Whose figure: an environment, a peer, a game."""
    what: str
    unit: str
    values: list[float] = []  # noqa: RUF012 - read only: `with_values` makes a new figure
    """One a run; empty before it was measured."""
    mode: str = ""
    """The mode of the bench that it was measured by; figures of peers name the one that they are compared with."""
    peer: bool = False
    """Whether it is of somebody else's library."""
    goal: tuple[str, float] | None = None
    """("at least" or "at most", the number to reach), if there is one."""

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.values)

    @property
    def reached(self) -> bool | None:
        """Whether the median reaches the goal; None without a goal."""
        if self.goal is None:
            return None
        kind, bound = self.goal
        return self.median >= bound if kind == "at least" else self.median <= bound

    def with_values(self, values: Sequence[float]) -> Figure:
        """Return the same figure, measured."""
        return self._replace(values=[float(value) for value in values])

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return self._asdict() | {"median": self.median}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Figure:
        """Return the figure that `to_json` wrote."""
        fields = {name: value[name] for name in Figure._fields}
        return Figure(**fields | {"goal": tuple(value["goal"]) if value["goal"] else None})


def number(value: float) -> str:
    """Return a number with three significant digits, or whole with commas from 100 on."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def goal_text(figure: Figure) -> str:
    """Return what a figure was to reach, and whether it did; nothing if there is no goal."""
    met = {None: "", True: ", reached", False: ", missed"}[figure.reached]
    return f"{figure.goal[0]} {number(figure.goal[1])}{met}" if figure.goal else ""


class Measure(NamedTuple):
    """Something to measure: each call of ``run`` gives one value for each of ``figures``."""

    figures: tuple[Figure, ...]
    run: Callable[[], Sequence[float]]
    warm_up: Callable[[], object] = lambda: None
    """Called once before the runs: compiles, loads."""
    repeats: int | None = None
    """The most runs that make sense; None: as many as are asked for."""


class Skipped(NamedTuple):
    """Something that was not measured."""

    what: str
    why: str


Plan = list[Measure | Skipped]
"""What a mode of the bench is going to do."""
