"""What formats in rounds share: tables meet, are scored, and whoever is struck leaves walkovers to the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from dicegym.arena.director import Director
from dicegym.arena.formats.grouping import shuffled
from dicegym.arena.formats.rounds_result import KEPT_MISPLAYS, Pairing, Round
from dicegym.arena.formats.settling import PlayedMatch, settle, table_for
from dicegym.arena.incidents import MisplayLog
from dicegym.arena.match import Match
from dicegym.arena.rows import MatchRow

GRAIN = 9
"""Digits to which points are rounded, so that a tie is one although floats are added in another order."""


def left_behind(row: MatchRow) -> tuple[float, ...]:
    """Return how much of its table each entry left behind, summed over the games of a match.

    Of the others at the table, those who came behind it, and half of those who came with it: of two 1, 1/2 or 0.
    """
    found = [0.0] * len(row.entries)
    for places, games in row.places:
        for i, share in enumerate(shares(places)):
            found[i] += games * share
    return tuple(round(one, GRAIN) for one in found)


def shares(places: Sequence[float]) -> tuple[float, ...]:
    """Return which share of the others each is ahead of, level ones by half, where a lower number is better."""
    others = max(1, len(places) - 1)
    behind = (sum((other > own) + 0.5 * (other == own) for other in places) - 0.5 for own in places)
    return tuple(round(count / others, GRAIN) for count in behind)


@dataclass
class Account:
    """What an entry has come to in the rounds so far."""

    points: float = 0.0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    byes: int = 0
    """Rounds in which it got points without playing, walkovers included."""
    score: float = 0.0
    games: int = 0
    opponents: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """What it left behind of its tables, 0..1."""
        return round(self.score / self.games, GRAIN) if self.games else 0.0


class Rounds:
    """Has tables meet, round by round.

    Args:
        director: plays.

    Attributes:
        director: as given.
        start: all entries in their order before the first round: by lot, or as they were named.
        games: of a match.
        rounds: those played.
        accounts: of each entry, by name.
        remarks: what there is to say.
    """

    def __init__(self, director: Director) -> None:
        self.director = director
        game, options = director.game, director.options
        self._entries = {entry.name: entry for entry in director.entries}
        drawn = list(self._entries) if options.seeding else shuffled(list(self._entries), "draw", director.seed)
        self.start = {name: number for number, name in enumerate(drawn)}
        self.games = options.games or game.spec.games_per_match
        self.fewest = max(2, game.spec.players[0])
        self.rounds: list[Round] = []
        self.accounts = {name: Account() for name in self.start}
        self.remarks: list[str] = []
        self._played: Counter[tuple[str, ...]] = Counter()
        self._met: Counter[frozenset[str]] = Counter()
        self._rows: list[MatchRow] = []
        self._misplays = MisplayLog(KEPT_MISPLAYS)

    @property
    def names(self) -> list[str]:
        """Who is not struck, in the order of the start."""
        return [name for name in self.start if name not in self.director.struck]

    def met(self, one: str, other: str) -> int:
        """Return at how many tables both have sat."""
        return self._met[frozenset((one, other))]

    def play(self, title: str, tables: Sequence[Sequence[str]], byes: Iterable[str] = ()) -> None:
        """Let ``tables`` meet, nobody at two of them, and keep that as a round in which ``byes`` have a win's points.

        Disqualified entries lose; the others at their table play without them, or have a walkover if they are too few.
        """
        byed = [Pairing((name,), (1.0,), (0.0,), 0, "bye") for name in byes]
        played = Round(title, (*self._meet(tables), *byed))
        self.rounds.append(played)
        for pairing in played.pairings:
            self._count(pairing)

    def _meet(self, tables: Sequence[Sequence[str]]) -> list[Pairing]:
        """Return the result of each table, in their order."""
        times = self.director.options.seeds
        found: dict[int, Pairing] = {}
        waiting = list(range(len(tables)))
        while waiting:
            present = {i: [name for name in tables[i] if name not in self.director.struck] for i in waiting}
            playing = [i for i in waiting if len(present[i]) >= self.fewest]
            for i in waiting:
                if i not in playing:
                    found[i] = _walkover(tables[i], present[i])
            played = self._settled([present[i] for i in playing])
            waiting = []
            for i, rows in zip(playing, played, strict=True):
                if len(rows) == times:
                    found[i] = _pairing(tables[i], present[i], rows)
                else:
                    waiting.append(i)
        return [found[i] for i in range(len(tables))]

    def _settled(self, tables: Sequence[Sequence[str]]) -> list[list[MatchRow]]:
        """Play as many matches at each table as the contest has ``seeds``; return the rows that count, by table."""
        jobs, times = [], self.director.options.seeds
        for table in tables:
            names = tuple(sorted(table))
            game, entries = table_for(self.director.game, len(names)), tuple(self._entries[name] for name in names)
            first = self._played[names]
            self._played[names] += times
            for number in range(first, first + times):
                jobs.append(Match(game, entries, self.director.seed, self.games, number=number))
        rows: dict[tuple[str, ...], list[MatchRow]] = {}
        for _, played in settle(self.director, jobs):
            if isinstance(played, PlayedMatch):
                rows.setdefault(played.row.entries, []).append(played.row)
                if self.director.struck.keys().isdisjoint(played.row.entries):
                    self._rows.append(played.row)
                    for misplay in played.misplays:
                        self._misplays.add(misplay)
        return [rows.get(tuple(sorted(table)), []) for table in tables]

    def _count(self, pairing: Pairing) -> None:
        best = max(pairing.points)
        playing = [name for name, played in zip(pairing.entries, pairing.played, strict=True) if played]
        for pair in combinations(playing, 2):
            self._met[frozenset(pair)] += 1
        for name, points, score, played in zip(
            pairing.entries, pairing.points, pairing.scores, pairing.played, strict=True
        ):
            account = self.accounts[name]
            account.points = round(account.points + points, GRAIN)
            account.score = round(account.score + score, GRAIN)
            if not played:
                account.byes += points > 0
                continue
            account.games += pairing.games
            account.opponents += [other for other in playing if other != name]
            account.won += points == best and pairing.points.count(best) == 1
            account.drawn += points == best and pairing.points.count(best) > 1
            account.lost += points < best

    def figures(self, name: str) -> dict[str, Any]:
        """Return what every standing says of an entry in rounds: the fields of `RoundsStanding` but the place."""
        account = self.accounts[name]
        return {
            "name": name,
            "start": 1 + self.start[name],
            "points": account.points,
            "won": account.won,
            "drawn": account.drawn,
            "lost": account.lost,
            "byes": account.byes,
            "games": account.games,
            "share": account.share,
        }

    def common(self) -> dict[str, Any]:
        """Return what results of all formats in rounds say: the fields of `RoundsResult` but the standings."""
        common = self.director.common()
        return common | {
            "remarks": (*common["remarks"], *self.remarks),
            "matches": tuple(self._rows),
            "misplays": self._misplays.kept,
            "games_per_match": self.games,
            "rounds": tuple(self.rounds),
        }


def _pairing(table: Sequence[str], present: Sequence[str], rows: Sequence[MatchRow]) -> Pairing:
    """Return what the matches at a table came to."""
    scores = dict.fromkeys(table, 0.0)
    for row in rows:
        for name, score in zip(row.entries, left_behind(row), strict=True):
            scores[name] = round(scores[name] + score, GRAIN)
    points = dict(zip(present, shares([-scores[name] for name in present]), strict=True))
    absent = [name for name in table if name not in present]
    return Pairing(
        tuple(table),
        tuple(points.get(name, 0.0) for name in table),
        tuple(scores[name] for name in table),
        sum(row.games for row in rows),
        _struck(absent),
        tuple(name in points for name in table),
    )


def _walkover(table: Sequence[str], present: Sequence[str]) -> Pairing:
    """Return what a table comes to that is too small to be played at: those who are left have won."""
    absent = [name for name in table if name not in present]
    points = tuple(float(name in present) for name in table)
    return Pairing(tuple(table), points, (0.0,) * len(table), 0, f"walkover: {_struck(absent)}")


def _struck(names: Sequence[str]) -> str:
    return f"{', '.join(names)} struck" if names else ""


def ranks_of(merits: Mapping[str, Any]) -> dict[str, int]:
    """Return the place of each by its merit, more is better; equals share one."""
    ranked = sorted(merits.values(), reverse=True)
    first: dict[Any, int] = {}
    for position, merit in enumerate(ranked, 1):
        first.setdefault(merit, position)
    return {name: first[merit] for name, merit in merits.items()}
