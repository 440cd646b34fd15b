"""Input of ratings: the places of entries in the games of matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from dicegym.errors import ParameterError

Places = tuple[tuple[tuple[int, ...], int], ...]
"""The places of all entries in a game, and the number of such games of the match."""


class MatchPlaces(NamedTuple):
    """The places in a match's games; equal matches may be counted together."""

    entries: tuple[str, ...]
    """The players."""
    places: Places
    """The places of the entries in a game, and the number of such games. Only their order counts: 1 2 2 4 equals
    1 2 2 3."""
    times: int = 1
    """Number of equal matches."""


def places_of(results: Sequence[float]) -> tuple[int, ...]:
    """Return the place of each player by its result: 1 for the most; equal results share one, as in 1 2 2 4."""
    return tuple(1 + sum(other > own for other in results) for own in results)


def match_places(entries: Iterable[str], results: Iterable[Sequence[float]]) -> MatchPlaces:
    """Return the places in a match from each entry's result in each game, such as `MatchResult.returns`."""
    counts: Counter[tuple[int, ...]] = Counter()
    for result, games in Counter(map(tuple, results)).items():  # most games of a match have equal results
        counts[places_of(result)] += games
    return MatchPlaces(tuple(entries), tuple(sorted(counts.items())))


def count_pairs(matches: Iterable[MatchPlaces], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return in how many games the row was ahead of the column, and in how many they were level.

    Two are level if they drew or share a place that is not the last one; entries in the last place are not compared.
    Entries that are not in ``names`` do not count.

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
    """Return the matches in one order, with equal ones counted together and those without games left out.

    Neither the order of the matches nor that of the entries in a match changes the result.

    Raises:
        ParameterError: a match has two entries of one name, fewer than two entries, or places that do not fit them.
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
    """Return places of entries in order of name, from 0 without gaps, with equal games counted together."""
    order = sorted(range(len(entries)), key=entries.__getitem__)
    counts: Counter[tuple[int, ...]] = Counter()
    for game, times in places:
        number = {place: i for i, place in enumerate(sorted(set(game)))}
        counts[tuple(number[game[i]] for i in order)] += times
    return tuple(sorted((game, times) for game, times in counts.items() if times))
