"""The model of ratings: who is chosen of those that are left, and the strengths that make what was seen most likely.

Plackett-Luce: of the entries that are left in a game, one comes next with a probability proportional to its strength.
In games of two this is Bradley-Terry's model, and where such games are drawn it is Davidson's: a draw has d times the
square root of the product of both strengths. In larger games those who come together are taken to have come one by one
in an unknown order, by Efron's approximation: the k-th of t is chosen from all others and (t - k + 1) / t of each of
those t. So each counts as having come in that place, with all those behind it beaten.

Sources: R. L. Plackett, "The Analysis of Permutations", Applied Statistics 24 (1975); R. R. Davidson, "On Extending the
Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments", Journal of the American Statistical
Association 65 (1970); B. Efron, "The Efficiency of Cox's Likelihood Function for Censored Data", ibid. 72 (1977): Cox's
likelihood of who fails next is Plackett's. (A tie of Davidson and Luce, arXiv:1909.07123, shares one choice among
those who tie; with places 1 2 3 2 4 5 6 7 that puts the third above both seconds, as updates after each game do.)

Logarithms of strengths and of d are the parameters of exponential families: the logarithm of the likelihood is
concave, its gradient is what was seen less what was to be expected, and Newton's method finds its summit.

Besides its games each entry has won half a game and lost half a game against an imagined entry of average strength,
and draws have half a draw and half a game that was none. So whoever never lost has a finite strength, and fields
that never met have one scale. Source: H. L. Turner, J. van Etten, D. Firth, I. Kosmidis, "Modelling rankings in R: the
PlackettLuce package", Computational Statistics 35 (2020), whose imagined entry counts as much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.ratings.choices import Choices, Shape, sparse_matrices

HALF = 0.5
"""Of a game that is added on either side."""
LONGEST_STEP = 3.0
"""By how much a parameter may change in one step."""
MOST_STEPS = 60
"""Newton's method needs about 5, and 20 where hardly anything but the added games is known."""


class Summit(NamedTuple):
    """Where the likelihood of several weightings of the same games is greatest."""

    parameters: np.ndarray
    """float64[weightings, parameters]."""
    curvature: np.ndarray
    """float64[weightings, parameters, parameters]: minus the second derivatives there."""


class Likelihood:
    """The likelihood of games, for many weightings of them at once."""

    def __init__(self, choices: Choices) -> None:
        sparse = sparse_matrices()
        m = choices.parameters
        self.choices = choices
        self.middle = np.zeros(m)
        """float64[parameters]: where the games that are added are in balance."""
        if choices.draws:
            self.middle[-1] = np.log(2)  # a draw of two equals is as likely as a game that is none
        self._parts: list[tuple[slice, Shape, Any, Any]] = []
        at = 0
        for shape in choices.shapes:
            rows = len(shape.where)
            both = (shape.where[:, :, None] * m + shape.where[:, None, :]).ravel()
            sums = _gather(sparse, shape.where.ravel(), m), _gather(sparse, both, m * m)
            self._parts.append((slice(at, at + rows), shape, *sums))
            at += rows

    @property
    def size(self) -> int:
        """How many numbers one look at the likelihood of one weighting takes, about."""
        return sum(
            shape.where.shape[0] * (len(shape.outcomes) + shape.where.shape[1] ** 2) for shape in self.choices.shapes
        )

    def chances(self, shape: Shape, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithm of the sum of all outcomes' weights, and their chances.

        Returns:
            float64[weightings, rows] and float64[weightings, rows, outcomes].
        """
        logits = parameters[:, shape.where]
        if not shape.single:
            logits = logits @ shape.outcomes.T
        logits += shape.offset
        top = logits.max(axis=-1, keepdims=True)
        logits -= top
        np.exp(logits, out=logits)
        total = logits.sum(axis=-1, keepdims=True)
        logits /= total
        return (np.log(total) + top)[..., 0], logits

    def look(
        self, parameters: np.ndarray, seen: np.ndarray, taken: np.ndarray, added: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the logarithm of the likelihood, its gradient, and minus its second derivatives.

        Args:
            parameters: float64[weightings, parameters].
            seen: float64[weightings, parameters], the sums of what was chosen.
            taken: float64[weightings, rows], how often there was each choice.
            added: float64[weightings, 2, parameters], what is added for and against each parameter.
        """
        b, m = parameters.shape
        value = (seen * parameters).sum(axis=1)
        gradient = seen.copy()
        curvature = np.zeros((b, m * m))
        for rows, shape, first, second in self._parts:
            total, chance = self.chances(shape, parameters)
            count = taken[:, rows]
            value -= (count * total).sum(axis=1)
            mean, square = moments(shape, chance)
            square *= count[..., None, None]
            curvature += square.reshape(b, -1) @ second
            mean *= count[..., None]
            gradient -= mean.reshape(b, -1) @ first
        own = parameters - self.middle
        up = 1 / (1 + np.exp(-own))
        both = added.sum(axis=1)
        value -= (added[:, 0] * np.logaddexp(0, -own) + added[:, 1] * np.logaddexp(0, own)).sum(axis=1)
        gradient += added[:, 0] - both * up
        curvature[:, :: m + 1] += both * up * (1 - up)
        return value, gradient, curvature.reshape(b, m, m)

    def summit(
        self,
        seen: np.ndarray,
        taken: np.ndarray,
        added: np.ndarray,
        start: np.ndarray | None = None,
        near: float = 1e-9,
    ) -> Summit:
        """Return the summit for each weighting: Newton's method, with shorter steps where one leads down.

        Args:
            seen: float64[weightings, parameters], the sums of what was chosen.
            taken: float64[weightings, rows], how often there was each choice.
            added: float64[weightings, 2, parameters], what is added for and against each parameter.
            start: float64[weightings, parameters]; default: all entries equal.
            near: ends with a step shorter than this.
        """
        b, m = seen.shape
        found = np.tile(self.middle, (b, 1)) if start is None else start.copy()
        curvature = np.empty((b, m, m))
        value, gradient, curve = self.look(found, seen, taken, added)
        going = np.arange(b)
        step = np.zeros((b, m))
        for _ in range(MOST_STEPS):
            step[going] = np.linalg.solve(curve, gradient[..., None])[..., 0]
            longest = np.abs(step[going]).max(axis=1, initial=0.0)
            curvature[going] = curve
            step[going] *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))[:, None]
            found[going] += step[going]
            keep = longest > near
            going, value = going[keep], value[keep]
            if not len(going):
                break
            after, gradient, curve = self.look(found[going], seen[going], taken[going], added[going])
            for _ in range(MOST_STEPS):
                worse = after < value - 1e-9 * np.abs(value)
                if not worse.any():
                    break
                back = going[worse]
                step[back] /= 2
                found[back] -= step[back]
                after[worse], gradient[worse], curve[worse] = self.look(
                    found[back], seen[back], taken[back], added[back]
                )
            value = after
        return Summit(found, curvature)


def moments(shape: Shape, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of the statistic of choices, and their covariances, by the chances of their outcomes.

    Returns:
        float64[weightings, rows, k] and float64[weightings, rows, k, k], where k counts parameters.
    """
    if shape.single:
        square = -chance[..., :, None] * chance[..., None, :]
        np.einsum("...ii->...i", square)[...] += chance
        return chance, square
    mean = chance @ shape.outcomes
    products = (shape.outcomes[:, :, None] * shape.outcomes[:, None, :]).reshape(len(shape.outcomes), -1)
    square = (chance @ products).reshape(*mean.shape, -1)
    square -= mean[..., :, None] * mean[..., None, :]
    return mean, square


def _gather(sparse: Any, where: np.ndarray, n: int) -> Any:
    """Return the matrix that adds up numbers by where they belong: float64[numbers, n]."""
    ones = np.ones(len(where))
    return sparse.csr_array((ones, where, np.arange(len(where) + 1)), shape=(len(where), n))
