"""Matches between entries of known strengths."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dicegym.arena.ratings import MatchPlaces, match_places
from dicegym.arena.ratings.fitting import MEAN, SCALE


def named(n: int) -> list[str]:
    return [f"e{i:03}" for i in range(n)]


def won(name: str, other: str, wins: int, losses: int, draws: int = 0) -> MatchPlaces:
    """Return a match of two by its results."""
    return MatchPlaces((name, other), (((1, 2), wins), ((2, 1), losses), ((1, 1), draws)))


def true_ratings(strengths: Sequence[float]) -> dict[str, float]:
    """Return natural logarithms of strengths on the scale of ratings, by name."""
    own = np.asarray(strengths) - np.mean(strengths)
    return dict(zip(named(len(own)), (MEAN + SCALE * own).tolist(), strict=True))


def duels(rng: np.random.Generator, strengths: Sequence[float], games: int, draw: float = 0.0) -> list[MatchPlaces]:
    """Return a match of each pair, by the model of Bradley and Terry with draws by Davidson."""
    matches = []
    for (one, a), (other, b) in itertools.combinations(zip(named(len(strengths)), strengths, strict=True), 2):
        weights = np.array([np.exp(a), np.exp(b), draw * np.exp((a + b) / 2)])
        wins, losses, draws = (int(n) for n in rng.multinomial(games, weights / weights.sum()))
        matches.append(won(one, other, wins, losses, draws))
    return matches


def tables(
    rng: np.random.Generator,
    strengths: Sequence[float],
    seats: int,
    matches: int,
    games: int,
    grain: float = 0.0,
    winner_alone: bool = False,
) -> list[MatchPlaces]:
    """Return matches at tables of some of all entries.

    Gumbel distributed scores give Plackett-Luce orders. Rounded to ``grain``, some are equal.
    """
    found = []
    for _ in range(matches):
        who = rng.choice(len(strengths), seats, replace=False)
        scores = np.asarray(strengths)[who] + rng.gumbel(size=(games, seats))
        if grain:
            scores = np.round(scores / grain)
        if winner_alone:
            scores = (scores == scores.max(axis=1, keepdims=True)).astype(float)
        found.append(match_places([f"e{i:03}" for i in who], scores.tolist()))
    return found
