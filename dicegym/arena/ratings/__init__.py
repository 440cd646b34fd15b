"""How strong players are, as numbers: by all games of a contest at once (`fit`), or after each game (`elo`).

`dicegym.arena.ratings.shown` makes tables and sentences of them.
"""

from __future__ import annotations

from dicegym.arena.ratings.alpha_rank import AlphaShare, alpha_rank
from dicegym.arena.ratings.fitting import Rating, Ratings, fit
from dicegym.arena.ratings.places import MatchPlaces, match_places, places_of
from dicegym.arena.ratings.residuals import Cycle, Residuals, Surprise, residuals

__all__ = [
    "AlphaShare",
    "Cycle",
    "MatchPlaces",
    "Rating",
    "Ratings",
    "Residuals",
    "Surprise",
    "alpha_rank",
    "fit",
    "match_places",
    "places_of",
    "residuals",
]
