"""What formats in rounds share: tables meet and are scored, and a disqualified entry leaves walkovers to the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

from dicegym.arena.director import Director
from dicegym.arena.formats.grouping import shuffle_names
from dicegym.arena.formats.settling import settle, table_for
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow, PlayedMatch

GRAIN = 9
"""Digits to which points are rounded, so that a tie is one although floats are added in another order."""


class Pairing(NamedTuple):
    """A table of a round, or an entry that had none."""

    entries: tuple[str, ...]
    """The entries that were to meet."""
    points: tuple[float, ...]
    """Of each: the share of the others that it left behind, a win of two is 1, a draw 1/2."""
    scores: tuple[float, ...]
    """Games that each won against another, as a share of the others in each game, level ones by half."""
    games: int
    """That were played there."""
    note: str
    """What is to be said of it, such as "bye"."""
    played: tuple[bool, ...]
    """Whether each has played there."""


class Round(NamedTuple):
    """A round: its tables, and the byes."""

    title: str
    pairings: tuple[Pairing, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"title": self.title, "pairings": tuple(one._asdict() for one in self.pairings)}


@dataclass
class Account:
    """What an entry has reached in the rounds so far."""

    points: float = 0.0
    """Of all rounds."""
    won: int = 0
    """Rounds in which it was the first of its table alone."""
    drawn: int = 0
    """Rounds in which it shared that."""
    lost: int = 0
    byes: int = 0
    """Rounds in which it got points without playing, walkovers included."""
    games: int = 0
    score: float = 0.0
    """What it left behind of its tables, summed over its games."""

    @property
    def share(self) -> float:
        """What it left behind of its tables in a game, 0..1."""
        return round(self.score / self.games, GRAIN) if self.games else 0.0

    def add(self, pairing: Pairing, number: int) -> None:
        """Count a table at which it was entry ``number``."""
        points, best = pairing.points[number], max(pairing.points)
        self.points = round(self.points + points, GRAIN)
        self.score = round(self.score + pairing.scores[number], GRAIN)
        if not pairing.played[number]:
            self.byes += points > 0
            return
        self.games += pairing.games
        self.won += points == best and pairing.points.count(best) == 1
        self.drawn += points == best and pairing.points.count(best) > 1
        self.lost += points < best


def count_left_behind(row: MatchRow) -> tuple[float, ...]:
    """Return how much of its table each entry left behind, summed over the games of a match.

    Of the others at the table, those behind it, and half of those level with it: of two 1, 1/2 or 0.
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


class Rounds:
    """Has tables meet, round by round.

    Args:
        director: plays.

    Attributes:
        director: as given.
        start: number of each entry before the first round, from 0: by lot, or as they were named.
        games: of a match.
        rounds: those played.
        accounts: of each entry, by name.
        remarks: what there is to say.
        played: the matches between entries that were not disqualified then.
    """

    def __init__(self, director: Director) -> None:
        self.director = director
        game, options = director.game, director.options
        self._entries = {entry.name: entry for entry in director.entries}
        drawn = list(self._entries) if options.seeding else shuffle_names(list(self._entries), "draw", director.seed)
        self.start = {name: number for number, name in enumerate(drawn)}
        self.games = options.games or game.spec.games_per_match
        self.fewest = max(2, game.spec.players[0])
        self.rounds: list[Round] = []
        self.accounts = {name: Account() for name in self.start}
        self.remarks: list[str] = []
        self.played: list[PlayedMatch] = []
        self._numbers: Counter[tuple[str, ...]] = Counter()
        self._met: Counter[frozenset[str]] = Counter()

    @property
    def names(self) -> list[str]:
        """Entries that are not disqualified, in the order of the start."""
        return [name for name in self.start if name not in self.director.struck]

    def count_meetings(self, one: str, other: str) -> int:
        """Return at how many tables both have sat."""
        return self._met[frozenset((one, other))]

    def play(self, title: str, tables: Sequence[Sequence[str]], byes: Iterable[str] = ()) -> None:
        """Let ``tables`` meet, each entry at one, and keep that as a round in which ``byes`` have a win's points.

        Disqualified entries lose; the others at their table play without them, or have a walkover if they are too few.
        """
        free = [Pairing((name,), (1.0,), (0.0,), 0, "bye", (False,)) for name in byes]
        self.rounds.append(Round(title, (*self._meet(tables), *free)))
        for pairing in self.rounds[-1].pairings:
            playing = [name for name, played in zip(pairing.entries, pairing.played, strict=True) if played]
            self._met.update(map(frozenset, combinations(playing, 2)))
            for number, name in enumerate(pairing.entries):
                self.accounts[name].add(pairing, number)

    def _meet(self, tables: Sequence[Sequence[str]]) -> list[Pairing]:
        """Return the result of each table, in their order."""
        found: dict[int, Pairing] = {}
        while waiting := [i for i in range(len(tables)) if i not in found]:
            struck = self.director.struck.keys()
            present = {i: [name for name in tables[i] if name not in struck] for i in waiting}
            playing = [i for i in waiting if len(present[i]) >= self.fewest]
            found |= {i: _pairing(tables[i], present[i], []) for i in waiting if i not in playing}
            for i, rows in zip(playing, self._settled([present[i] for i in playing]), strict=True):
                if len(rows) == self.director.options.seeds:
                    found[i] = _pairing(tables[i], present[i], rows)
        return [found[i] for i in range(len(tables))]

    def _settled(self, tables: Sequence[Sequence[str]]) -> list[list[MatchRow]]:
        """Play as many matches at each table as the contest has ``seeds``; return the rows that count, by table."""
        jobs, times = [], self.director.options.seeds
        for table in tables:
            names = tuple(sorted(table))
            game, entries = table_for(self.director.game, len(names)), tuple(self._entries[name] for name in names)
            first = self._numbers[names]
            self._numbers[names] += times
            for number in range(first, first + times):
                jobs.append(Match(game, entries, self.director.seed, self.games, number=number))
        rows: dict[tuple[str, ...], list[MatchRow]] = {}
        for played in settle(self.director, jobs):
            rows.setdefault(played.row.entries, []).append(played.row)
            if self.director.struck.keys().isdisjoint(played.row.entries):
                self.played.append(played)
        return [rows.get(tuple(sorted(table)), []) for table in tables]

    def figures(self, name: str) -> dict[str, Any]:
        """Return what a standing says of an entry: ``start``, from 1, and what its `Account` has."""
        account = self.accounts[name]
        own = asdict(account)
        del own["score"]
        return {"start": 1 + self.start[name], **own, "share": account.share}


def _pairing(table: Sequence[str], present: Sequence[str], rows: Sequence[MatchRow]) -> Pairing:
    """Return the result of the matches at a table; without any the entries that are left have a walkover."""
    scores = dict.fromkeys(table, 0.0)
    for row in rows:
        for name, score in zip(row.entries, count_left_behind(row), strict=True):
            scores[name] = round(scores[name] + score, GRAIN)
    won = shares([-scores[name] for name in present]) if rows else (1.0,) * len(present)
    points = dict.fromkeys(table, 0.0) | dict(zip(present, won, strict=True))
    absent = [name for name in table if name not in present]
    note = f"{', '.join(absent)} struck" if absent else ""
    return Pairing(
        tuple(table),
        tuple(points.values()),
        tuple(scores.values()),
        sum(row.games for row in rows),
        note if rows else f"walkover: {note}",
        tuple(bool(rows) and name in present for name in table),
    )
