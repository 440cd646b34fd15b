"""What of Yatzy for two and more can be solved and kept: how the points still to come are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.games.solved import Solution
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import distributions, row_tables

SETTINGS: Sequence[Mapping[str, int]] = ({"players": row_tables.KEPT_FOR.players},)
"""Tables are kept once, for two, and serve any number of players."""


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved: all of it with the parameters of `SETTINGS`."""
    return (Distributions(),) if game == row_tables.KEPT_FOR else ()


class Distributions:
    """The distribution of the points still to come in every position; see `dicegym.games.solved.Solution`."""

    name = distributions.NAME
    doc = "how the points still to come are distributed for the best mean, in all 1,430,528 positions, for any table"
    measure = ""
    goal = 0.0

    def memory(self) -> int:
        """Return the bytes that solving takes."""
        return distributions.MEMORY

    def disk(self) -> int:
        """Return the bytes that the tables take."""
        return distributions.DISK

    def minutes(self) -> float:
        """Return how long it took."""
        return 0.5

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the tables are there; see `Solution.quality`."""
        if not row_tables.is_kept(folder):
            return None
        row_tables.check(folder, self.name)
        return 0.0

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it from the beginning, whatever ``seconds`` says: it takes half a minute. See `Solution.solve`."""
        row_tables.write(folder, distributions.compute(progress, threads))
        return 0.0
