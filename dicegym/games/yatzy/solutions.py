"""What of Yatzy for two and more can be solved and kept: which points are still to come, and can be reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.games.solved import Solution
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import distributions, rows, thresholds

SETTINGS: Sequence[Mapping[str, int]] = ({"players": rows.KEPT_FOR.players},)
"""Tables of several players are kept once, for two, and serve any number of them."""


@dataclass
class RowTables:
    """Tables of a row for each of the 1,430,528 positions between two turns; see `dicegym.games.solved.Solution`."""

    name: str
    doc: str
    compute: Callable[[Progress | None, int | None], rows.Rows]
    on_two_cores: float
    """Minutes that solving took."""
    measure: str = ""
    goal: float = 0.0

    def memory(self) -> int:
        """Return the bytes that solving takes."""
        return rows.MEMORY

    def disk(self) -> int:
        """Return the bytes that the tables take."""
        return rows.DISK

    def minutes(self) -> float:
        """Return how long it took on two cores."""
        return self.on_two_cores

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the tables are there; see `Solution.quality`."""
        if not rows.is_kept(folder):
            return None
        rows.check(folder, self.name)
        return 0.0

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it from the beginning, whatever ``seconds`` says: it takes minutes. See `Solution.solve`."""
        rows.write(folder, self.compute(progress, threads))
        return 0.0


DISTRIBUTIONS = "how the points still to come are distributed for the best mean, in all positions, for any table"
THRESHOLDS = "the highest probability of each number of points still to come, in all positions"


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved: all of it with the parameters of `SETTINGS`."""
    if game != rows.KEPT_FOR:
        return ()
    return (
        RowTables(distributions.NAME, DISTRIBUTIONS, distributions.compute, 0.5),
        RowTables(thresholds.NAME, THRESHOLDS, thresholds.compute, 3.0),
    )
