"""Ratings from all games of a contest at once, with intervals.

The intervals come from a Bayesian bootstrap over matches: each match has an exponentially distributed weight of mean 1,
so no match vanishes, and equal matches share a gamma distribution. The half games added for each entry are weighted in
the same way. For an entry that meets only equals this gives the interval of Jeffreys' prior, which covers even where
plain resampling of nothing but wins would have no variance.

Ratings are fitted again for each weighting. Where that would take too long, one step of Newton's method from the fitted
ratings replaces it; its error shrinks with the number of games.

Sources: D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9 (1981); M. A. Newton, A. E. Raftery, "Approximate
Bayesian Inference with the Weighted Likelihood Bootstrap", Journal of the Royal Statistical Society B 56 (1994);
L. D. Brown, T. T. Cai, A. DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16 (2001).
Draws are widened a little, as a bootstrap of few matches has too little variance: T. C. Hesterberg, "What Teachers
Should Know About the Bootstrap", The American Statistician 69 (2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from dicegym.arena.ratings.match_places import MatchPlaces, count_pairs, group_matches
from dicegym.arena.ratings.rating_model import HALF, Choices, Likelihood, Summit, Weighting, choices
from dicegym.engine.threads import one_thread_of_products
from dicegym.engine.validate import seed_number, whole_number
from dicegym.errors import ParameterError, unknown_name

CONFIDENCE = 0.95
"""Of intervals."""
MEAN = 1500.0
"""Mean rating of a field's core: the entries that have all been ahead of each other, directly or through others."""
SCALE = 400 / math.log(10)
"""Elo points for each natural logarithm of odds: 400 points are odds of ten to one."""
REPLICATES = 400
"""Number of weightings."""
FEWEST_MATCHES = 20
"""With fewer matches the games of an entry are drawn one by one: so few matches show little of their own variance."""
NEAR = 0.03
"""The last step of a weighting, in natural logarithms of odds: the next one would be about its square."""
LEAST = 1e-3
"""Least weight of an added half game: smaller ones change nothing visible."""
AT_ONCE = 4_000_000
"""Numbers in memory at a time."""
MOST_WORK = 150_000_000
"""With more numbers in all weightings together, one Newton step is taken."""


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
        replicates: number of weightings for the intervals; with 0 they are infinite.
    """

    rows: tuple[Rating, ...]
    games: int
    matches: int
    draw: float
    fields: tuple[tuple[str, ...], ...]
    replicates: int

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
            "replicates": self.replicates,
            "fields": [list(field) for field in self.fields],
            "draw": round(self.draw, 6),
            "ratings": [plain(row) for row in self.rows],
        }


def fit(matches: Iterable[MatchPlaces], *, replicates: int = REPLICATES, seed: int = 0) -> Ratings:
    """Rate the entries of matches from all their games at once.

    The model is Plackett-Luce, which is Bradley-Terry in games of two, with Davidson's draws
    (`dicegym.arena.ratings.rating_model` has the sources); intervals come from a bootstrap over matches. The order of
    matches, and of entries in them, makes no difference.

    Args:
        matches: the games, of any number of players; see `dicegym.arena.ratings.match_places`.
        replicates: number of weightings for the intervals; 0: infinite intervals.
        seed: names the weightings.

    Raises:
        ParameterError: there is no game, or an invalid match.
        DependencyError: SciPy is not installed.
    """
    whole_number("replicates", replicates, 0, 1_000_000, "the number of weightings")
    seed = seed_number("seed", seed, "a number that names the weightings")
    found = group_matches(matches)
    if not found:
        raise ParameterError("no match with a game was given, so there is nothing to rate: play one first")
    asked = choices(found, FEWEST_MATCHES)
    likelihood = Likelihood(asked)
    n = len(asked.names)
    with one_thread_of_products():
        summit = best_fit(likelihood)
        drawn = draws(likelihood, summit, replicates, np.random.default_rng(seed))[:, :n]
    ahead, level = count_pairs(found, asked.names)
    met = ahead + level
    fields, equals = _components(met, "weak"), _components(met, "strong")
    core = _core(asked, fields, equals)
    strength = centre(summit.parameters[:, :n], fields, core)[0]
    low, high = np.full(n, -math.inf), np.full(n, math.inf)
    if replicates:
        drawn = strength + spread(asked) * (centre(drawn, fields, core) - strength)
        below, above = _bounded(ahead, met, fields, equals, core)
        low, high = np.quantile(drawn, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2], axis=0)
        low = np.where(below, np.minimum(low, strength), -math.inf)
        high = np.where(above, np.maximum(high, strength), math.inf)
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
        math.exp(summit.parameters[0, -1]) if asked.draws else 0.0,
        tuple(tuple(asked.names[i] for i in np.flatnonzero(fields == field)) for field in range(fields.max() + 1)),
        replicates,
    )


def centre(strengths: np.ndarray, fields: np.ndarray, core: np.ndarray) -> np.ndarray:
    """Return strengths less the mean of their field's core: float64[weightings, entries]."""
    member = (fields[:, None] == np.arange(fields.max() + 1)) & core[:, None]
    return np.asarray(strengths - (strengths @ member / member.sum(axis=0))[:, fields])


def _components(met: np.ndarray, connection: str) -> np.ndarray:
    """Return the component of each entry: int64[entries]."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(met, connection=connection)[1], np.int64)


def _core(asked: Choices, fields: np.ndarray, equals: np.ndarray) -> np.ndarray:
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


def best_fit(likelihood: Likelihood) -> Summit:
    """Return the strengths with the highest likelihood."""
    asked = likelihood.choices
    added = np.full((1, 2, asked.parameters), HALF)
    return likelihood.summit(Weighting((asked.times @ asked.seen)[None], (asked.times @ asked.taken)[None], added))


def draws(likelihood: Likelihood, fit: Summit, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Return the parameters of each weighting of the games: float64[replicates, parameters]."""
    asked = likelihood.choices
    m, units = asked.parameters, len(asked.times)
    added = np.maximum(rng.standard_gamma(HALF, (replicates, 2, m)), LEAST)
    whole = replicates * (likelihood.size + m**3 // 30) <= MOST_WORK
    at_once = max(1, AT_ONCE // (units + (likelihood.size + m * m if whole else 0)))
    scores = None if whole else asked.seen - asked.taken @ likelihood.expect_statistics(fit.parameters[0])
    found = np.empty((replicates, m))
    for first in range(0, replicates, at_once):
        some = slice(first, min(first + at_once, replicates))
        weights = rng.standard_gamma(asked.times, (some.stop - first, units))
        if scores is None:
            games = Weighting(weights @ asked.seen, weights @ asked.taken, added[some])
            start = np.repeat(fit.parameters, some.stop - first, axis=0)
            found[some] = likelihood.summit(games, start, NEAR).parameters
        else:
            found[some] = weights @ scores
    if scores is not None:  # a step of Newton's method
        up = 1 / (1 + np.exp(-(fit.parameters[0] - likelihood.middle)))
        found += added[:, 0] * (1 - up) - added[:, 1] * up
        found = fit.parameters + np.linalg.solve(fit.curvature[0], found.T).T
    return found


def spread(asked: Choices) -> np.ndarray:
    """Return the factor that widens draws for entries with few units: float64[entries].

    It replaces the normal distribution by Student's, and corrects that ratings are fitted to the same units: residuals
    vary too little, in games of two by about two of an entry's units. The added game counts as a unit.
    """
    from scipy.special import stdtrit

    units = np.maximum(asked.units_of, 1.0)
    high = 0.5 + CONFIDENCE / 2
    wider = stdtrit(units, high) / NormalDist().inv_cdf(high)
    return np.asarray(wider * np.sqrt((units + 1) / np.maximum(units - 1, 0.5)))
