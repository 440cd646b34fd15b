"""Elo ratings of players that meet two or more at a time.

A game of n players counts as a game of each with each other, every one for K / (n - 1) points: the higher score has
won against the lower one, equal scores are half a win. All expectations are of the ratings before the game.

Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978): the expected score of a player that is
d points behind is 1 / (1 + 10**(d / 400)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

K = 32.0
"""Points at stake in a game of two."""
START = 1200.0
"""The rating of a player that has not played yet."""
UNRATED = 350.0
"""Standard deviation, in points, of the strength of players that have not played yet.

Source: M. E. Glickman, "The Glicko system" (1999).
"""
GRAIN = 1 / 1024
"""Every exchange between two players is rounded to a multiple of this. Such numbers are added without error, and what
one wins the other loses, so the sum of all ratings stays what it was, to the last bit. Ratings are kept like this
and shown rounded to whole numbers."""


def expect_score(rating: float, opponent: float) -> float:
    """Return the expected score of a player against an opponent, between 0 and 1."""
    behind = max(-4000.0, min(opponent - rating, 4000.0))  # beyond that the power overflows, and says nothing new
    return 1 / (1 + float(10 ** (behind / 400)))


def update_ratings(ratings: Sequence[float], scores: Sequence[float]) -> list[float]:
    """Return the ratings after one game.

    Args:
        ratings: of each player, before the game.
        scores: what each player reached; only their order counts.

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

    Against equals a game's score has variance 1/4, and its expectation changes by ln(10) / 1600 a point. So a game
    leaves the share ``kept = 1 - K ln(10) / 1600`` of a rating's error, and adds one of variance K**2 / 4. That is for
    games of two without ties by a player whose strength stays; it tends to 105 points.
    """
    kept = (1 - K * math.log(10) / 1600) ** 2
    lasting = K**2 / 4 / (1 - kept)
    return 1.96 * math.sqrt(lasting + kept**games * (UNRATED**2 - lasting))
