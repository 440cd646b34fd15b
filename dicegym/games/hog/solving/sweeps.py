"""Which compiled sweeps compute a game of Hog: those over what the scores hide, or those of players who remember."""

from __future__ import annotations

import numpy as np

from dicegym.games.hog import exact_kernels as kernels
from dicegym.games.hog.exact_kernels import RUNS
from dicegym.games.hog.solving import remembering
from dicegym.games.hog.solving.full_sight import rolls


class ByScores:
    """Sweeps for tables int8[goal, goal]; see `dicegym.games.hog.exact_kernels`."""

    hidden: tuple[int, ...] = ()
    """What a table has besides both scores: its further axes."""

    def new_values(self, goal: int) -> np.ndarray:
        """Return room for values, and for reach."""
        return np.empty((2, goal * goal, 2, RUNS, RUNS))

    def rates(self, values: np.ndarray) -> tuple[float, float]:
        """Return player 0's win rates (as first, as second to move) at the start of a game."""
        return float(values[0, 0, 0, 0, 0]), 1 - float(values[1, 0, 0, 0, 0])

    def evaluate(self, tables: np.ndarray, values: np.ndarray) -> None:
        """Fill ``values`` for the tables of both players."""
        parities = 2 if (tables < 0).any() else 1  # without exchanges the parity stays even
        kernels.evaluate(tables, rolls(), parities, values)

    def spread(self, tables: np.ndarray, reach: np.ndarray) -> None:
        """Fill ``reach`` for the tables of both players."""
        kernels.spread(tables, rolls(), reach)

    def improve(self, tables: np.ndarray, reach: np.ndarray, margin: float, values: np.ndarray) -> int:
        """Improve the first player's table by one sweep; return how many choices changed."""
        return int(kernels.improve(tables, rolls(), reach, margin, values))

    def costs(self, tables: np.ndarray, better: np.ndarray) -> np.ndarray:
        """Return float64[goal, goal]: where the first player's table wins less than if it were ``better``."""
        goal = len(better)
        values, reach, forgone = self.new_values(goal), self.new_values(goal), np.empty((goal, goal))
        self._fill(np.stack([better, tables[1]]), values)
        self.spread(tables, reach)
        self._forgo(tables[0], reach, values, forgone)
        return forgone

    def _fill(self, tables: np.ndarray, values: np.ndarray) -> None:
        """Fill all of ``values``, states that neither table leads to included."""
        kernels.evaluate(tables, rolls(), 2, values)

    def _forgo(self, table: np.ndarray, reach: np.ndarray, values: np.ndarray, forgone: np.ndarray) -> None:
        kernels.forgo(table, rolls(), reach, values, forgone)

    def reply(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values of the best reply that sees everything and of ``table``, and what the reply chooses."""
        values = self.new_values(len(table))
        policy = np.empty(values.shape[1:], np.int8)
        self._respond(table, values, policy)
        return values, policy

    def _respond(self, table: np.ndarray, values: np.ndarray, policy: np.ndarray) -> None:
        kernels.respond(table, rolls(), values, policy)

    def respond(self, table: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the win rate of the best reply that sees everything, and its choices by the axes of values."""
        values, policy = self.reply(table)
        return sum(self.rates(values)) / 2, policy.reshape(len(table), len(table), *policy.shape[1:])

    def starts(self, policy: np.ndarray) -> list[np.ndarray]:
        """Return tables that choose as a reply that sees everything, if what they do not see is nothing."""
        return [np.ascontiguousarray(policy[:, :, parity, 0, 0]) for parity in range(2)]

    def met(self, reach: np.ndarray) -> np.ndarray:
        """Return how often the first player asks each entry of its table."""
        found: np.ndarray = reach[0].sum(axis=(1, 2, 3))
        return found


class Remembering(ByScores):
    """Sweeps for tables int8[goal, goal, RUNS, 2]; see `dicegym.games.hog.solving.remembering`."""

    hidden = (RUNS, 2)

    def new_values(self, goal: int) -> np.ndarray:
        """Return room for values, and for reach."""
        return np.empty((2, 2, goal * goal, 2, RUNS, RUNS))

    def rates(self, values: np.ndarray) -> tuple[float, float]:
        """Return player 0's win rates (as first, as second to move) at the start of a game."""
        return float(values[0, 0, 0, 0, 0, 0]), 1 - float(values[1, 0, 0, 0, 0, 0])

    def evaluate(self, tables: np.ndarray, values: np.ndarray) -> None:
        """Fill ``values`` for the tables of both players."""
        remembering.evaluate(tables, rolls(), values)

    _fill = evaluate

    def spread(self, tables: np.ndarray, reach: np.ndarray) -> None:
        """Fill ``reach`` for the tables of both players."""
        remembering.spread(tables, rolls(), reach)

    def improve(self, tables: np.ndarray, reach: np.ndarray, margin: float, values: np.ndarray) -> int:
        """Improve the first player's table by one sweep; return how many choices changed."""
        return int(remembering.improve(tables, rolls(), reach, margin, values))

    def _forgo(self, table: np.ndarray, reach: np.ndarray, values: np.ndarray, forgone: np.ndarray) -> None:
        remembering.forgo(table, rolls(), reach, values, forgone)

    def _respond(self, table: np.ndarray, values: np.ndarray, policy: np.ndarray) -> None:
        remembering.respond(table, rolls(), values, policy)

    def respond(self, table: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the win rate of the best reply that sees everything, and its choices: int8[goal, goal, 2, ...].

        The parity of its own exchanges comes before the other axes, which are those without memory.
        """
        values, policy = self.reply(table)
        by_pairs = np.ascontiguousarray(policy.swapaxes(0, 1))
        return sum(self.rates(values)) / 2, by_pairs.reshape(len(table), len(table), *by_pairs.shape[1:])

    def starts(self, policy: np.ndarray) -> list[np.ndarray]:
        """Return tables that choose as a reply that sees everything, if the other has no run and no or one exchange."""
        own = (0, 1)
        return [
            np.ascontiguousarray(np.stack([policy[:, :, mine, (mine + other) % 2, 0] for mine in own], axis=-1))
            for other in range(2)
        ]

    def met(self, reach: np.ndarray) -> np.ndarray:
        """Return how often the first player asks each entry of its table."""
        found: np.ndarray = reach[0].sum(axis=(2, 3)).transpose(1, 2, 0)
        return found


BY_SCORES, REMEMBERING = ByScores(), Remembering()
