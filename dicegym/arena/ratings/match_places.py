"""What ratings are computed from: the places of entries in the games of matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from dicegym.errors import ParameterError

Places = tuple[tuple[tuple[int, ...], int], ...]
"""The places of a match's games: who came in which place, and how many games came out so."""


class MatchPlaces(NamedTuple):
    """The places of a match's games; the same match may have been played several times, and come out equal."""

    entries: tuple[str, ...]
    """The players."""
    places: Places
    """The place of each entry in a game, and how many games of the match came out so. Only the order of places counts:
    1 2 2 4 and 1 2 2 3 are the same."""
    times: int = 1
    """How many matches came out like this."""


def places_of(results: Sequence[float]) -> tuple[int, ...]:
    """Return the place of each player by what it reached: 1 for the most; equal results share one, as in 1 2 2 4."""
    return tuple(1 + sum(other > own for other in results) for own in results)


def match_places(entries: Iterable[str], results: Iterable[Sequence[float]]) -> MatchPlaces:
    """Return the places of a match by what each entry reached in each game, such as `MatchResult.returns`."""
    counts: Counter[tuple[int, ...]] = Counter()
    for result, games in Counter(map(tuple, results)).items():  # most games come out like others of the match
        counts[places_of(result)] += games
    return MatchPlaces(tuple(entries), tuple(sorted(counts.items())))


def count_pairs(matches: Iterable[MatchPlaces], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return in how many games the row was ahead of the column, and in how many they were level.

    Level are two that drew or share a place before the last one, where others are not told apart. Entries that have no
    name do not count.

    Returns:
        int64[names, names] each.
    """
    number = {name: place for place, name in enumerate(names)}
    ahead, level = np.zeros((2, len(names), len(names)), np.int64)
    for entries, places, times in matches:
        seated = [(i, number[name]) for i, name in enumerate(entries) if name in number]
        for game, games in places:
            last = max(game) if len(set(game)) > 1 else None
            for (i, row), (j, column) in permutations(seated, 2):
                if game[i] < game[j]:
                    ahead[row, column] += games * times
                elif game[i] == game[j] != last:
                    level[row, column] += games * times
    return ahead, level


def group_matches(matches: Iterable[MatchPlaces]) -> list[MatchPlaces]:
    """Return the same matches in one order, equal ones as one with their number of times.

    Neither the order of the matches nor that of the entries in a match makes a difference afterwards. Matches without
    games are left out.

    Raises:
        ParameterError: a match is invalid: two entries of one name, or places of others than its entries.
    """
    given: Counter[tuple[tuple[str, ...], Places]] = Counter()
    for entries, places, times in matches:
        given[entries, places] += times
    counts: Counter[tuple[tuple[str, ...], Places]] = Counter()
    for (entries, places), times in given.items():
        if len(set(entries)) < max(2, len(entries)) or any(len(game) != len(entries) for game, _ in places):
            raise ParameterError(
                f"a match of {list(entries)!r} cannot be rated: give two or more entries, each once, and a place for "
                "each in every game"
            )
        if times and (found := _in_order(entries, places)):
            counts[tuple(sorted(entries)), found] += times
    return [MatchPlaces(*key, times) for key, times in sorted(counts.items())]


def _in_order(entries: tuple[str, ...], places: Places) -> Places:
    """Return places of entries in order of name, counted from 0 without gaps, equal games as one."""
    order = sorted(range(len(entries)), key=entries.__getitem__)
    counts: Counter[tuple[int, ...]] = Counter()
    for game, times in places:
        number = {place: i for i, place in enumerate(sorted(set(game)))}
        counts[tuple(number[game[i]] for i in order)] += times
    return tuple(sorted((game, times) for game, times in counts.items() if times))
