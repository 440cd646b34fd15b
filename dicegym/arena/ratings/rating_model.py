"""The model of ratings: choices among the entries left, and the strengths with the highest likelihood.

A game is a row of choices: who is first of all, who is first of the others, and so on. Entries that share the last
place, below others, are not compared: a game that names only a winner says nothing about the order of the losers.

Plackett-Luce: of the entries that are left in a game, one comes next with a probability proportional to its strength.
In games of two this is Bradley-Terry's model, with Davidson's draws: a draw has d times the square root of the product
of both strengths. In larger games tied entries are treated as if they came one by one in an unknown order, by Efron's
approximation: the k-th of t is chosen from all others and (t - k + 1) / t of each of those t. So each counts as having
come in that place, ahead of all behind it.

Sources: R. L. Plackett, "The Analysis of Permutations", Applied Statistics 24 (1975); R. R. Davidson, "On Extending the
Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments", Journal of the American Statistical
Association 65 (1970); B. Efron, "The Efficiency of Cox's Likelihood Function for Censored Data", ibid. 72 (1977): Cox's
likelihood of the next failure is Plackett's. (In the ties of Davidson and Luce, arXiv:1909.07123, tied entries share
one choice; with places 1 2 3 2 4 5 6 7 that puts the third above both seconds, as updates after each game do.)

Logarithms of strengths and of d are the parameters of exponential families: the log-likelihood is concave, its gradient
is the observed less the expected statistics, and Newton's method finds the maximum.

In addition to its games each entry has won and lost half a game against an imagined entry of average strength, and
draws have half a draw and half a game that was none. So an entry that never lost has a finite strength, and fields that
never met share a scale. Source: H. L. Turner, J. van Etten, D. Firth, I. Kosmidis, "Modelling rankings in R: the
PlackettLuce package", Computational Statistics 35 (2020), whose imagined entry has the same weight.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dicegym.arena.ratings.match_places import MatchPlaces, Places
from dicegym.errors import DependencyError

HALF = 0.5
"""Weight of the games added on either side."""
LONGEST_STEP = 3.0
"""Largest change of a parameter in one step."""
NEAR = 1e-9
"""Largest change of a parameter in the last step."""
AT_ONCE = 10_000
"""Units in memory at a time."""
MOST_STEPS = 60
"""Newton's method needs about 5, and 20 where the added games are almost all that is known."""

ChoiceOutcome = tuple[tuple[tuple[int, float], ...], float]
"""An outcome of a choice: its statistics, as (parameter, value), and the logarithm of a further weight."""
Alternatives = tuple[ChoiceOutcome, ...]
"""All outcomes of a choice."""
Cell = tuple[int, int, float]
"""Row, column and value in a sparse array."""


class Likelihood:
    """The likelihood of games.

    Its parameters are the logarithms of the strengths of ``names``, then that of d if a game of two was drawn. A *unit*
    is what varies independently: a match, or one of its games. ``matches`` are from
    `dicegym.arena.ratings.match_places.group_matches`; the units of entries with fewer matches than ``fewest`` are
    their games. Raises DependencyError without SciPy.

    Attributes:
        names: of the entries.
        draws: whether a game of two was drawn.
        matches_of: int64[entries], the matches of each entry.
        games_of: int64[entries], its games.
        units_of: int64[entries], its units.
    """

    def __init__(self, matches: Sequence[MatchPlaces], fewest: int) -> None:
        self.names = tuple(sorted({name for match in matches for name in match.entries}))
        number, n = {name: i for i, name in enumerate(self.names)}, len(self.names)
        self.matches_of, self.games_of, self.units_of = np.zeros((3, n), np.int64)
        units = Counter[tuple[tuple[int, ...], Places]]()  # the players and the games -> equal units
        played = [(tuple(number[name] for name in match.entries), match) for match in matches]
        for players, match in played:
            self.matches_of[list(players)] += match.times
        for players, match in played:
            few = self.matches_of[list(players)].min() < fewest
            parts = [(((game, 1),), times) for game, times in match.places] if few else [(match.places, 1)]
            for places, times in parts:
                units[players, places] += match.times * times
        for (players, places), times in units.items():
            self.units_of[list(players)] += times
            self.games_of[list(players)] += times * sum(games for _, games in places)
        self.draws = any(game == (0, 0) for _, places in units for game, _ in places)
        choices_of = functools.cache(functools.partial(_choices_of_game, draw=n if self.draws else None))
        rows: dict[Alternatives, int] = {}
        taken, seen = list[Cell](), list[Cell]()  # how often each choice was made in a unit, and what was chosen
        for unit, (players, places) in enumerate(units):
            for game, times in places:
                choices, statistics = choices_of(players, game)
                taken += [(unit, rows.setdefault(choice, len(rows)), times) for choice in choices]
                seen += [(unit, parameter, times * value) for parameter, value in statistics]
        outcomes = [(row, *outcome) for row, choice in enumerate(rows) for outcome in choice]
        cells = [(i, *cell) for i, (_, statistics, _) in enumerate(outcomes) for cell in statistics]
        self._row_of = np.array([row for row, _, _ in outcomes])
        self._starts = np.flatnonzero(np.diff(self._row_of, prepend=-1))
        self._outcomes_of = sparse_sums(
            [(row, i, 1.0) for i, (row, _, _) in enumerate(outcomes)], len(rows), len(outcomes)
        )
        self._offsets = np.array([offset for _, _, offset in outcomes])
        self._statistics = sparse_sums(cells, len(outcomes), n + self.draws)
        self._times = np.array(list(units.values()), float)
        self._taken = sparse_sums(taken, len(units), len(rows))
        self._seen = sparse_sums(seen, len(units), n + self.draws)
        self._middle = np.zeros(n + self.draws)  # where the added games are in balance
        if self.draws:
            self._middle[-1] = np.log(2)  # two equals draw as often as they do not

    def _expect(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return the log of each choice's sum of weights, the chance of each outcome, and expected statistics.

        They are float64[choices], float64[outcomes] and sparse float64[choices, parameters].
        """
        logits = self._statistics @ parameters + self._offsets
        top = np.maximum.reduceat(logits, self._starts)
        weights = np.exp(logits - top[self._row_of])
        total = np.add.reduceat(weights, self._starts)
        chance = weights / total[self._row_of]
        return np.log(total) + top, chance, self._outcomes_of.multiply(chance).tocsr() @ self._statistics

    def look(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the log-likelihood, its gradient, and minus its second derivatives.

        ``parameters`` and the gradient are float64[parameters].
        """
        total, chance, expected = self._expect(parameters)
        seen, taken = self._times @ self._seen, self._times @ self._taken
        own = parameters - self._middle
        up = 1 / (1 + np.exp(-own))
        value = seen @ parameters - taken @ total - HALF * (np.logaddexp(0, own) + np.logaddexp(0, -own)).sum()
        gradient = seen - taken @ expected + HALF * (1 - 2 * up)
        # The covariance of a choice's statistics: the mean of their products less the product of their means
        products = self._statistics.T @ self._statistics.multiply((taken[self._row_of] * chance)[:, None])
        curvature = (products - expected.T @ expected.multiply(taken[:, None])).toarray()
        curvature[np.diag_indices(len(own))] += 2 * HALF * up * (1 - up)
        return float(value), gradient, curvature

    def maximum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters with the highest likelihood, float64[parameters], and minus its second derivatives.

        Newton's method finds them, with halved steps where one leads down.
        """
        found = self._middle.copy()
        value, gradient, curvature = self.look(found)
        for _ in range(MOST_STEPS):
            step = np.linalg.solve(curvature, gradient)
            longest = float(np.abs(step).max())
            step *= min(1.0, LONGEST_STEP / max(longest, 1e-300))
            before = value
            for _ in range(MOST_STEPS):
                value, gradient, curvature = self.look(found + step)
                if value >= before - 1e-9 * abs(before):
                    break
                step /= 2
            found += step
            if longest <= NEAR:
                break
        return found, curvature

    def variances(self, parameters: np.ndarray, curvature: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return the robust variance of weighted sums of strengths: float64[2, sums].

        The first row is the part of units that raise a sum, the second that of units that lower it. The units and the
        added games are as variable as they turned out, so games of a match may depend on each other.

        Args:
            parameters: where the likelihood is greatest.
            curvature: minus its second derivatives there.
            sums: float64[entries, sums], the weights.
        """
        scores = self._seen - self._taken @ self._expect(parameters)[2]
        up, half = 1 / (1 + np.exp(self._middle - parameters)), np.full(len(parameters), HALF)
        units = [(half, np.diag(1 - up)), (half, np.diag(-up))]
        parts = range(0, len(self._times), AT_ONCE)
        units += [(self._times[first : first + AT_ONCE], scores[first : first + AT_ONCE]) for first in parts]
        effect = np.linalg.inv(curvature)[:, : len(sums)] @ sums  # of a score
        found = np.zeros((2, sums.shape[1]))
        for times, own in units:
            moves = own @ effect
            found += times @ np.maximum(moves, 0) ** 2, times @ np.minimum(moves, 0) ** 2
        return found


def _choices_of_game(
    who: tuple[int, ...], places: tuple[int, ...], draw: int | None
) -> tuple[list[Alternatives], list[tuple[int, float]]]:
    """Return the choices of a game, and the statistics (parameter, value) of the chosen outcomes.

    ``places`` are those of the entries ``who``, from 0 without gaps; ``draw`` is the parameter of draws, if any.
    """
    choices, seen, left = list[Alternatives](), list[tuple[int, float]](), who
    drawn: Alternatives = (
        () if draw is None or len(who) > 2 else ((((who[0], HALF), (who[1], HALF), (draw, 1.0)), 0.0),)
    )
    for place in range(max(places) + 1):
        chosen = tuple([one for one, own in zip(who, places, strict=True) if own == place])
        if drawn and chosen == who:
            return [(*_next_of(who), *drawn)], list(drawn[0][0])
        if place == 0 or chosen != left:  # entries that share the last place are not compared
            seen += [(one, 1.0) for one in chosen]
            # If all are equal, it makes no difference how many are gone.
            together = () if chosen == left else chosen
            choices += [(*_next_of(left, together, gone), *drawn) for gone in range(len(chosen))]
        left = tuple([one for one in left if one not in chosen])
    return choices, seen


def _next_of(left: tuple[int, ...], together: tuple[int, ...] = (), gone: int = 0) -> Alternatives:
    """Return who may come next of ``left``, where ``gone`` of those that tied (``together``) count as gone."""
    less = float(np.log(1 - gone / len(together))) if together else 0.0
    return tuple([(((one, 1.0),), less if one in together else 0.0) for one in left])


def sparse_sums(cells: Iterable[Cell], rows: int, columns: int) -> Any:
    """Return the sums of values by cell: sparse float64[rows, columns]. Raises DependencyError without SciPy."""
    try:
        from scipy import sparse
    except ImportError as error:
        raise DependencyError.for_extra("SciPy", "arena", "a rating of all games at once") from error
    row, column, value = np.array(list(cells), float).reshape(-1, 3).T
    return sparse.csr_array((value, (row.astype(np.int64), column.astype(np.int64))), shape=(rows, columns))
