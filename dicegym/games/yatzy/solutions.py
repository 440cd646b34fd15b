"""What of Yatzy for two and more can be solved and kept: which points are still to come, and can be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from dicegym.engine.game import Game
from dicegym.games.solved import Solution
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import distributions, learned, row_tables, thresholds

SETTINGS: Sequence[Mapping[str, int]] = ({"players": row_tables.KEPT_FOR.players}, {"players": learned.ALONE.players})
"""Tables of several players are kept once, for two, and serve any number of them."""


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved: all of it with the parameters of `SETTINGS`."""
    if game == learned.ALONE:
        return (learned.Learned(),)
    return (
        (RowTables(distributions, DISTRIBUTIONS, 0.5), RowTables(thresholds, THRESHOLDS, 3.0))
        if (game == row_tables.KEPT_FOR)
        else ()
    )


DISTRIBUTIONS = "how the points still to come are distributed for the best mean, in all positions, for any table"
THRESHOLDS = "the highest probability of each number of points still to come, in all positions"


class Computed(Protocol):
    """A module that computes tables of a row for each position."""

    NAME: str
    MEMORY: int
    DISK: int

    def compute(self, progress: Progress | None, threads: int | None) -> row_tables.Rows:
        """Return the tables."""


class RowTables:
    """Tables of a row for each of the 1,430,528 positions between two turns; see `dicegym.games.solved.Solution`."""

    measure = ""
    goal = 0.0

    def __init__(self, computed: Computed, doc: str, minutes: float) -> None:
        self.name, self.doc = computed.NAME, doc
        self._computed, self._minutes = computed, minutes

    def memory(self) -> int:
        """Return the bytes that solving takes."""
        return self._computed.MEMORY

    def disk(self) -> int:
        """Return the bytes that the tables take."""
        return self._computed.DISK

    def minutes(self) -> float:
        """Return how long it took on two cores."""
        return self._minutes

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the tables are there; see `Solution.quality`."""
        if not row_tables.is_kept(folder):
            return None
        row_tables.check(folder, self.name)
        return 0.0

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it from the beginning, whatever ``seconds`` says: it takes minutes. See `Solution.solve`."""
        row_tables.write(folder, self._computed.compute(progress, threads))
        return 0.0
