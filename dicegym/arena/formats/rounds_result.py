"""What a contest in rounds came to, and what there is to show of it, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from dicegym.arena.matrix import Matrix
from dicegym.arena.report import EVERYTHING, ReportTable, percent
from dicegym.arena.results import ContestResult, Standing

KEPT_MISPLAYS = 100
"""Misplays of one entry that are kept in words, the first."""


@dataclass(frozen=True)
class Pairing:
    """A table of a round, or an entry that had none.

    Attributes:
        entries: who was to meet.
        points: of each: the share of the others that it left behind, a win of two is 1, a draw 1/2.
        scores: games that each won against another, as a share of the others in each game, level ones by half.
        games: that were played there.
        note: what is to be said of it, such as "bye".
        played: whether each has played there; empty: nobody.
    """

    entries: tuple[str, ...]
    points: tuple[float, ...]
    scores: tuple[float, ...]
    games: int
    note: str = ""
    played: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        """Say of everybody whether it played."""
        if not self.played:
            object.__setattr__(self, "played", (False,) * len(self.entries))


@dataclass(frozen=True)
class Round:
    """A round.

    Attributes:
        title: what it is called.
        pairings: its tables, and who had a bye.
    """

    title: str
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True)
class RoundsStanding(Standing):
    """One row of the ranking of a contest in rounds.

    Attributes:
        place: 1 for the best.
        name: the entry.
        start: its number before the first round: by lot, or as the entries were named.
        points: of all rounds: 1 for a win, 1/2 for a draw; at larger tables the share of the others left behind.
        won: rounds in which it was the first of its table alone.
        drawn: rounds in which it shared that.
        lost: rounds in which another one was.
        byes: rounds that it did not have to play, walkovers included.
        games: that it played.
        share: of the others at its tables, how many it left behind in a game, level ones by half, 0..1.
    """

    start: int
    points: float
    won: int
    drawn: int
    lost: int
    byes: int
    games: int
    share: float


Rank = TypeVar("Rank", bound=RoundsStanding)
"""The kind of rows of a ranking in rounds."""


@dataclass(frozen=True, kw_only=True)
class RoundsResult(ContestResult[Rank]):
    """What a contest in rounds came to; `ContestResult` says what its other attributes are.

    Of each entry the first `KEPT_MISPLAYS` misplays are kept.

    Attributes:
        games_per_match: games of a match.
        rounds: in order.
        standings: best first.
    """

    games_per_match: int
    rounds: tuple[Round, ...]

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        games, rounds = self.games_per_match, len(self.rounds)
        played = f"{rounds} round{'s' * (rounds != 1)} of matches of {games} game{'s' * (games != 1)}"
        return self.headline(played, f"seed {self.seed}")

    def columns(self, row: Rank) -> dict[str, str]:
        """Return what the ranking shows of an entry between its name and its share of games: title -> cell."""
        return {
            "Points": number(row.points),
            "Won": str(row.won),
            "Drawn": str(row.drawn),
            "Lost": str(row.lost),
            "Byes": str(row.byes),
        }

    def tables(self) -> list[ReportTable | Matrix]:
        """Return the ranking."""
        found = [self.columns(row) for row in self.standings]
        titles = ["Ranking", "Entry", *(found[0] if found else ()), "Games", "Share"]
        rows = [
            [str(row.place), row.name, *cells.values(), str(row.games), percent(row.share if row.games else None)]
            for row, cells in zip(self.standings, found, strict=True)
        ]
        return [("Rankings", titles, rows)]

    def words(self) -> list[str]:
        """Return what the ranking is worth, and what to try next."""
        if len(self.standings) < 2:
            return ["There is nobody to compare with: a contest needs two entries that can play."]
        words = [*self.meaning()]
        if self._strangers():
            words.append(
                "Not everybody met everybody, so the luck of the draw is in it besides that of the dice: a round "
                "robin (--format round-robin) compares all with all, and says which places the games leave open."
            )
        return [*words, EVERYTHING]

    def _strangers(self) -> bool:
        """Return whether there are two who never met."""
        met = {pair for match in self.matches for pair in combinations(match.entries, 2)}  # by name
        return any(pair not in met for pair in combinations(sorted(row.name for row in self.standings), 2))

    def meaning(self) -> Sequence[str]:
        """Return what the format's own columns mean."""
        return ()


def number(value: float) -> str:
    """Return points as they are read: 3, 2.5, 0.333."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
