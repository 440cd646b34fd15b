"""Who lasts in a population in which whoever earns more spreads: the chain of Alpha-Rank, for tables of any size.

A population of m plays one strategy; now and then one of its members tries another one, and either that spreads to all
or it dies out before the next one comes. It spreads by imitation: of two members the one who earns f copies the other
one, who earns g, with probability 1 / (1 + exp(alpha (f - g))). What a member earns is the mean over all tables that it
may sit at with others of the population. So strategies follow each other by their probabilities of fixation, and the
shares of time that each of them holds the population are the stationary distribution of that chain.

Sources: S. Omidshafiei et al., "Alpha-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9 (2019), the
model of one population; for tables of more than two C. S. Gokhale and A. Traulsen, "Evolutionary games in the
multiverse", PNAS 107 (2010): the others at a member's table are drawn from the population without putting back. With
two at a table both are the same. All is computed in logarithms, as probabilities of exp(-1000) decide who lasts.
"""

from __future__ import annotations

from math import comb

import numpy as np

ALPHA = 100.0
"""How strongly who earns more is preferred, as OpenSpiel has it."""
POPULATION = 50
"""How many there are, as OpenSpiel has it."""
NOISE = 0.01
"""Of infinite ``alpha``: the share of invasions that go the wrong way, without which the chain could stop."""
LEVEL = 1e-14
"""Payoffs that differ by less are equal."""


def payoffs_of(rates: np.ndarray) -> np.ndarray:
    """Return what everybody earns at a table of two kinds, of the shares that were measured, first places summing to 1.

    Args:
        rates: float64[n, n, players - 1]: entry [a, b, k - 1] is the share of first places of one of kind a where k of
            kind a and the others of kind b sit. Only a < b is read.

    Returns:
        float64[n, n, players + 1]: entry [a, b, k] the same for every pair, in which what b earns follows; for k =
        players an equal share, and for k = 0, of which there is no table, 0.
    """
    n, players = len(rates), rates.shape[2] + 1
    found = np.zeros((n, n, players + 1))
    found[:, :, players] = 1 / players
    counts = np.arange(1, players)
    for a in range(n):
        found[a, a, 1:] = 1 / players
        for b in range(a + 1, n):
            found[a, b, 1:players] = rates[a, b]
            found[b, a, players - counts] = (1 - counts * rates[a, b]) / (players - counts)
    return found


def between_ends(alone: np.ndarray, players: int) -> np.ndarray:
    """Return ``rates`` for `payoffs_of` where only tables are known at which one sits among copies of another one.

    What a kind takes together is taken to grow evenly with its number, from one seat to all but one. Of three players
    and fewer nothing is left to be guessed.

    Args:
        alone: float64[n, n]: the share of first places of one of kind a among copies of kind b.
        players: at the table.
    """
    counts = np.arange(1, players)
    part = (counts - 1) / max(1, players - 2)
    together = (1 - part) * alone[:, :, None] + part * (1 - alone.T[:, :, None])
    found: np.ndarray = together / counts
    return found


def advantages(payoffs: np.ndarray, population: int) -> np.ndarray:
    """Return by how much a newcomer earns more than one of the population, for each number of newcomers.

    Args:
        payoffs: as `payoffs_of` returns them.
        population: how many there are, m.

    Returns:
        float64[n, n, m - 1]: entry [s, r, p - 1] is the difference where p of m play r and all others s.
    """
    players = payoffs.shape[2] - 1
    newcomers, residents = np.zeros((2, population - 1, players + 1))
    for p in range(1, population):
        for j in range(players):  # others of the newcomers' kind at the table of one of them, or of one of the rest
            newcomers[p - 1, j + 1] = _drawn(population - 1, p - 1, players - 1, j)
            residents[p - 1, players - j] = _drawn(population - 1, p, players - 1, j)
    difference: np.ndarray = (payoffs @ newcomers.T).transpose(1, 0, 2) - payoffs @ residents.T
    return difference


def _drawn(among: int, kind: int, taken: int, found: int) -> float:
    """Return how likely ``found`` of ``kind`` are among ``taken`` that are drawn of ``among``."""
    return comb(kind, found) * comb(among - kind, taken - found) / comb(among, taken)


def fixation(payoffs: np.ndarray, alpha: float | None = ALPHA, population: int = POPULATION) -> np.ndarray:
    """Return the logarithm of how likely one newcomer takes over a population: float64[n, n], [old one, new one].

    Args:
        payoffs: as `payoffs_of` returns them.
        alpha: how strongly who earns more is preferred; None: infinitely, up to `NOISE`.
        population: how many there are.
    """
    climbed = np.cumsum(advantages(payoffs, population), axis=2)
    if alpha is None:
        lowest = climbed.min(axis=2)
        found = np.log(np.where(lowest > LEVEL, 1 - NOISE, np.where(lowest < -LEVEL, NOISE, 0.5)))
    else:
        steps = -alpha * climbed
        highest = np.maximum(0.0, steps.max(axis=2))
        found = -highest - np.log(np.exp(-highest) + np.exp(steps - highest[:, :, None]).sum(axis=2))
    chances_of_others: np.ndarray = np.where(np.eye(len(found), dtype=np.bool_), -np.inf, found)
    return chances_of_others


def stationary(chances: np.ndarray) -> np.ndarray:
    """Return how a Markov chain shares its time: float64[n], of the logarithms of its probabilities of moving on.

    By the algorithm of Grassmann, Taksar and Heyman (1985), which subtracts nothing, in logarithms.

    Args:
        chances: float64[n, n], from the row to the column, up to a factor that all share; the diagonal does not count.
    """
    chain = np.array(chances, np.float64)
    n = len(chain)
    for k in range(n - 1, 0, -1):
        chain[:k, k] -= np.logaddexp.reduce(chain[k, :k])
        chain[:k, :k] = np.logaddexp(chain[:k, :k], chain[:k, k, None] + chain[k, :k])
    time = np.zeros(n)
    for k in range(1, n):
        time[k] = np.logaddexp.reduce(time[:k] + chain[:k, k])
    shares: np.ndarray = np.exp(time - np.logaddexp.reduce(time))
    return shares


def lasting(payoffs: np.ndarray, alpha: float | None = ALPHA, population: int = POPULATION) -> np.ndarray:
    """Return the part of a population that each of n strategies holds in the long run: float64[n]; see `fixation`."""
    return stationary(fixation(payoffs, alpha, population))
