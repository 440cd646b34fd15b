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
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.ratings.match_places import MatchPlaces, Places
from dicegym.errors import DependencyError

HALF = 0.5
"""Weight of the games added on either side."""
LONGEST_STEP = 3.0
"""Largest change of a parameter in one step."""
MOST_STEPS = 60
"""Newton's method needs about 5, and 20 where the added games are almost all that is known."""


# --- games as choices -----------------------------------------------------------------------------------------------


ChoiceOutcome = tuple[tuple[tuple[int, float], ...], float]
"""An outcome of a choice: its statistics, as (parameter, value), and the logarithm of a further weight."""
Row = tuple[ChoiceOutcome, ...]
"""A kind of choice: all its outcomes."""


@dataclass(frozen=True)
class Choices:
    """The choices in matches. Parameters are the strengths of ``names`` in order, then that of draws if there are any.

    A *unit* is what the bootstrap draws: a match, or one of its games. A *row* is a kind of choice.

    Attributes:
        names: of the entries.
        draws: whether a game of two was drawn.
        rows: the kinds of choices.
        taken: sparse float64[units, rows], how often each choice was made in a unit.
        seen: sparse float64[units, parameters], the sum of the statistics of the chosen outcomes.
        times: float64[units], the number of equal units.
        units_of: float64[entries], the units of each entry.
        games_of: int64[entries], its games.
        matches_of: int64[entries], its matches.
    """

    names: tuple[str, ...]
    draws: bool
    rows: tuple[Row, ...]
    taken: Any
    seen: Any
    times: np.ndarray
    units_of: np.ndarray
    games_of: np.ndarray
    matches_of: np.ndarray

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return len(self.names) + self.draws


def choices(matches: Sequence[MatchPlaces], fewest: int) -> Choices:
    """Return the choices in ``matches`` from `dicegym.arena.ratings.match_places.group_matches`.

    The units of entries with fewer matches than ``fewest`` are their games. Raises DependencyError without SciPy.
    """
    names = tuple(sorted({name for match in matches for name in match.entries}))
    number = {name: i for i, name in enumerate(names)}
    n = len(names)
    matches_of, games_of, units_of = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    for match in matches:
        who = [number[name] for name in match.entries]
        matches_of[who] += match.times
        games_of[who] += match.times * sum(times for _, times in match.places)
    units: dict[tuple[tuple[int, ...], Places], int] = defaultdict(int)  # the players and the games -> equal units
    for match in matches:
        players = tuple(number[name] for name in match.entries)
        parts: list[tuple[Places, int]] = [(match.places, 1)]
        if matches_of[list(players)].min() < fewest:
            parts = [(((game, 1),), times) for game, times in match.places]
        for places, times in parts:
            units[players, places] += match.times * times
    for (players, _), times in units.items():
        units_of[list(players)] += times
    draws = any(game == (0, 0) for _, places in units for game, _ in places)
    rows: dict[Row, int] = {}

    @functools.cache
    def choices_of(players: tuple[int, ...], game: tuple[int, ...]) -> tuple[list[int], list[tuple[int, float]]]:
        made, statistics = _choices_of_game(players, game, n if draws else None)
        return [rows.setdefault(row, len(rows)) for row in made], statistics

    taken, seen = list[tuple[int, int, float]](), list[tuple[int, int, float]]()
    for unit, (players, places) in enumerate(units):
        for game, times in places:
            numbers, statistics = choices_of(players, game)
            taken += [(unit, row, times) for row in numbers]
            seen += [(unit, parameter, times * value) for parameter, value in statistics]
    times_of = np.array(list(units.values()), dtype=float)
    sums = sparse_sums(taken, len(units), len(rows)), sparse_sums(seen, len(units), n + draws)
    return Choices(names, draws, tuple(rows), *sums, times_of, units_of, games_of, matches_of)


def _choices_of_game(
    who: tuple[int, ...], places: tuple[int, ...], draw: int | None
) -> tuple[list[Row], list[tuple[int, float]]]:
    """Return the choices of a game, and the statistics (parameter, value) of the chosen outcomes.

    ``places`` are those of the entries ``who``, from 0 without gaps; ``draw`` is the parameter of draws, if any.
    """
    rows, seen, left = list[Row](), list[tuple[int, float]](), who
    drawn: Row = () if draw is None or len(who) > 2 else ((((who[0], HALF), (who[1], HALF), (draw, 1.0)), 0.0),)
    for place in range(max(places) + 1):
        chosen = tuple([one for one, own in zip(who, places, strict=True) if own == place])
        if drawn and chosen == who:
            return [(*_next_of(who), *drawn)], list(drawn[0][0])
        if place == 0 or chosen != left:  # entries that share the last place are not compared
            seen += [(one, 1.0) for one in chosen]
            # If all are equal, it makes no difference how many are gone.
            rows += [(*_next_of(left, () if chosen == left else chosen, gone), *drawn) for gone in range(len(chosen))]
        left = tuple([one for one in left if one not in chosen])
    return rows, seen


def _next_of(left: tuple[int, ...], together: tuple[int, ...] = (), gone: int = 0) -> Row:
    """Return who may come next of ``left``, where ``gone`` of those that tied (``together``) count as gone."""
    less = np.log(1 - gone / len(together)) if together else 0.0
    return tuple([(((one, 1.0),), less if one in together else 0.0) for one in left])


def sparse_sums(cells: Iterable[tuple[int, int, float]], rows: int, columns: int) -> Any:
    """Return the sums of (row, column, value): sparse float64[rows, columns]. Raises DependencyError without SciPy."""
    try:
        from scipy import sparse
    except ImportError as error:
        raise DependencyError.for_extra("SciPy", "arena", "a rating of all games at once") from error
    found = np.array(list(cells), float).reshape(-1, 3)
    where = tuple(found[:, :2].T.astype(np.int64))
    return sparse.csr_array((found[:, 2], where), shape=(rows, columns))


# --- likelihood -----------------------------------------------------------------------------------------------------


class Weighting(NamedTuple):
    """The weights of several weightings of the games."""

    seen: np.ndarray
    """float64[weightings, parameters]: the sums of the statistics of the chosen outcomes."""
    taken: np.ndarray
    """float64[weightings, rows]: how often each choice was made."""
    added: np.ndarray
    """float64[weightings, 2, parameters]: the games added for and against each parameter."""

    def of(self, which: np.ndarray) -> Weighting:
        """Return some of the weightings."""
        return Weighting(self.seen[which], self.taken[which], self.added[which])


class Summit(NamedTuple):
    """The maximum of the likelihood for each weighting."""

    parameters: np.ndarray
    """float64[weightings, parameters]."""
    curvature: np.ndarray
    """float64[weightings, parameters, parameters]: minus the second derivatives there."""


class Likelihood:
    """The likelihood of games, for many weightings at once.

    The covariance of a choice's statistics is a sum over all pairs of its outcomes: the product of both chances times
    the square of the difference of both statistics. These squares do not depend on the parameters.
    """

    def __init__(self, choices: Choices) -> None:
        m = choices.parameters
        self.choices = choices
        self.middle = np.zeros(m)
        """float64[parameters]: where the added games are in balance."""
        if choices.draws:
            self.middle[-1] = np.log(2)  # two equals draw as often as they do not
        starts, offsets, pairs = [], list[float](), list[tuple[int, int]]()
        statistics, squares = list[tuple[int, int, float]](), list[tuple[int, int, float]]()
        for row in choices.rows:
            starts.append(len(offsets))
            found = [(dict(own), offset) for own, offset in row]
            for (a, (one, _)), (b, (other, _)) in combinations(enumerate(found, len(offsets)), 2):
                away = [(i, one.get(i, 0.0) - other.get(i, 0.0)) for i in one.keys() | other.keys()]
                squares += [(len(pairs), i * m + j, x * y) for i, x in away for j, y in away]
                pairs.append((a, b))
            for own, offset in found:
                statistics += [(len(offsets), parameter, value) for parameter, value in own.items()]
                offsets.append(offset)
        self._offsets, self._starts = np.array(offsets), np.array(starts)
        self._row_of = np.repeat(np.arange(len(starts)), np.diff([*starts, len(offsets)]))
        self._first, self._second = np.array(pairs).T
        self._statistics = sparse_sums(statistics, len(offsets), m)
        self._squares = sparse_sums(squares, len(pairs), m * m)

    @property
    def size(self) -> int:
        """About how many numbers one evaluation takes for one weighting."""
        return len(self._offsets) + int(self._squares.nnz)

    def chances(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of each row's sum of weights, and the chance of each outcome.

        They are float64[weightings, rows] and float64[weightings, outcomes].
        """
        logits = (self._statistics @ parameters.T).T + self._offsets
        top = np.maximum.reduceat(logits, self._starts, axis=1)
        logits -= top[:, self._row_of]
        np.exp(logits, out=logits)
        total = np.add.reduceat(logits, self._starts, axis=1)
        logits /= total[:, self._row_of]
        return np.log(total) + top, logits

    def expect_statistics(self, parameters: np.ndarray) -> Any:
        """Return the expected statistics of each row: sparse float64[rows, parameters]."""
        (chance,) = self.chances(parameters[None])[1]
        cells = zip(self._row_of.tolist(), range(len(chance)), chance.tolist(), strict=True)
        return sparse_sums(cells, len(self._starts), len(chance)) @ self._statistics

    def look(self, parameters: np.ndarray, games: Weighting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the log-likelihood, its gradient, and minus its second derivatives.

        ``parameters``: float64[weightings, parameters].
        """
        b, m = parameters.shape
        total, chance = self.chances(parameters)
        value = (games.seen * parameters).sum(axis=1) - (games.taken * total).sum(axis=1)
        expected = games.taken[:, self._row_of] * chance
        gradient = games.seen - expected @ self._statistics
        curvature = (expected[:, self._first] * chance[:, self._second]) @ self._squares
        own, won, lost = parameters - self.middle, games.added[:, 0], games.added[:, 1]
        up = 1 / (1 + np.exp(-own))
        value -= (won * np.logaddexp(0, -own) + lost * np.logaddexp(0, own)).sum(axis=1)
        gradient += won - (won + lost) * up
        curvature[:, :: m + 1] += (won + lost) * up * (1 - up)
        return value, gradient, curvature.reshape(b, m, m)

    def summit(self, games: Weighting, start: np.ndarray | None = None, near: float = 1e-9) -> Summit:
        """Return the maximum for each weighting: Newton's method, with halved steps where one leads down.

        ``start``: float64[weightings, parameters]; default: all entries equal. ``near``: the length of the last step.
        """
        b, m = games.seen.shape
        found = np.tile(self.middle, (b, 1)) if start is None else start.copy()
        curvature = np.empty((b, m, m))
        value, gradient, curve = self.look(found, games)
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
            after, gradient, curve = self.look(found[going], games.of(going))
            for _ in range(MOST_STEPS):
                worse = after < value - 1e-9 * np.abs(value)
                if not worse.any():
                    break
                back = going[worse]
                step[back] /= 2
                found[back] -= step[back]
                after[worse], gradient[worse], curve[worse] = self.look(found[back], games.of(back))
            value = after
        return Summit(found, curvature)
