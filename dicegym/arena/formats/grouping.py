"""Contests in groups, as arithmetic: who sits with whom, what places are worth, and when it is decided.

Nothing here plays: all functions are handed one that does (`Play`), so that a test may hand over another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dicegym.arena.ratings.match_places import places_of
from dicegym.columns import write_count
from dicegym.engine.dice import named_seed
from dicegym.engine.seats import permutation

MOST_CYCLES = 1_000
"""Cycles of qualifying after which ties are broken otherwise."""
LEAD = 50
"""Points over the second that decide a playoff."""
MOST_GAMES = 5_000
"""Games after which a playoff ends undecided: equal players may never get that far apart."""
SAME_PLACES = 100
"""Games after which it ends if the first two had the same place in each of them: they never will."""
SESSION, AT_ONCE = 25, 4
"""Games of a playoff in one session, and sessions begun at once; what is played beyond the decision does not count."""

Group = tuple[str, ...]


class Session(NamedTuple):
    """Some games between the same players."""

    group: Group
    label: tuple[object, ...]
    """Names the games: equal labels and groups give equal games."""
    games: int


Play = Callable[[Sequence[Session]], list[Sequence[Sequence[float]]]]
"""Plays sessions; returns for each, and each of its games, what each player of the group got: more is better."""


class Tally:
    """Points, wins (games won alone) and games of ``names``.

    Place p of a game is worth ``most`` + 1 - p points.
    """

    def __init__(self, names: Sequence[str], most: int) -> None:
        self.points = dict.fromkeys(names, 0)
        self.wins = dict.fromkeys(names, 0)
        self.games = dict.fromkeys(names, 0)
        self._most = most

    def add(self, group: Group, returns: Sequence[float]) -> None:
        """Count one game."""
        found = places_of(returns)
        for name, place in zip(group, found, strict=True):
            self.points[name] += self._most + 1 - place
            self.wins[name] += place == 1 and found.count(1) == 1
            self.games[name] += 1

    def merit(self, name: str) -> tuple[int, int]:
        """Return what ``name`` is ranked by: points, then wins."""
        return self.points[name], self.wins[name]

    def figures(self, name: str, before: str = "") -> dict[str, int]:
        """Return points, wins and games of ``name`` by what they are called, with ``before`` in front of it."""
        of = {"points": self.points, "wins": self.wins, "games": self.games}
        return {before + what: counted[name] for what, counted in of.items()}


def shuffle_names(names: Sequence[str], *seed: object) -> list[str]:
    """Return ``names`` in a random order that depends on ``seed`` and the set of names alone."""
    ordered = sorted(names)
    return [ordered[i] for i in permutation(named_seed(*seed), 0, 0, len(ordered))]


def cycle(names: Sequence[str], size: int, *seed: object) -> list[Group]:
    """Draw the groups of a cycle, each of ``size`` different names, in which every name stands equally often.

    The names sit down in a circle at random, and groups are counted off round it until that comes out even: after
    ``size / gcd(len(names), size)`` times round. There must be at least ``size`` names.
    """
    circle = shuffle_names(names, *seed)
    n = len(circle)
    groups = n // math.gcd(n, size)
    return [tuple(circle[(group * size + i) % n] for i in range(size)) for group in range(groups)]


class Qualified(NamedTuple):
    """The result of qualifying."""

    order: list[str]
    """Best first."""
    tally: Tally
    cycles: int
    remarks: list[str]


def qualify(names: Sequence[str], size: int, most: int, seed: int, play: Play) -> Qualified:
    """Play cycles until place ``size`` is strictly ahead of the next at the end of one, at most `MOST_CYCLES`.

    Names equal in points are ordered by wins, and if those are equal too by lot; ``remarks`` say so where that
    decided the groups of ``size``.
    """
    tally, cycles = Tally(names, most), 0
    while cycles < MOST_CYCLES:
        sessions = [
            Session(group, ("cycle", cycles, number), 1)
            for number, group in enumerate(cycle(names, size, "circle", seed, cycles))
        ]
        for session, (returns,) in zip(sessions, play(sessions), strict=True):
            tally.add(session.group, returns)
        cycles += 1
        totals = sorted(tally.points.values(), reverse=True)
        if totals[size - 1] > totals[size]:
            break
    lot = shuffle_names(names, "lot", seed)
    order = sorted(lot, key=tally.merit, reverse=True)  # a stable sort: else as drawn
    return Qualified(order, tally, cycles, _remarks(order, size, tally, cycles))


def _remarks(order: list[str], size: int, tally: Tally, cycles: int) -> list[str]:
    """Say where something else than points decided the groups."""
    found = []
    for first in range(size, len(order), size):
        above, below = order[first - 1], order[first]
        if tally.points[above] == tally.points[below]:
            by = "lot" if tally.merit(above) == tally.merit(below) else "games won"
            found.append(
                f"after {write_count(cycles, 'cycle')} {above} and {below} had as many points: {above} took the last "
                f"place of group {first // size} by {by}"
            )
    return found


class Decided(NamedTuple):
    """The result of a playoff."""

    order: list[str]
    """Best first; entries with equal points and wins share a place."""
    tally: Tally
    remarks: list[str]


def playoff(group: Group, number: int, most: int, play: Play, most_games: int | None = None) -> Decided:
    """Play games between a group until one player has `LEAD` more points than the second.

    At most ``most_games`` (default: `MOST_GAMES`), and no more than `SAME_PLACES` if the first two had the same
    place in all of them; ``remarks`` say so.
    """
    tally, begun = Tally(group, most), 0
    last = MOST_GAMES if most_games is None else most_games
    found: dict[str, list[int]] = {name: [] for name in group}
    while True:
        sessions = [Session(group, ("playoff", number, begun + i), SESSION) for i in range(AT_ONCE)]
        begun += AT_ONCE
        for returns in (game for played in play(sessions) for game in played):
            tally.add(group, returns)
            for name, place in zip(group, places_of(returns), strict=True):
                found[name].append(place)
            order = sorted(sorted(group), key=tally.merit, reverse=True)
            first, second, games = order[0], order[1], tally.games[order[0]]
            if tally.points[first] - tally.points[second] >= LEAD:
                return Decided(order, tally, [])
            if games == SAME_PLACES and found[first] == found[second]:
                same = f"{first} and {second} had the same place in each of {write_count(games, 'game')}"
                return Decided(order, tally, [f"{same}: group {number} is open"])
            if games == last:
                remark = f"group {number} ended without a lead of {LEAD} points after {write_count(games, 'game')}"
                return Decided(order, tally, [remark])
