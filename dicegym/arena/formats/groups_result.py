"""What a contest in groups came to, and what there is to show of it."""

from __future__ import annotations

from dataclasses import dataclass

from dicegym.arena.luck import Places, verdict
from dicegym.arena.report import EVERYTHING, ReportTable
from dicegym.arena.results import ContestResult, Standing

KEPT_MISPLAYS = 100
"""Misplays of one entry that are kept in words, the first."""


@dataclass(frozen=True)
class GroupStanding(Standing):
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
        could_be: the places within its group that it may deserve, as far as the playoff tells (`dicegym.arena.luck`).
    """

    group: int
    points: int
    wins: int
    games: int
    qualifying_points: int
    qualifying_wins: int
    qualifying_games: int
    could_be: Places


@dataclass(frozen=True, kw_only=True)
class GroupsResult(ContestResult[GroupStanding]):
    """What a contest in groups came to; `ContestResult` says what its other attributes are.

    Of each entry the first `KEPT_MISPLAYS` misplays are kept. ``remarks`` say how ties were broken, and which playoffs
    were not decided.

    Attributes:
        table: seats at a full table.
        cycles: cycles of qualifying.
        most_games: games after which a playoff ends undecided.
        standings: best first.
    """

    table: int
    cycles: int
    most_games: int

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        qualifying = f"{self.cycles} cycle{'s' * (self.cycles != 1)} of qualifying"
        return self.headline(f"tables of {self.table}", qualifying, f"seed {self.seed}")

    def tables(self) -> list[ReportTable]:
        """Return the ranking, and what qualifying came to if there was any."""
        titles = ["Ranking", "Entry", "Group", "Points", "Wins", "Games", "Could be"]
        rows = [
            [str(cell) for cell in (row.place, row.name, row.group, row.points, row.wins, row.games, row.could_be)]
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

    def words(self) -> list[str]:
        """Return what the ranking is worth, and what to try next."""
        best = [row for row in self.standings if row.group == 1]
        if len(best) < 2:
            return ["There is nobody to compare with: a contest needs two entries that can play."]
        return [
            "'Could be': the places that an entry may deserve in its group; sure in 95 of 100 contests.",
            verdict([row.name for row in best], [row.could_be for row in best]),
            f"--seed N plays other games; {EVERYTHING}",
        ]
