"""What one number for each entry does not explain: surprising pairs, and circles in which each beats the next.

Only games that tell two entries apart count: by the model (`dicegym.arena.ratings.likelihood`), either is then ahead
with odds that are those of their strengths, whoever else played.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from dicegym.arena.luck import CONFIDENCE, MOST_NAMED
from dicegym.arena.ratings.choices import choices
from dicegym.arena.ratings.fitting import Ratings, strengths
from dicegym.arena.ratings.places import MatchPlaces, grouped


@dataclass(frozen=True)
class Surprise:
    """Two entries whose games differ from what their ratings expect, more than luck explains.

    Attributes:
        name: who won more than expected ...
        other: ... against whom.
        won: games in which it was ahead.
        games: games that told both apart.
        expected: how many it should have won by the ratings.
        z: how far that is off, in standard errors.
    """

    name: str
    other: str
    won: int
    games: int
    expected: float
    z: float

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{self.name} was ahead of {self.other} in {self.won} of {self.games} games, where ratings expect "
            f"{self.expected:.1f}."
        )


@dataclass(frozen=True)
class Cycle:
    """Three entries of which each beats the next, as rock, scissors and paper do, more than luck explains.

    Attributes:
        names: the first beats the second, the second the third, the third the first; the first by name comes first.
        won: games in which each was ahead of the next.
        games: games that told the two apart.
        z: the sum of the three logarithms of odds, which is 0 where each has one strength, in standard errors.
    """

    names: tuple[str, str, str]
    won: tuple[int, int, int]
    games: tuple[int, int, int]
    z: float

    def __str__(self) -> str:
        """Return it in words."""
        rates = [f"{100 * won / games:.0f}%" for won, games in zip(self.won, self.games, strict=True)]
        a, b, c = self.names
        return f"{a} beats {b} ({rates[0]}), {b} beats {c} ({rates[1]}) and {c} beats {a} ({rates[2]})."


@dataclass(frozen=True, eq=False)
class Residuals:
    """Who was ahead of whom, and what ratings expect.

    Attributes:
        names: best first, rows and columns of all arrays.
        won: int64[n, n], games in which row was ahead of column.
        level: int64[n, n], games in which both came together, which count for nothing here.
        expected: float64[n, n], how often row should have been ahead in the games that told both apart.
        z: float64[n, n], how far ``won`` is from that, in standard errors; NaN where no game or one game alone tells.
        chance: how likely residuals as large as these are if one number for each entry were enough.
        surprises: pairs beyond luck, the clearest first. Luck names any in 5 of 100 contests.
        cycles: circles of three beyond luck, each of whom is ahead of the next beyond luck, the clearest first; of
            those, too.
    """

    names: tuple[str, ...]
    won: np.ndarray
    level: np.ndarray
    expected: np.ndarray
    z: np.ndarray
    chance: float
    surprises: tuple[Surprise, ...]
    cycles: tuple[Cycle, ...]

    def circles(self) -> list[str]:
        """Return in sentences who beats whom in a circle; empty if nobody does."""
        if not self.cycles:
            return []
        said = "Such a circle, like rock, paper and scissors, has no order: ratings say how its entries do on average."
        return [*_first(self.cycles, "circles of three"), said]

    def words(self) -> list[str]:
        """Return in sentences what one number for each entry does not explain: circles, and pairs that are in none."""
        if not self.surprises and not self.cycles:
            return ["One number for each entry explains who beats whom, as far as these games tell."]
        sentences = self.circles()
        edges = {edge for cycle in self.cycles for edge in itertools.pairwise((*cycle.names, cycle.names[0]))}
        others = tuple(one for one in self.surprises if (one.name, one.other) not in edges)
        return [*sentences, *_first(others, "pairs")]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values; NaN is None."""
        return {
            "names": list(self.names),
            "won": self.won.tolist(),
            "level": self.level.tolist(),
            "expected": np.round(self.expected, 3).tolist(),
            "z": [[None if np.isnan(cell) else round(float(cell), 3) for cell in row] for row in self.z],
            "chance": round(self.chance, 6),
            "surprises": [
                {
                    "name": one.name,
                    "other": one.other,
                    "won": one.won,
                    "games": one.games,
                    "expected": round(one.expected, 3),
                    "z": round(one.z, 3),
                }
                for one in self.surprises
            ],
            "cycles": [
                {"names": list(one.names), "won": list(one.won), "games": list(one.games), "z": round(one.z, 3)}
                for one in self.cycles
            ],
        }


def _first(found: Sequence[object], kind: str) -> Iterator[str]:
    yield from map(str, found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        yield f"There are {len(found) - MOST_NAMED} more such {kind}."


def residuals(matches: Iterable[MatchPlaces], ratings: Ratings) -> Residuals:
    """Compare who was ahead of whom with what ratings expect.

    Residuals are adjusted for the ratings having been fitted to the same games (by leverage). Pairs and circles are
    named where luck would name any of them in 5 of 100 contests (Bonferroni); games are taken to be independent.

    Args:
        matches: the games.
        ratings: of the same games, from `dicegym.arena.ratings.fit`.

    Raises:
        UnknownNameError: an entry has no rating.
        ParameterError: something is no match.
        DependencyError: SciPy is not installed.
    """
    from scipy.special import chdtrc

    found = choices(grouped(matches), 0)
    number = {name: i for i, name in enumerate(found.names)}
    names = tuple(row.name for row in ratings.rows if row.name in number)
    strength = dict(zip(found.names, strengths(ratings, found.names), strict=True))
    order = np.array([number[name] for name in names], np.int64)
    won, level = (cells[np.ix_(order, order)] for cells in (found.ahead, found.level))
    games = won + won.T
    own = np.array([strength[name] for name in names])
    rate = 1 / (1 + np.exp(np.clip(own[None, :] - own[:, None], -500, 500)))
    variance = games * rate * (1 - rate)
    laplacian = np.diag(variance.sum(axis=1)) - variance
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    leverage = variance * (np.diag(inverse)[:, None] + np.diag(inverse)[None, :] - 2 * inverse)
    free = np.where(variance > 0, np.maximum(1 - leverage, 0.0), 0.0)
    known = free > 1e-6
    z = np.full(won.shape, np.nan)
    np.divide(won - games * rate, np.sqrt(variance * free), out=z, where=known)
    upper = np.triu(known)
    square = float((((won - games * rate)[upper]) ** 2 / variance[upper]).sum())
    degrees = round(float(free[upper].sum()))
    return Residuals(
        names,
        won.astype(np.int64),
        level.astype(np.int64),
        games * rate,
        z,
        float(chdtrc(degrees, square)) if degrees else 1.0,
        tuple(_surprises(names, won, games, games * rate, z)),
        tuple(_cycles(names, won)),
    )


def _beyond(tests: int) -> float:
    """Return how many standard errors are beyond luck in one of so many one-sided tests."""
    return NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / max(1, tests))


def _surprises(
    names: tuple[str, ...], won: np.ndarray, games: np.ndarray, expected: np.ndarray, z: np.ndarray
) -> list[Surprise]:
    """Return pairs beyond luck, the clearest first."""
    known = ~np.isnan(z)
    some = np.argwhere(known & (np.nan_to_num(z) > _beyond(int(known.sum()))))
    found = [
        Surprise(names[i], names[j], int(won[i, j]), int(games[i, j]), float(expected[i, j]), float(z[i, j]))
        for i, j in some
    ]
    return sorted(found, key=lambda one: (-round(one.z, 9), one.name, one.other))


def _cycles(names: tuple[str, ...], won: np.ndarray) -> list[Cycle]:
    """Return circles of three beyond luck, in which each surely beats the next, the clearest first."""
    games = won + won.T
    met = (games > 0).astype(float)
    # Half a game is added on either side, as a logarithm of odds and its error want them.
    odds = np.log((won + 0.5) / (won.T + 0.5))
    variance = 1 / (won + 0.5) + 1 / (won.T + 0.5)
    ahead = won > won.T
    limit = _beyond(round(float(np.trace(met @ met @ met)) / 3))  # each three in two directions
    sure = _beyond(1)  # two who are clearly ahead make no circle if the third is level
    found = []
    for a in range(len(names)):
        rest = slice(a + 1, None)
        circle = ahead[a, rest, None] & ahead[rest, rest] & ahead[None, rest, a]
        for b, c in np.argwhere(circle) + a + 1:
            edges = ((a, b), (b, c), (c, a))
            z = sum(odds[edge] for edge in edges) / np.sqrt(sum(variance[edge] for edge in edges))
            if z > limit and min(odds[edge] / np.sqrt(variance[edge]) for edge in edges) > sure:
                found.append((float(z), *_from_first(names, (a, int(b), int(c)))))
    return [
        Cycle(
            (names[a], names[b], names[c]),
            (int(won[a, b]), int(won[b, c]), int(won[c, a])),
            (int(games[a, b]), int(games[b, c]), int(games[c, a])),
            z,
        )
        for z, a, b, c in sorted(found, key=lambda one: (-round(one[0], 9), [names[i] for i in one[1:]]))
    ]


def _from_first(names: tuple[str, ...], circle: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the same circle, beginning with the first by name."""
    a, b, c = circle
    return min((a, b, c), (b, c, a), (c, a, b), key=lambda one: names[one[0]])
