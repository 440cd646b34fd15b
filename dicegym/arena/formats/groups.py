"""The contest in groups, for games at whose table fewer can sit than have entered.

Qualifying: all play equally often at tables drawn afresh, until it is clear who the best tableful are. Then these
play among themselves for the first places, the next tableful for the places below, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dicegym.arena.director import Director, Format
from dicegym.arena.entries import Disqualified
from dicegym.arena.formats.grouping import Decided, Group, Qualified, Session, Tally, playoff, qualify
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import ReportTable
from dicegym.arena.results import ContestResult
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Failure

KEPT_MISPLAYS = 100
"""Misplays of one entry that are kept in words, the first."""


@dataclass(frozen=True)
class GroupStanding:
    """One row of the ranking.

    Attributes:
        place: 1 for the best; who is equal in points and wins of the playoff shares a place.
        name: the entry.
        group: number of its group in the playoffs, 1 for the best.
        points: of the playoff.
        wins: games of the playoff won alone.
        games: games of the playoff.
        qualifying_points: points in qualifying; 0 if all fit at one table.
        qualifying_wins: games won alone in qualifying.
        qualifying_games: games in qualifying.
    """

    place: int
    name: str
    group: int
    points: int
    wins: int
    games: int
    qualifying_points: int
    qualifying_wins: int
    qualifying_games: int


@dataclass(frozen=True)
class GroupsResult(ContestResult):
    """What a contest in groups came to.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        table: seats at a full table.
        cycles: cycles of qualifying.
        standings: best first.
        disqualified: by name.
        misplays: what entries did wrong and the rules dealt with, of each entry the first `KEPT_MISPLAYS`.
        remarks: how ties were broken, and which playoffs were not decided.
    """

    game: str
    title: str
    seed: int
    table: int
    cycles: int
    standings: tuple[GroupStanding, ...]
    disqualified: tuple[Disqualified, ...]
    misplays: tuple[Misplay, ...]
    remarks: tuple[str, ...]

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        return (
            f"{self.title}: {len(self.standings)} entries at tables of {self.table}, "
            f"{self.cycles} cycles of qualifying, seed {self.seed}"
        )

    def tables(self) -> list[ReportTable]:
        """Return the ranking, and what qualifying came to if there was any."""
        titles = ["Ranking", "Entry", "Group", "Points", "Wins", "Games"]
        rows = [
            [str(cell) for cell in (row.place, row.name, row.group, row.points, row.wins, row.games)]
            for row in self.standings
        ]
        tables = [("Rankings", titles, rows)]
        if self.cycles:
            by_points = sorted(self.standings, key=lambda row: (-row.qualifying_points, -row.qualifying_wins))
            qualifying = [
                [row.name, *map(str, (row.qualifying_points, row.qualifying_wins, row.qualifying_games, row.group))]
                for row in by_points
            ]
            tables.append(("Qualifying", ["Entry", "Points", "Wins", "Games", "Into group"], qualifying))
        return tables


def groups(director: Director) -> GroupsResult:
    """Let all entries qualify for groups, and let each group play for its places.

    A full table has the game's number of players; if more have entered, they qualify (`qualify`), and the groups of
    the playoffs are the best tableful, the next, and so on. What is left over plays at a smaller table, one entry alone
    not at all. Place p is worth (most players of the game) + 1 - p points at every table. If an entry must be struck
    while it plays, the contest begins anew without it.
    """
    while True:
        try:
            return _hold(_Sessions(director))
        except _StruckError as error:
            name, reason = error.args
            director.struck[name] = reason


GROUPS = Format(groups, fewest=lambda game: max(2, game.spec.players[0]))


class _StruckError(Exception):
    """An entry did what the rules have no answer to."""


class _Sessions:
    """Plays sessions, and keeps what went wrong in them."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.entries = {entry.name: entry for entry in director.entries}
        self.misplays: list[Misplay] = []
        self._kept: Counter[str] = Counter()

    def _job(self, session: Session) -> Match:
        """Return the session as a job, at a table that is as large as its group."""
        game = self.director.game
        if len(session.group) != game.players:
            game = Game(game.spec, len(session.group), **game.parameters)
        entries = tuple(self.entries[name] for name in session.group)
        return Match(game, entries, named_seed("groups", self.director.seed, *session.label), session.games)

    def play(self, sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        """Play ``sessions``; see `Play` in ``grouping.py``. Raises _StruckError by the first faulty session."""
        jobs = [self._job(session) for session in sessions]
        numbers = {job.seed: number for number, job in enumerate(jobs)}
        outcomes: dict[int, Any] = {}
        for job, outcome in self.director.play(jobs):
            outcomes[numbers[job.seed]] = outcome
        found: list[Sequence[Sequence[float]]] = []
        for number, session in enumerate(sessions):
            outcome = outcomes[number]
            if isinstance(outcome, Failure):
                raise _StruckError(session.group[outcome.actor], outcome.reason)
            for misplay in misplays_of(session.group, outcome):
                self._kept[misplay.name] += 1
                if self._kept[misplay.name] <= KEPT_MISPLAYS:
                    self.misplays.append(misplay)
            found.append([tuple(map(float, returns)) for returns in outcome["returns"]])
        return found


def _hold(sessions: _Sessions) -> GroupsResult:
    """Qualify and play off. Raises _StruckError."""
    director = sessions.director
    game, seed, names = director.game, director.seed, sorted(sessions.entries)
    most, size = game.spec.players[1], game.players
    if len(names) > size:
        qualified = qualify(names, size, most, seed, sessions.play)
    else:
        qualified = Qualified(names, Tally(names, most), 0, [])
    remarks = list(qualified.remarks)
    standings: list[GroupStanding] = []
    for number, first in enumerate(range(0, len(names), size), 1):
        group: Group = tuple(sorted(qualified.order[first : first + size]))
        if len(group) >= max(2, game.spec.players[0]):
            decided = playoff(group, number, most, sessions.play)
        else:
            decided = Decided(list(group), Tally(group, most), [])
        remarks += decided.remarks
        standings += _rows(decided, number, first, qualified.tally)
    return GroupsResult(
        game.name,
        game.spec.title,
        seed,
        size,
        qualified.cycles,
        tuple(standings),
        director.disqualified,
        tuple(sessions.misplays),
        tuple(remarks),
    )


def _rows(decided: Decided, number: int, above: int, before: Tally) -> list[GroupStanding]:
    """Return the ranking of a group, below ``above`` other entries."""
    rows: list[GroupStanding] = []
    tally = decided.tally
    for position, name in enumerate(decided.order, 1):
        tied = rows and tally.merit(rows[-1].name) == tally.merit(name)
        place = rows[-1].place if tied else above + position
        own = (table[name] for table in (tally.points, tally.wins, tally.games))
        earlier = (table[name] for table in (before.points, before.wins, before.games))
        rows.append(GroupStanding(place, name, number, *own, *earlier))
    return rows
