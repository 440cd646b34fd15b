"""Ratings of players: from all games of a contest at once (`fit`), or after each game (`elo`).

`dicegym.arena.ratings.rating_tables` shows them as tables and sentences.
"""

from __future__ import annotations

from dicegym.arena.ratings.fitting import Rating, Ratings, fit
from dicegym.arena.ratings.match_places import MatchPlaces, match_places, places_of

__all__ = ["MatchPlaces", "Rating", "Ratings", "fit", "match_places", "places_of"]
