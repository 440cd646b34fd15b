"""Ratings from all games of a contest at once, with intervals.

The intervals come from the robust ("sandwich") variance of the strengths with the highest likelihood: the scores of
whole matches say how much they vary, so games of a match may depend on each other. Matches that raise a rating and
those that lower it are counted apart, as the strength of an entry that rarely wins is much surer from above than from
below. For an entry that meets only equals this gives the interval of Jeffreys' prior. Intervals are widened as Student
did, and for the few matches of an entry, as residuals vary too little.

Sources: P. J. Huber, "The Behavior of Maximum Likelihood Estimates under Nonstandard Conditions", Proceedings of the
Fifth Berkeley Symposium 1 (1967); H. White, "Maximum Likelihood Estimation of Misspecified Models", Econometrica 50
(1982); clusters: K.-Y. Liang, S. L. Zeger, "Longitudinal Data Analysis Using Generalized Linear Models", Biometrika 73
(1986); Jeffreys' interval: L. D. Brown, T. T. Cai, A. DasGupta, "Interval Estimation for a Binomial Proportion",
Statistical Science 16 (2001).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from dicegym.arena.ratings.match_places import MatchPlaces, count_pairs, group_matches
from dicegym.arena.ratings.rating_model import Likelihood
from dicegym.engine.threads import one_thread_of_products
from dicegym.errors import ParameterError, unknown_name

CONFIDENCE = 0.95
"""Of intervals."""
MEAN = 1500.0
"""Mean rating of a field's core: the entries that have all been ahead of each other, directly or through others."""
SCALE = 400 / math.log(10)
"""Elo points for each natural logarithm of odds: 400 points are odds of ten to one."""
FEWEST_MATCHES = 20
"""With fewer matches the games of an entry vary one by one: so few matches show little of their own variance."""


@dataclass(frozen=True)
class Rating:
    """The rating of an entry.

    Attributes:
        place: 1 for the best; equal ratings share a place.
        name: the entry.
        rating: on the Elo scale, with 1500 in the middle.
        low: lower end of the 95 % interval; infinite if the games set no bound, as for an entry that never won.
        high: its upper end; infinite as for an entry that never lost.
        games: games played.
        matches: matches played.
    """

    place: int
    name: str
    rating: float
    low: float
    high: float
    games: int
    matches: int


@dataclass(frozen=True)
class Ratings:
    """The ratings of the entries of matches.

    Attributes:
        rows: best first, equal ones by name.
        games: number of games.
        matches: number of matches.
        draw: how much likelier a draw of two equals is than a win of one of them; 0 if no game of two was drawn.
        fields: entries that have met, directly or through others, by name. Several fields cannot be compared.
    """

    rows: tuple[Rating, ...]
    games: int
    matches: int
    draw: float
    fields: tuple[tuple[str, ...], ...]

    def __getitem__(self, name: str) -> Rating:
        """Return the rating of an entry. Raises UnknownNameError."""
        for row in self.rows:
            if row.name == name:
                return row
        raise unknown_name("rated entry", name, sorted(row.name for row in self.rows))

    def chance(self, name: str, other: str) -> float:
        """Return the expected share of games that are not ties in which ``name`` is ahead of ``other``."""
        behind = (self[other].rating - self[name].rating) / SCALE
        return 1 / (1 + math.exp(min(behind, 700.0)))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values; an infinite bound is None."""

        def plain(row: Rating) -> dict[str, Any]:
            bounds = {"rating": row.rating, "low": row.low, "high": row.high}
            return asdict(row) | {name: round(x, 2) if math.isfinite(x) else None for name, x in bounds.items()}

        return {
            "games": self.games,
            "matches": self.matches,
            "confidence": CONFIDENCE,
            "fields": [list(field) for field in self.fields],
            "draw": round(self.draw, 6),
            "ratings": [plain(row) for row in self.rows],
        }


def fit(matches: Iterable[MatchPlaces]) -> Ratings:
    """Rate the entries of matches from all their games at once.

    The model is Plackett-Luce, which is Bradley-Terry in games of two, with Davidson's draws
    (`dicegym.arena.ratings.rating_model` has the sources). Intervals come from the robust standard error (Huber 1967,
    White 1982), clustered by match (Liang and Zeger 1986). The order of matches, and of entries in them, makes no
    difference.

    Args:
        matches: the games, of any number of players; see `dicegym.arena.ratings.match_places`.

    Raises:
        ParameterError: there is no game, or an invalid match.
        DependencyError: SciPy is not installed.
    """
    found = group_matches(matches)
    if not found:
        raise ParameterError("no match with a game was given, so there is nothing to rate: play one first")
    asked = Likelihood(found, FEWEST_MATCHES)
    n = len(asked.names)
    ahead, level = count_pairs(found, asked.names)
    met = ahead + level
    fields, equals = _components(met, "weak"), _components(met, "strong")
    core = _core(asked, fields, equals)
    with one_thread_of_products():
        best, curvature = asked.maximum()
        centred = centring(fields, core)
        strength = best[:n] @ centred
        reach = reaches(asked.variances(best, curvature, centred), asked.units_of)
    below, above = _bounded(ahead, met, fields, equals, core)
    low, high = np.where(below, strength - reach[0], -math.inf), np.where(above, strength + reach[1], math.inf)
    merits = [round(float(value), 9) for value in strength]
    rows = []
    for i in sorted(range(n), key=lambda i: (-merits[i], asked.names[i])):
        place = 1 + sum(merit > merits[i] for merit in merits)
        rating, least, most = (MEAN + SCALE * float(value) for value in (strength[i], low[i], high[i]))
        rows.append(
            Rating(place, asked.names[i], rating, least, most, int(asked.games_of[i]), int(asked.matches_of[i]))
        )
    return Ratings(
        tuple(rows),
        sum(match.times * sum(times for _, times in match.places) for match in found),
        sum(match.times for match in found),
        math.exp(best[-1]) if asked.draws else 0.0,
        tuple(tuple(asked.names[i] for i in np.flatnonzero(fields == field)) for field in range(fields.max() + 1)),
    )


def centring(fields: np.ndarray, core: np.ndarray) -> np.ndarray:
    """Return the matrix that takes the mean of its field's core from each strength: float64[entries, entries]."""
    member = (fields[:, None] == np.arange(fields.max() + 1)) & core[:, None]
    return np.asarray(np.eye(len(core)) - (member / member.sum(axis=0))[:, fields])


def _components(met: np.ndarray, connection: str) -> np.ndarray:
    """Return the component of each entry: int64[entries]."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(met, connection=connection)[1], np.int64)


def _core(asked: Likelihood, fields: np.ndarray, equals: np.ndarray) -> np.ndarray:
    """Return the entries whose mean is the middle: bool[entries].

    They are the largest group of each field in which each has been ahead of each, directly or through others, so their
    distances are bounded from both sides. If no two are, all entries count. The rating of an entry that is always last
    has no lower bound: its unknown distance would move the mean.
    """
    core = np.zeros(len(fields), bool)
    for field in range(fields.max() + 1):
        those = np.flatnonzero(fields == field)
        sizes = np.bincount(equals[those])
        games = np.bincount(equals[those], asked.games_of[those])
        best = max(dict.fromkeys(equals[those].tolist()), key=list(zip(sizes, games, strict=True)).__getitem__)
        core[those] = (equals[those] == best) | (sizes[best] == 1)
    return core


def _bounded(
    ahead: np.ndarray, met: np.ndarray, fields: np.ndarray, equals: np.ndarray, core: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return whose rating has a lower bound, and whose has an upper one: two bool[entries].

    An upper bound: one of the core was ahead of it, directly or through others. In a field without a core: anybody was
    ahead of it. Lower bounds are the reverse.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    graph = csr_array(met)
    below, above = (np.asarray((ahead > 0).any(axis=axis)) for axis in (1, 0))
    for field in range(fields.max() + 1):
        those = (fields == field) & core
        if np.ptp(equals[those]) == 0:
            for bounded, edges in ((below, graph.T.tocsr()), (above, graph)):
                bounded[fields == field] = False
                bounded[breadth_first_order(edges, np.flatnonzero(those)[0], return_predecessors=False)] = True
    return below, above


def reaches(variances: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return how far intervals reach down and up: float64[2, entries].

    Odds are the ratio of two gamma variables, so their logarithm is that of an F variable. Its degrees of freedom give
    ``variances``, which are from `Likelihood.variances`. ``units`` are those of each entry. The factor replaces the
    normal distribution by Student's, and corrects that ratings are fitted to the same units: residuals vary too little,
    in games of two by about two of an entry's units. The added game counts as a unit.
    """
    from scipy.special import fdtri, stdtrit

    raised, lowered = 2 / np.maximum(variances, 1e-15)  # beyond 1e16 degrees of freedom SciPy finds no quantile
    high = 0.5 + CONFIDENCE / 2
    wider = stdtrit(units, high) / NormalDist().inv_cdf(high) * np.sqrt((units + 1) / np.maximum(units - 1, 0.5))
    both = np.log([fdtri(lowered, raised, high), fdtri(raised, lowered, high)])
    return np.asarray(wider * np.maximum(both, 0))
