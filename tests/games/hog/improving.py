"""Tables of Hog that get better sweep by sweep, as the search of `dicegym.games.hog.exact.best_table` climbs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dicegym
from dicegym.games.hog import exact
from dicegym.games.hog.solving.strategies import Climber, choices_of


def improvements(
    start: exact.Strategy, opponent: exact.Strategy, game: dicegym.Game
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (win rate, table) after each sweep from ``start`` on; the last cannot be bettered by any single choice."""
    first, rival = exact.fitting([start, opponent], game)
    yield from Climber(choices_of(rival)).sweeps(first)
