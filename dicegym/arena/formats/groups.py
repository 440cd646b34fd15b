"""The contest in groups, for more entries than seats at a table.

Qualifying: all play equally often at drawn tables, until the best tableful is clear. Then the best tableful plays for
the first places, the next one for the places below, and so on. `qualify` and `playoff` get the function that plays.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.settling import settle, table_for
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch
from dicegym.arena.ratings.match_places import places_of
from dicegym.arena.report import ReportTable
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.dice import named_seed
from dicegym.engine.seats import permutation

MOST_CYCLES = 1_000
"""Cycles of qualifying after which wins or a lot break ties."""
LEAD = 50
"""Points over the second that decide a playoff."""
MOST_GAMES = 5_000
"""Games after which a playoff ends undecided, as equal players may never get that far apart."""
SAME_PLACES = 100
"""Games after which it ends if the first two had the same place in each of them, as twins do."""
SESSION, AT_ONCE = 25, 4
"""Games of a session, and sessions of a playoff at a time; games beyond the decision do not count."""
FIGURES = ("points", "wins", "games")

Group = tuple[str, ...]


class Session(NamedTuple):
    """Some games between the same players."""

    group: Group
    label: tuple[object, ...]
    """Names the games: equal labels and groups give equal games."""
    games: int


Play = Callable[[Sequence[Session]], list[Sequence[Sequence[float]]]]
"""Plays sessions; returns for each session and game the result of each player of the group: more is better."""


class Tally:
    """Points, wins (games won alone) and games of ``names``: place p of a game is worth ``most`` + 1 - p points."""

    def __init__(self, names: Sequence[str], most: int) -> None:
        self.points, self.wins, self.games = (dict.fromkeys(names, 0) for _ in FIGURES)
        self._most = most

    def add(self, group: Group, returns: Sequence[float]) -> None:
        """Count one game."""
        found = places_of(returns)
        for name, place in zip(group, found, strict=True):
            self.points[name] += self._most + 1 - place
            self.wins[name] += place == 1 and found.count(1) == 1
            self.games[name] += 1

    def merit(self, name: str) -> tuple[int, int]:
        """Return the points and wins of ``name``, by which it is ranked."""
        return self.points[name], self.wins[name]

    def figures(self, name: str, prefix: str = "") -> dict[str, int]:
        """Return points, wins and games of ``name``, each under its name with ``prefix``."""
        return {prefix + figure: getattr(self, figure)[name] for figure in FIGURES}


class GroupStage(NamedTuple):
    """The result of qualifying or of a playoff."""

    order: Sequence[str]
    """Best first."""
    tally: Tally
    remarks: Sequence[str] = ()
    cycles: int = 0
    """Of qualifying."""


def shuffle_names(names: Sequence[str], *seed: object) -> list[str]:
    """Return ``names`` in a random order that depends only on ``seed`` and the set of names."""
    ordered = sorted(names)
    return [ordered[i] for i in permutation(named_seed(*seed), 0, 0, len(ordered))]


def cycle(names: Sequence[str], size: int, *seed: object) -> list[Group]:
    """Draw the groups of a cycle, each of ``size`` different names; every name is in equally many groups.

    The names sit in a random circle, and groups are counted off round it until the count comes out even, after
    ``size / gcd(len(names), size)`` rounds. There must be at least ``size`` names.
    """
    circle = shuffle_names(names, *seed)
    n = len(circle)
    return [tuple(circle[(group * size + i) % n] for i in range(size)) for group in range(n // math.gcd(n, size))]


def qualify(names: Sequence[str], size: int, most: int, seed: int, play: Play) -> GroupStage:
    """Play at most `MOST_CYCLES` cycles, until place ``size`` is strictly ahead of the next at the end of one.

    Names with equal points are ordered by wins, then by lot; ``remarks`` tell if that decided the groups.
    """
    tally, cycles = Tally(names, most), 0
    while cycles < MOST_CYCLES:
        groups = cycle(names, size, "circle", seed, cycles)
        sessions = [Session(group, ("cycle", cycles, number), 1) for number, group in enumerate(groups)]
        for session, (returns,) in zip(sessions, play(sessions), strict=True):
            tally.add(session.group, returns)
        cycles += 1
        totals = sorted(tally.points.values(), reverse=True)
        if totals[size - 1] > totals[size]:
            break
    order = sorted(shuffle_names(names, "lot", seed), key=tally.merit, reverse=True)  # stable: ties stay as drawn
    remarks = []
    for first in range(size, len(order), size):
        above, below = order[first - 1], order[first]
        if tally.points[above] == tally.points[below]:
            by = "lot" if tally.merit(above) == tally.merit(below) else "games won"
            remarks.append(
                f"after {write_count(cycles, 'cycle')} {above} and {below} had as many points: {above} took the last "
                f"place of group {first // size} by {by}"
            )
    return GroupStage(order, tally, remarks, cycles)


def playoff(group: Group, number: int, most: int, play: Play, most_games: int = MOST_GAMES) -> GroupStage:
    """Play games between a group, sorted by name, until one player has `LEAD` more points than the second.

    It ends after ``most_games``, or after `SAME_PLACES` if the first two had the same place in all of them; ``remarks``
    tell so. Entries with equal points and wins share a place.
    """
    tally, begun = Tally(group, most), 0
    found: dict[str, list[int]] = {name: [] for name in group}
    while True:
        sessions = [Session(group, ("playoff", number, begun + i), SESSION) for i in range(AT_ONCE)]
        begun += AT_ONCE
        for returns in (game for played in play(sessions) for game in played):
            tally.add(group, returns)
            for name, place in zip(group, places_of(returns), strict=True):
                found[name].append(place)
            order = sorted(group, key=tally.merit, reverse=True)
            first, second, games = order[0], order[1], tally.games[order[0]]
            if tally.points[first] - tally.points[second] >= LEAD:
                return GroupStage(order, tally)
            if games == SAME_PLACES and found[first] == found[second]:
                same = f"{first} and {second} had the same place in each of {write_count(games, 'game')}"
                return GroupStage(order, tally, [f"{same}: group {number} is open"])
            if games == most_games:
                remark = f"group {number} ended without a lead of {LEAD} points after {write_count(games, 'game')}"
                return GroupStage(order, tally, [remark])


class _DisqualifiedError(Exception):
    """An entry failed where the rules name no price, and is disqualified."""


def groups(director: Director) -> ContestResult:
    """Let all entries qualify for groups, and let each group play for its places.

    A full table has the game's number of players. If more have entered, they qualify (`qualify`), and the groups of the
    playoffs are the best tableful, the next, and so on. The remaining entries play at a smaller table; a single one
    does not play. Place p is worth (most players of the game) + 1 - p points at every table. If an entry is
    disqualified while it plays, the contest starts again without it.

    Figures of a standing: ``group``, 1 for the best; ``points``, ``wins`` (games won alone) and ``games`` of the
    playoff; the same of qualifying, as ``qualifying_points`` and so on. Details: ``table``, seats at a full table;
    ``cycles`` of qualifying; ``most_games``, after which a playoff ends undecided.
    """
    while True:
        with contextlib.suppress(_DisqualifiedError):
            return _run_stages(director)


def _run_stages(director: Director) -> ContestResult:
    """Qualify and play off. Raises _DisqualifiedError."""
    game, entries = director.game, {entry.name: entry for entry in director.entries}
    names, most, size = sorted(entries), game.spec.players[1], game.players
    most_games = director.options.games or MOST_GAMES
    played: list[PlayedMatch] = []

    def play(sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        jobs = []
        for group, label, games in sessions:
            seed = named_seed("groups", director.seed, *label)
            jobs.append(Match(table_for(game, len(group)), tuple(entries[name] for name in group), seed, games))
        found = settle(director, jobs, returns=True)
        if len(found) < len(jobs):
            raise _DisqualifiedError
        played.extend(found)
        return [one.outcome["returns"] for one in found]

    qualified = GroupStage(names, Tally(names, most))
    if len(names) > size:
        qualified = qualify(names, size, most, director.seed, play)
    remarks, standings = list(qualified.remarks), list[Standing]()
    for number, above in enumerate(range(0, len(names), size), 1):
        group = tuple(sorted(qualified.order[above : above + size]))
        decided = GroupStage(group, Tally(group, most))
        if len(group) >= max(2, game.spec.players[0]):
            decided = playoff(group, number, most, play, most_games)
        remarks += decided.remarks
        figures = {
            name: {"group": number, **decided.tally.figures(name), **qualified.tally.figures(name, "qualifying_")}
            for name in group
        }
        rows = ranking({name: decided.tally.merit(name) for name in group}, figures)
        standings += [replace(row, place=above + row.place) for row in rows]
    shown = _present(standings, size, qualified.cycles, director.seed)
    details = {"table": size, "cycles": qualified.cycles, "most_games": most_games}
    return director.result(standings, played, shown, remarks, **details)


def _present(standings: Sequence[Standing], table: int, cycles: int, seed: int) -> Presentation:
    """Return the ranking, and the result of qualifying if there was any."""
    columns: Columns = {"Group": "group", "Points": "points", "Wins": "wins", "Games": "games"}
    tables: list[ReportTable] = [ranking_table(standings, columns)]
    if cycles:
        by_points = sorted(standings, key=lambda row: (-row["qualifying_points"], -row["qualifying_wins"]))
        cells = [[row.name, *(str(row[f"qualifying_{of}"]) for of in FIGURES), str(row["group"])] for row in by_points]
        tables.append(("Qualifying", ["Entry", *map(str.title, FIGURES), "Into group"], cells))
    facts = [f"tables of {table}", f"{write_count(cycles, 'cycle')} of qualifying", f"seed {seed}"]
    return Presentation(facts, tables)


GROUPS = Format(groups, "groups")
