"""Ratings of all games of a contest at once, with how far luck may have moved them.

Matches are drawn by the Bayesian bootstrap: each match counts with a weight of mean 1, exponentially distributed, so
no match vanishes altogether and equal matches are weighted together (a gamma distribution). The half games that are
added to each entry are weighted in the same way. For an entry that meets equals alone this makes the interval of
Jeffreys' prior, which covers although plain resampling of nothing but wins would see no luck at all.

Ratings are computed from the whole again for each weighting. Where that would take too long, one step of Newton's
method is taken from the ratings that were found; the more games there are, the less it leaves.

Sources: D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9 (1981); M. A. Newton, A. E. Raftery, "Approximate
Bayesian Inference with the Weighted Likelihood Bootstrap", Journal of the Royal Statistical Society B 56 (1994);
L. D. Brown, T. T. Cai, A. DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16 (2001).
Draws are spread a little, as few matches look less varied than they are: T. C. Hesterberg, "What Teachers Should Know
About the Bootstrap", The American Statistician 69 (2015).
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
"""Of the ratings of a field's core: of all entries of which each has been ahead of each, directly or through others."""
SCALE = 400 / math.log(10)
"""Points of the Elo scale for each natural logarithm of odds: 400 points ahead are odds of ten to one."""
REPLICATES = 400
"""How often matches are weighted anew."""
FEWEST_MATCHES = 20
"""The games of an entry that has fewer matches are drawn one by one: so few matches say little of their own luck."""
NEAR = 0.03
"""A step of this length, in natural logarithms of odds, is the last one of a weighting: the next one would be about
its square."""
LEAST = 1e-3
"""Of the weight of half a game: beyond that there is nothing to be learnt."""
AT_ONCE = 4_000_000
"""Numbers that are worked on at a time."""
MOST_WORK = 150_000_000
"""With more numbers to look at for all weightings, one step has to do."""


@dataclass(frozen=True)
class Rating:
    """How strong an entry is.

    Attributes:
        place: 1 for the best; equal ratings share a place.
        name: the entry.
        rating: on the Elo scale, with 1500 in the middle.
        low: the rating is this or more ...
        high: ... and this or less, in 95 of 100 contests. Infinite where games set no bound, as for an entry that never
            lost.
        games: that it played.
        matches: that it played.
    """

    place: int
    name: str
    rating: float
    low: float
    high: float
    games: int
    matches: int

    def bounds_to_json(self) -> dict[str, float | None]:
        """Return the rating and its bounds as JSON has them."""
        found = {"rating": self.rating, "low": self.low, "high": self.high}
        return {name: round(value, 2) if math.isfinite(value) else None for name, value in found.items()}


@dataclass(frozen=True)
class Ratings:
    """The ratings of the entries of matches.

    Attributes:
        rows: best first, equal ones by name.
        games: how many games they come from.
        matches: how many matches.
        draw: how much likelier a draw of two equals is than a win of one of them; 0 if no game of two was drawn.
        fields: entries that have met, directly or through others, by name. Several fields cannot be compared.
        replicates: how often matches were weighted anew for the intervals; with 0 they are infinite.
    """

    rows: tuple[Rating, ...]
    games: int
    matches: int
    draw: float
    fields: tuple[tuple[str, ...], ...]
    replicates: int

    def __getitem__(self, name: str) -> Rating:
        """Return the rating of an entry by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise unknown_name("rated entry", name, sorted(row.name for row in self.rows))

    def chance(self, name: str, other: str) -> float:
        """Return how often an entry is ahead of another one in games in which they do not tie, by their ratings."""
        behind = (self[other].rating - self[name].rating) / SCALE
        return 1 / (1 + math.exp(min(behind, 700.0)))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values; an infinite bound is None."""
        return {
            "games": self.games,
            "matches": self.matches,
            "confidence": CONFIDENCE,
            "replicates": self.replicates,
            "fields": [list(field) for field in self.fields],
            "draw": round(self.draw, 6),
            "ratings": [asdict(row) | row.bounds_to_json() for row in self.rows],
        }


def fit(matches: Iterable[MatchPlaces], *, replicates: int = REPLICATES, seed: int = 0) -> Ratings:
    """Rate the entries of matches by all their games at once.

    The model is Plackett-Luce's, which is Bradley-Terry's in games of two, with draws by Davidson
    (`dicegym.arena.ratings.rating_model` has the sources); intervals come from a bootstrap over matches. The order of
    matches, and of entries in them, makes no difference.

    Args:
        matches: the games, of any number of players; see `dicegym.arena.ratings.match_places`.
        replicates: how often matches are weighted anew for the intervals; 0 leaves intervals open.
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
    """Return float64[weightings, entries], less the mean of the core of their field."""
    member = (fields[:, None] == np.arange(fields.max() + 1)) & core[:, None]
    return np.asarray(strengths - (strengths @ member / member.sum(axis=0))[:, fields])


def _components(met: np.ndarray, connection: str) -> np.ndarray:
    """Return the number of the component of each entry: int64[entries]."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(met, connection=connection)[1], np.int64)


def _core(asked: Choices, fields: np.ndarray, equals: np.ndarray) -> np.ndarray:
    """Return the entries whose mean is the middle: bool[entries].

    In each field these are the most entries whose distances are known from above and from below, as each has been ahead
    of each, directly or through others; where there are no two, all. An entry that always comes last would move a mean
    that counts it, by an unknown distance.
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
    """Return whose rating games bound from below, and whose from above: two bool[entries].

    From above are bounded those that one of the core was ahead of, directly or through others; where no two belong
    together, those that anybody was ahead of. From below the other way round.
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
    """Return the strengths that make the games most likely."""
    asked = likelihood.choices
    added = np.full((1, 2, asked.parameters), HALF)
    return likelihood.summit(Weighting((asked.times @ asked.seen)[None], (asked.times @ asked.taken)[None], added))


def draws(likelihood: Likelihood, fit: Summit, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Return the parameters of ``replicates`` weightings of the games: float64[replicates, parameters]."""
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
    if scores is not None:  # one step of Newton's method
        up = 1 / (1 + np.exp(-(fit.parameters[0] - likelihood.middle)))
        found += added[:, 0] * (1 - up) - added[:, 1] * up
        found = fit.parameters + np.linalg.solve(fit.curvature[0], found.T).T
    return found


def spread(asked: Choices) -> np.ndarray:
    """Return how much wider draws must be for each entry, as it has so few units: float64[entries].

    Student's distribution in place of the normal one; and as ratings are fitted to the same units, those look less
    varied than they are, in games of two by about two of the units of each entry. The game that is added is one more.
    """
    from scipy.special import stdtrit

    units = np.maximum(asked.units_of, 1.0)
    high = 0.5 + CONFIDENCE / 2
    wider = stdtrit(units, high) / NormalDist().inv_cdf(high)
    return np.asarray(wider * np.sqrt((units + 1) / np.maximum(units - 1, 0.5)))
