"""The Swiss tournament: in each round pairs of about equal points meet, and no two meet twice.

It tells a large field apart in few rounds. Pairs are made as `dicegym.arena.formats.swiss_pairing` says.

Ranked are points (a win is 1, a draw 1/2), then Buchholz: the sum of the opponents' points, where a bye counts as an
opponent with one's own points (FIDE Handbook C.07), then the share of games won. Entries that are still equal share a
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats.groups import shuffle_names
from dicegym.arena.formats.settling import settle
from dicegym.arena.formats.swiss_pairing import bye, pairs, usual_rounds
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow, PlayedMatch
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry

GRAIN = 9
"""Digits to which shares of games are rounded, so that a tie is one although floats are added in another order."""


class Pairing(NamedTuple):
    """A pair of a round, or an entry that had none."""

    entries: tuple[str, ...]
    points: tuple[float, ...]
    """Of each: 1 for a win, 1/2 for a draw."""
    scores: tuple[float, ...]
    """Games that each won, a draw by half."""
    games: int
    """That were played."""
    note: str
    """What is to be said of it, such as "bye"."""
    played: tuple[bool, ...]
    """Whether each has played."""


@dataclass
class _Player:
    """An entry, and what it has reached in the rounds so far."""

    start: int
    """Its number before the first round."""
    points: float = 0.0
    won: int = 0
    """Rounds."""
    drawn: int = 0
    lost: int = 0
    byes: int = 0
    """Rounds in which it got points without playing, walkovers included."""
    games: int = 0
    score: float = 0.0
    """Games won, a draw by half."""
    opponents: list[str] = field(default_factory=list)
    """Of each round; itself where it did not play."""

    def add(self, pairing: Pairing, number: int) -> None:
        """Count a pair of which it was entry ``number``."""
        points, met = pairing.points[number], all(pairing.played)
        self.points += points
        self.score += pairing.scores[number]
        self.opponents.append(pairing.entries[1 - number if met else number])
        if not met:
            self.byes += points > 0
            return
        self.games += pairing.games
        self.won += points == 1
        self.drawn += points == 0.5
        self.lost += points == 0


class _Rounds:
    """Has pairs meet, round by round."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.games = director.options.games or director.game.spec.games_per_match
        self.entries = {entry.name: entry for entry in director.entries}
        drawn = shuffle_names(list(self.entries), "draw", director.seed)
        self.players = {name: _Player(start) for start, name in enumerate(drawn, 1)}
        self.rounds: list[tuple[Pairing, ...]] = []
        self.remarks: list[str] = []
        self.played: list[PlayedMatch] = []

    @property
    def names(self) -> list[str]:
        """Entries that are not disqualified, in the order of the start."""
        return [name for name in self.players if name not in self.director.failures]

    def count_meetings(self, one: str, other: str) -> int:
        """Return how often two have met."""
        return self.players[one].opponents.count(other)

    def all_met(self, names: Sequence[str]) -> bool:
        """Return whether everybody has met everybody."""
        return all(self.count_meetings(*pair) for pair in combinations(names, 2))

    def play(self) -> None:
        """Pair and play a round; an entry that is left over has a bye."""
        players = self.players
        points = {name: players[name].points for name in self.names}
        order = sorted(points, key=lambda name: (-points[name], players[name].start))
        free = [bye(order, {name: players[name].byes for name in order})] if len(order) % 2 else []
        paired = pairs([name for name in order if name not in free], points, self.count_meetings)
        for one, other in paired:
            if self.count_meetings(one, other):
                number = len(self.rounds) + 1
                self.remarks.append(f"round {number}: {one} and {other} met again, as nothing else was left")
        found = [*self._meet(paired), *(Pairing((name,), (1.0,), (0.0,), 0, "bye", (False,)) for name in free)]
        self.rounds.append(tuple(found))
        for pairing in found:
            for number, name in enumerate(pairing.entries):
                players[name].add(pairing, number)

    def _meet(self, paired: Sequence[tuple[str, str]]) -> list[Pairing]:
        """Return the result of each pair; disqualified entries lose, and leave the other one a walkover."""
        director, times = self.director, self.director.options.seeds
        jobs = []
        for pair in paired:
            first = times * self.count_meetings(*pair)
            entries = tuple(self.entries[name] for name in sorted(pair))
            for number in range(first, first + times):
                jobs.append(Match(director.game, entries, director.seed, self.games, number=number))
        rows: dict[frozenset[str], list[MatchRow]] = {frozenset(pair): [] for pair in paired}
        for played in settle(director, jobs):
            rows[frozenset(played.row.entries)].append(played.row)
            if director.failures.keys().isdisjoint(played.row.entries):
                self.played.append(played)
        return [self._pairing(pair, rows[frozenset(pair)]) for pair in paired]

    def _pairing(self, pair: tuple[str, str], rows: Sequence[MatchRow]) -> Pairing:
        if len(rows) < self.director.options.seeds:
            failed = [name for name in pair if name in self.director.failures]
            points = tuple(float(name not in failed) for name in pair)
            return Pairing(pair, points, (0.0, 0.0), 0, f"walkover: {', '.join(failed)} disqualified", (False, False))
        won = [sum(row.won[row.entries.index(name)] for row in rows) for name in pair]
        points = tuple((own > other) + 0.5 * (own == other) for own, other in (won, won[::-1]))
        return Pairing(pair, points, tuple(won), sum(row.games for row in rows), "", (True, True))

    def figures(self, name: str) -> dict[str, Any]:
        """Return what there is to say of an entry."""
        player = self.players[name]
        own = {what: getattr(player, what) for what in ("start", "points", "won", "drawn", "lost", "byes", "games")}
        share = round(player.score / player.games, GRAIN) if player.games else 0.0
        buchholz = sum((self.players[other].points for other in player.opponents), 0.0)
        return own | {"share": share, "buchholz": buchholz}


def swiss(director: Director) -> ContestResult:
    """Play the rounds. A disqualified entry is not paired any more; what was played against it before stands.

    Figures of a standing: ``start``, its number before the first round; ``points``; ``won``, ``drawn`` and ``lost``
    rounds; ``byes``, rounds that it did not have to play, walkovers included; ``games``; ``share`` of its games won;
    ``buchholz``. Details: ``games_per_match``, and the ``rounds`` with their pairings (`Pairing`) as plain values.
    """
    rounds = _Rounds(director)
    for played in range(director.options.rounds or usual_rounds(len(rounds.players))):
        names = rounds.names
        if len(names) < 2:
            break
        if rounds.all_met(names):
            rounds.remarks.append(f"it ended after {played} rounds, in which everybody had met everybody")
            break
        rounds.play()
    figures = {name: rounds.figures(name) for name in rounds.names}
    merits = {name: (one["points"], one["buchholz"], one["share"]) for name, one in figures.items()}
    standings = ranking(merits, figures)
    plain = tuple(
        {"title": f"Round {number}", "pairings": tuple(one._asdict() for one in found)}
        for number, found in enumerate(rounds.rounds, 1)
    )
    details = {"games_per_match": rounds.games, "rounds": plain}
    return director.result(standings, rounds.played, _present(rounds, standings), rounds.remarks, **details)


def _present(rounds: _Rounds, standings: Sequence[Standing]) -> Presentation:
    facts = [
        f"{write_count(len(rounds.rounds), 'round')} of matches of {write_count(rounds.games, 'game')}",
        f"seed {rounds.director.seed}",
    ]
    columns: Columns = {
        "Points": lambda row: f"{row['points']:g}",
        "Won": "won",
        "Drawn": "drawn",
        "Lost": "lost",
        "Byes": "byes",
        "Buchholz": lambda row: f"{row['buchholz']:g}",
        "Games": "games",
        "Share": lambda row: row["share"] if row["games"] else None,
    }
    words = ["Points rank, then 'Buchholz', the points of an entry's opponents, then the share of games won."]
    if not rounds.all_met([row.name for row in standings]):
        words.append(
            "Not everybody met everybody, so the luck of the draw is in it as well as that of the dice: a round "
            "robin compares all with all."
        )
    return Presentation(facts, [ranking_table(standings, columns)], words)


def _check(game: Game, options: ContestOptions, entries: Sequence[Entry]) -> None:
    if game.players != 2:
        raise ParameterError(
            f"a Swiss tournament pairs entries, and {game!r} seats {game.players}: give players=2, or run groups"
        )
    most = len(entries) - 1 + len(entries) % 2
    if entries and options.rounds is not None and options.rounds > most:
        raise ParameterError(
            f"rounds={options.rounds} cannot be played by {len(entries)} entries, as after {most} everybody has met "
            f"everybody: give at most {most}, or more games of a match"
        )


SWISS = Format(
    swiss,
    "swiss",
    matches=lambda game, entries, options: (options.rounds or usual_rounds(entries)) * options.seeds * (entries // 2),
    check=_check,
)
