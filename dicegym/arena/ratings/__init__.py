"""How strong players are, as numbers: by all games of a contest at once, or after each game (`elo`)."""

from __future__ import annotations

from dicegym.arena.ratings.places import MatchPlaces, match_places, places_of

__all__ = ["MatchPlaces", "match_places", "places_of"]
