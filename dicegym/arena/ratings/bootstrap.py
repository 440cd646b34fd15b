"""How far luck may have moved ratings: the same matches, weighted anew again and again.

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

from statistics import NormalDist

import numpy as np

from dicegym.arena.luck import CONFIDENCE
from dicegym.arena.ratings.choices import Choices, sparse_matrices
from dicegym.arena.ratings.likelihood import HALF, Likelihood, Summit, moments

NEAR = 0.03
"""A step of this length, in natural logarithms of odds, is the last one of a weighting: the next one would be about
its square."""
LEAST = 1e-3
"""Of the weight of half a game: beyond that there is nothing to be learnt."""
AT_ONCE = 4_000_000
"""Numbers that are worked on at a time."""
MOST_WORK = 150_000_000
"""With more numbers to look at for all weightings, one step has to do."""


def best_fit(likelihood: Likelihood) -> Summit:
    """Return the strengths that make the games most likely."""
    choices = likelihood.choices
    added = np.full((1, 2, choices.parameters), HALF)
    return likelihood.summit((choices.times @ choices.seen)[None], (choices.times @ choices.taken)[None], added)


def draws(likelihood: Likelihood, fit: Summit, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Return the parameters of so many weightings of the games: float64[replicates, parameters]."""
    choices = likelihood.choices
    added = np.maximum(rng.standard_gamma(HALF, (replicates, 2, choices.parameters)), LEAST)
    m = choices.parameters
    whole = replicates * (likelihood.size + m**3 // 30) <= MOST_WORK
    size = likelihood.size + m * m if whole else 0
    at_once = max(1, AT_ONCE // (len(choices.times) + size))
    scores = None if whole else _scores(likelihood, fit.parameters[0])
    found = np.empty((replicates, m))
    for first in range(0, replicates, at_once):
        some = slice(first, min(first + at_once, replicates))
        weights = rng.standard_gamma(choices.times, (some.stop - first, len(choices.times)))
        if scores is None:
            start = np.repeat(fit.parameters, some.stop - first, axis=0)
            summit = likelihood.summit(weights @ choices.seen, weights @ choices.taken, added[some], start, NEAR)
            found[some] = summit.parameters
        else:
            found[some] = weights @ scores
    if scores is not None:
        up = 1 / (1 + np.exp(-(fit.parameters[0] - likelihood.middle)))
        found += added[:, 0] * (1 - up) - added[:, 1] * up
        found = fit.parameters + np.linalg.solve(fit.curvature[0], found.T).T
    return found


def _scores(likelihood: Likelihood, parameters: np.ndarray) -> np.ndarray:
    """Return what each unit adds to the gradient: sparse float64[units, parameters]."""
    sparse = sparse_matrices()
    expected = []
    for shape in likelihood.choices.shapes:
        rows, k = shape.where.shape
        _, chance = likelihood.chances(shape, parameters[None])
        mean, _ = moments(shape, chance)
        where = (mean.ravel(), shape.where.ravel(), np.arange(rows + 1) * k)
        expected.append(sparse.csr_array(where, shape=(rows, len(parameters))))
    scores: np.ndarray = likelihood.choices.seen - likelihood.choices.taken @ sparse.vstack(expected)
    return scores


def spread(choices: Choices) -> np.ndarray:
    """Return how much wider draws must be for each entry, as it has so few units: float64[entries].

    Student's distribution in place of the normal one; and as ratings are fitted to the same units, those look less
    varied than they are, in games of two by about two of the units of each entry. The game that is added is one more.
    """
    from scipy.special import stdtrit

    units = np.maximum(choices.units_of, 1.0)
    high = 0.5 + CONFIDENCE / 2
    wider = stdtrit(units, high) / NormalDist().inv_cdf(high)
    return np.asarray(wider * np.sqrt((units + 1) / np.maximum(units - 1, 0.5)))
