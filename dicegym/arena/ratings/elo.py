"""Elo ratings for games of two or more players.

A game of n players counts as a game of each pair, for K / (n - 1) points each: the higher score wins against the lower
one, equal scores are half a win. All expected scores use the ratings before the game.

Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978): the expected score of a player that is
d points behind is 1 / (1 + 10**(d / 400)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

K = 32.0
"""Points at stake in a game of two."""
START = 1200.0
"""Rating of a new player."""
UNRATED = 350.0
"""Standard deviation, in points, of the strength of new players.

Source: M. E. Glickman, "The Glicko system" (1999).
"""
GRAIN = 1 / 1024
"""Every exchange between two players is rounded to a multiple of this. Such numbers are added without error, so the sum
of all ratings stays the same to the last bit. Ratings are shown as whole numbers."""


def expect_score(rating: float, opponent: float) -> float:
    """Return the expected score of a player against an opponent, between 0 and 1."""
    behind = max(-4000.0, min(opponent - rating, 4000.0))  # farther values could overflow, and change nothing
    return 1 / (1 + float(10 ** (behind / 400)))


def update_ratings(ratings: Sequence[float], scores: Sequence[float]) -> list[float]:
    """Return the ratings after one game.

    Args:
        ratings: of each player, before the game.
        scores: of each player; only their order counts.

    Raises:
        ValueError: ``ratings`` and ``scores`` differ in length.
    """
    after = list(ratings)
    for i, pair in enumerate(zip(ratings, scores, strict=True)):
        for j in range(i):
            score = 0.5 + 0.5 * ((pair[1] > scores[j]) - (pair[1] < scores[j]))
            stake = K / (len(after) - 1)
            won = round(stake * (score - expect_score(pair[0], ratings[j])) / GRAIN) * GRAIN
            after[i] += won
            after[j] -= won
    return after


def margin(games: int) -> float:
    """Return half of the 95% interval of a rating after ``games`` games, in points.

    Against equals a game's score has variance 1/4, and its expectation changes by ln(10) / 1600 per point. So a game
    keeps the share ``kept = 1 - K ln(10) / 1600`` of a rating's error, and adds an error of variance K**2 / 4. This
    holds for games of two without ties and constant strength; the margin tends to 105 points.
    """
    kept = (1 - K * math.log(10) / 1600) ** 2
    lasting = K**2 / 4 / (1 - kept)
    return 1.96 * math.sqrt(lasting + kept**games * (UNRATED**2 - lasting))
