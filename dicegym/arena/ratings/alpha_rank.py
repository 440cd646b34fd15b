"""Alpha-Rank: which entries last where whoever does better spreads, for fields in which no order holds.

Entries are the strategies of a population that play each other in pairs; what one earns against another is the share
of games in which it was ahead, an equal place being half. Where entries beat each other in a circle, all of the circle
share what there is, and who loses to them has nothing. A game of more than two counts for each pair in it: a whole
table would need a payoff for each set of entries that can sit at it, of which a contest plays a few.

`dicegym.learning.population` plays those payoffs. Source and model: `dicegym.arena.ratings.fixation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dicegym.arena.ratings.choices import choices
from dicegym.arena.ratings.fixation import ALPHA, POPULATION, lasting, payoffs_of
from dicegym.arena.ratings.places import MatchPlaces, grouped
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import ParameterError


class AlphaShare(NamedTuple):
    """How much of a population an entry holds in the long run."""

    place: int
    """1 for the most; equal shares, to 6 digits, share a place."""
    name: str
    share: float
    """Between 0 and 1; all sum to 1."""


def alpha_rank(
    matches: Iterable[MatchPlaces], *, alpha: float | None = ALPHA, population: int = POPULATION
) -> tuple[AlphaShare, ...]:
    """Rank entries by Alpha-Rank, from the shares of games in which one was ahead of the other.

    A share by luck above a half counts as one that is: give it games enough. Pairs that never met count as equal.

    Args:
        matches: the games.
        alpha: how strongly the better one is preferred; None for infinitely: then only who beats whom counts.
        population: how many there are.

    Returns:
        Entries, the most lasting first, equal ones by name.

    Raises:
        ParameterError: ``alpha`` or ``population`` make no sense, or there is no match.
    """
    whole_number("population", population, 2, 10_000, "the number of a population")
    if alpha is not None:
        finite_number("alpha", alpha, "how strongly the better one is preferred (None: infinitely)", above=0)
    found = choices(grouped(matches), 0)
    if not found.names:
        raise ParameterError("no match with a game was given, so there is nothing to rank: play one first")
    games = found.ahead + found.ahead.T + found.level
    payoff = np.full(games.shape, 0.5)
    np.divide(found.ahead + found.level / 2, games, out=payoff, where=games > 0)
    shares = np.round(lasting(payoffs_of(payoff[:, :, None]), alpha, population), 6)
    rows = sorted(zip(found.names, map(float, shares), strict=True), key=lambda row: (-row[1], row[0]))
    return tuple(AlphaShare(1 + sum(other > share for _, other in rows), name, share) for name, share in rows)
