"""Games as choices: who came first of all, who of those that were left, and so on to the last that were told apart.

Those who share the last place of a game, below others, are taken for entries that the game did not tell apart: a game
that names a winner alone says nothing of the order of those who lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.ratings.places import MatchPlaces
from dicegym.errors import DependencyError


class Stage(NamedTuple):
    """Who was chosen of those that were left in a game."""

    left: tuple[int, ...]
    chosen: tuple[int, ...]
    duel: bool
    """Whether it is a whole game of two."""

    @property
    def drawn(self) -> bool:
        """Whether it is a drawn game of two."""
        return self.duel and self.chosen == self.left


class Row(NamedTuple):
    """A kind of choice."""

    left: tuple[int, ...]
    """Between whom."""
    duel: bool = False
    """Whether it may be a draw."""
    together: tuple[int, ...] = ()
    """Those who came together, if there are any ..."""
    gone: int = 0
    """... and how many of them are taken to be gone."""


class Shape(NamedTuple):
    """All kinds of choices from ``k`` entries with the same outcomes."""

    where: np.ndarray
    """int64[rows, k], or k + 1 where there may be a draw: the parameters of a choice."""
    outcomes: np.ndarray
    """float64[outcomes, k or k + 1]: of each outcome 1 for who is chosen; of a draw a half for both, and 1."""
    offset: np.ndarray
    """float64[rows, outcomes]: logarithms of what outcomes are weighted with besides."""

    @property
    def single(self) -> bool:
        """Whether the outcomes are that one entry is chosen, one outcome for each."""
        return bool(np.array_equal(self.outcomes, np.eye(len(self.outcomes))))


@dataclass(frozen=True)
class Choices:
    """The choices of matches. Parameters are the strengths of ``names`` in order, then that of draws if there are any.

    A *unit* is what a bootstrap draws: a match, or one of its games. A *row* is a kind of choice.

    Attributes:
        names: of the entries.
        draws: whether a game of two was drawn.
        shapes: the rows, shape by shape.
        taken: sparse float64[units, rows], how often each choice was made in a unit.
        seen: sparse float64[units, parameters], the sum of the statistics of what was chosen.
        times: float64[units], how many equal units there are.
        units_of: float64[entries], the units of each entry.
        games_of: int64[entries], its games.
        matches_of: int64[entries], its matches.
        ahead: float64[entries, entries], games in which row was ahead of column.
        level: float64[entries, entries], games in which both shared a place that is told apart from others, or drew.
        games: how many games there are.
        matches: how many matches.
    """

    names: tuple[str, ...]
    draws: bool
    shapes: tuple[Shape, ...]
    taken: Any
    seen: Any
    times: np.ndarray
    units_of: np.ndarray
    games_of: np.ndarray
    matches_of: np.ndarray
    ahead: np.ndarray
    level: np.ndarray
    games: int
    matches: int

    @property
    def parameters(self) -> int:
        """How many parameters there are."""
        return len(self.names) + self.draws


@lru_cache(1 << 16)
def stages(places: tuple[int, ...]) -> tuple[Stage, ...]:
    """Return the choices of a game by positions, from places that count from 0 without gaps."""
    found, left = [], tuple(range(len(places)))
    for place in range(max(places) + 1):
        chosen = tuple([i for i in left if places[i] == place])
        if place == 0 or chosen != left:
            found.append(Stage(left, chosen, len(places) == 2))
        left = tuple([i for i in left if places[i] != place])
    return tuple(found)


def choices(matches: Sequence[MatchPlaces], fewest: int) -> Choices:
    """Return the choices of matches.

    Args:
        matches: as `dicegym.arena.ratings.places.grouped` returns them.
        fewest: the games of an entry that has fewer matches are units by themselves.
    """
    names = tuple(sorted({name for match in matches for name in match.entries}))
    number = {name: i for i, name in enumerate(names)}
    n = len(names)
    matches_of, games_of, units_of = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    for match in matches:
        who = [number[name] for name in match.entries]
        matches_of[who] += match.times
        games_of[who] += match.times * sum(times for _, times in match.places)
    units = _units(matches, number, matches_of, fewest)
    for (players, _), times in units.items():
        units_of[list(players)] += times
    found, held = _stages(units)
    draws = any(stage.drawn for stage in found)
    shapes, taken = _kinds(found, draws, n)
    chosen, seen = _Sums(), _Sums()
    left = _Sums()
    for i, stage in enumerate(found):
        for one in stage.chosen:
            chosen.add(i, one, 1)
            seen.add(i, one, 0.5 if stage.drawn else 1)
        for one in stage.left:
            left.add(i, one, 1)
        if stage.drawn:
            seen.add(i, n, 1)
    times_of = np.array(list(units.values()), dtype=float)
    those, rest = chosen.matrix(len(found), n), left.matrix(len(found), n)
    counted = (those * (times_of @ held)[:, None]).T.tocsr()
    level = (counted @ those).toarray()
    np.fill_diagonal(level, 0)
    return Choices(
        names,
        draws,
        shapes,
        held @ taken,
        held @ seen.matrix(len(found), n + draws),
        times_of,
        units_of,
        games_of,
        matches_of,
        (counted @ (rest - those)).toarray(),
        level,
        sum(match.times * sum(times for _, times in match.places) for match in matches),
        sum(match.times for match in matches),
    )


Unit = tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], int], ...]]
"""Who played, and the places of the games."""
RowForm = tuple[int, bool, bool]
"""What rows of one shape have in common: between how many, whether in a duel, whether some came together."""


def _units(
    matches: Sequence[MatchPlaces], number: Mapping[str, int], matches_of: np.ndarray, fewest: int
) -> dict[Unit, int]:
    """Return what a bootstrap draws, and how many there are of each."""
    units: dict[Unit, int] = defaultdict(int)
    for match in matches:
        who = tuple(number[name] for name in match.entries)
        if min(matches_of[i] for i in who) >= fewest:
            units[who, match.places] += match.times
        else:
            for places, times in match.places:
                units[who, ((places, 1),)] += match.times * times
    return units


def _stages(units: dict[Unit, int]) -> tuple[list[Stage], Any]:
    """Return the choices that there were, and how often in each unit: sparse float64[units, choices]."""
    numbers: dict[Stage, int] = {}
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    held = _Sums()
    for unit, (who, places) in enumerate(units):
        for game, times in places:
            if (who, game) not in known:
                known[who, game] = [
                    numbers.setdefault(
                        Stage(tuple([who[i] for i in left]), tuple([who[i] for i in chosen]), duel), len(numbers)
                    )
                    for left, chosen, duel in stages(game)
                ]
            for stage in known[who, game]:
                held.add(unit, stage, times)
    return list(numbers), held.matrix(len(units), len(numbers))


def _kinds(found: Sequence[Stage], draws: bool, n: int) -> tuple[tuple[Shape, ...], Any]:
    """Return the rows of choices, shape by shape, and how often each is made in each: sparse float64[choices, rows]."""
    forms: dict[RowForm, dict[Row, int]] = defaultdict(dict)
    made = []
    for i, stage in enumerate(found):
        for row in _rows(stage, draws):
            form = len(row.left), row.duel, bool(row.together)
            alike = forms[form]
            made.append((i, form, alike.setdefault(row, len(alike))))
    first, total = {}, 0
    for form, alike in forms.items():
        first[form] = total
        total += len(alike)
    taken = _Sums()
    for i, form, number in made:
        taken.add(i, first[form] + number, 1)
    return tuple(_shape(list(alike), n) for alike in forms.values()), taken.matrix(len(found), total)


def _rows(stage: Stage, draws: bool) -> Iterator[Row]:
    """Yield the choices that a stage comes to: one, or one after the other for those who came together."""
    if len(stage.chosen) == 1 or stage.drawn:
        yield Row(stage.left, draws and stage.duel)
    else:
        for gone in range(len(stage.chosen)):
            # If everybody is equal it makes no difference how many are gone.
            some = bool(gone) and stage.chosen != stage.left
            yield Row(stage.left, False, stage.chosen if some else (), gone if some else 0)


def _shape(rows: Sequence[Row], n: int) -> Shape:
    """Return the shape of alike rows."""
    k, duel = len(rows[0].left), rows[0].duel
    where = np.array([row.left + ((n,) if duel else ()) for row in rows], np.int64)
    outcomes = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 1]]) if duel else np.eye(k)
    offset = np.zeros((len(rows), len(outcomes)))
    for i, row in enumerate(rows):
        for one in row.together:
            offset[i, row.left.index(one)] = np.log(1 - row.gone / len(row.together))
    return Shape(where, outcomes, offset)


class _Sums:
    """A sparse matrix that grows."""

    def __init__(self) -> None:
        self._cells: list[tuple[int, int, float]] = []

    def add(self, row: int, column: int, value: float) -> None:
        """Add to a cell."""
        self._cells.append((row, column, value))

    def matrix(self, rows: int, columns: int) -> Any:
        """Return it as float64[rows, columns]."""
        cells = np.array(self._cells, float).reshape(-1, 3)
        where = tuple(cells[:, :2].T.astype(np.int64))
        return sparse_matrices().csr_array((cells[:, 2], where), shape=(rows, columns))


def sparse_matrices() -> Any:
    """Return `scipy.sparse`. Raises DependencyError where SciPy is not installed."""
    try:
        from scipy import sparse
    except ImportError as error:
        raise _missing("SciPy") from error
    return sparse


def one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread: of matrices this small several would spend their time waiting for each other.

    Raises DependencyError where threadpoolctl is not installed.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise _missing("threadpoolctl") from error
    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits


def _missing(package: str) -> DependencyError:
    return DependencyError.for_extra(package, "arena", "a rating of all games at once")
