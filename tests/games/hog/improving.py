"""Tables of Hog that get better sweep by sweep, as the search of `dicegym.games.hog.exact.best_table` climbs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dicegym
from dicegym.games.hog import exact


def improvements(
    start: exact.Strategy, opponent: exact.Strategy, game: dicegym.Game
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (win rate, table) after each sweep from ``start`` on; the last cannot be bettered by any single choice."""
    first, rival = exact._fitting([start, opponent], game)
    yield from exact._Climber(rival, exact.sweeps_of(game)).sweeps(first)
