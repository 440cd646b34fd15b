"""How far luck decided: which places the games of a contest leave open, and which a contest without luck would give.

The places that an entry may deserve are a confidence set for its rank, made of a comparison with every other entry
(Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications to Mobility across Neighbourhoods and
Academic Achievement across Countries", Review of Economic Studies 91, 2024): it holds the place that endless games of
this kind would give in at least 95 of 100 contests. Comparisons are shared out over all others (Bonferroni), so many
entries need more games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
"""Of an entry's places."""
NORMAL_FROM = 1_000
"""Degrees of freedom from which Student's distribution is taken for the normal one."""
MOST_NAMED = 6
"""Entries that a sentence names one by one."""


class Places(NamedTuple):
    """Places from ``best`` to ``worst``."""

    best: int
    worst: int

    def __str__(self) -> str:
        """Return them in words: ``3`` or ``1-4``."""
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


class Leads(NamedTuple):
    """How far each entry (row) is ahead of each other (column), as a mean of all games: two float64[n, n]."""

    lead: np.ndarray
    error: np.ndarray
    """Standard error of ``lead``."""
    games: int
    """Games of an entry, from which ``error`` is estimated."""

    def of(self, order: Sequence[int]) -> Leads:
        """Return the same, entries in another order."""
        return Leads(self.lead[np.ix_(order, order)], self.error[np.ix_(order, order)], self.games)


def _leads(won: np.ndarray, games: np.ndarray, spread: np.ndarray) -> Leads:
    """Return the leads of entries by what each got, in how many games, and the covariance of what they got."""
    total = max(1, int(games.max(initial=1)))
    with np.errstate(invalid="ignore"):  # of an entry against itself where nothing is known
        variance = np.diag(spread)[:, None] + np.diag(spread)[None, :] - 2 * spread
    return Leads((won[:, None] - won[None, :]) / total, np.sqrt(np.maximum(variance, 0)) / total, total)


def leads_of_shares(n: int, tables: Iterable[tuple[Sequence[int], Sequence[float], int]]) -> Leads:
    """Return the leads of ``n`` entries in the share of their games won.

    Args:
        n: how many entries.
        tables: for each match the entries that played, the games that each won (a shared first place shared out), and
            how many games were played. All entries must have played the same number.
    """
    won, games, spread = np.zeros(n), np.zeros(n), np.zeros((n, n))
    for entries, shares, played in tables:
        who = np.asarray(entries)
        won[who] += shares
        games[who] += played
        # One game more, which all share, so that nine of nine games do not pass for certainty; and as few games look
        # less varied than they are, (n + 1) / n times the variance of n games, which makes it right on average.
        chance = (np.asarray(shares) + 1 / len(who)) / (played + 1)
        spread[np.ix_(who, who)] += (played + 1) * (np.diag(chance) - np.outer(chance, chance))
    return _leads(won, games, spread)


def leads_of_results(n: int, tables: Iterable[tuple[Sequence[int], np.ndarray]]) -> Leads:
    """Return the leads of ``n`` entries in the mean of what their games were worth, whatever numbers these are.

    Args:
        n: how many entries.
        tables: for each match the entries that played, and what each got in each game: float64[games, players]. All
            entries must have played the same number of games.
    """
    won, games, spread = np.zeros(n), np.zeros(n), np.zeros((n, n))
    for entries, results in tables:
        who = np.asarray(entries)
        won[who] += results.sum(axis=0)
        games[who] += len(results)
        if len(results) > 1:
            spread[np.ix_(who, who)] += len(results) * np.cov(results, rowvar=False)
        else:
            spread[who, who] = math.inf
    return _leads(won, games, spread)


def student_quantile(share: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution, infinite without a degree of freedom.

    A contest needs no SciPy. With whole degrees of freedom the distribution is a finite sum (M. Abramowitz, I. Stegun,
    "Handbook of Mathematical Functions", 26.7.3 and 26.7.4), which is inverted by bisection.

    Args:
        share: of draws below the quantile, above 0.5 and below 1.
        freedom: degrees of freedom; from `NORMAL_FROM` on the normal distribution is close enough.
    """
    if freedom < 1:
        return math.inf
    if freedom >= NORMAL_FROM:
        return NormalDist().inv_cdf(share)
    odd = freedom % 2
    step = np.arange(2 + odd, freedom, 2)
    factors = np.cumprod([1.0, *((step - 1) / step)])[: freedom // 2]

    def within(angle: float) -> float:
        """Return how often a draw is at most ``sqrt(freedom) * tan(angle)`` away from 0."""
        powers = math.cos(angle) ** (2 * np.arange(freedom // 2) + odd)
        total = math.sin(angle) * float(factors @ powers)
        return 2 / math.pi * (angle + total) if odd else total

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < 2 * share - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def find_places(leads: Leads) -> list[Places]:
    """Return the places that each entry may deserve."""
    n = len(leads.lead)
    share = 1 - (1 - CONFIDENCE) / 2 / max(1, n - 1)
    least = student_quantile(share, leads.games - 1)
    ahead = (leads.lead > 1e-12) & (leads.lead / least > leads.error)
    return [Places(1 + int(ahead[:, i].sum()), n - int(ahead[i].sum())) for i in range(n)]


def list_names(names: Sequence[str]) -> str:
    """Return names as part of a sentence, the first few of many."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verdict(names: Sequence[str], places: Sequence[Places]) -> str:
    """Say what a ranking is worth, best first: which entries may deserve the first place."""
    n = len(names)
    if n < 2:
        return ""
    first = [name for name, place in zip(names, places, strict=True) if place.best == 1]
    if len(first) == n:
        return f"Places 1 to {n} cannot be told apart by these games: luck may have made the whole order."
    if len(first) > 1:
        return f"These games do not tell who is best: {list_names(first)} may be."
    close = [number for number, place in enumerate(places) if number and place.best < place.worst]
    rest = " Places below are left open where a range is given." if close else ""
    return f"{names[0]} is the best, and not by luck.{rest}"
