"""The Swiss tournament: in each round pairs of about equal points meet, and no two meet twice.

It tells a large field apart in few rounds. Pairs are made as `dicegym.arena.formats.swiss_pairing` says.

Ranked are points (a win is 1, a draw 1/2), then Buchholz: the sum of the opponents' points, where a bye counts as an
opponent with one's own points (FIDE Handbook C.07), then the share of games won. Entries that are still equal share a
place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import NamedTuple

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats.grouping import shuffle_names
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
class Account:
    """What an entry has reached in the rounds so far."""

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

    @property
    def share(self) -> float:
        """Its share of its games."""
        return round(self.score / self.games, GRAIN) if self.games else 0.0

    def add(self, pairing: Pairing, number: int) -> None:
        """Count a pair of which it was entry ``number``."""
        points = pairing.points[number]
        self.points += points
        self.score += pairing.scores[number]
        if not pairing.played[number]:
            self.byes += points > 0
            return
        self.games += pairing.games
        self.won += points == 1
        self.drawn += points == 0.5
        self.lost += points == 0


class _Rounds:
    """Has pairs meet, round by round."""

    def __init__(self, director: Director) -> None:
        self.director, options = director, director.options
        self.entries = {entry.name: entry for entry in director.entries}
        drawn = shuffle_names(list(self.entries), "draw", director.seed)
        self.start = {name: number for number, name in enumerate(drawn, 1)}
        self.games = options.games or director.game.spec.games_per_match
        self.rounds: list[tuple[Pairing, ...]] = []
        self.accounts = {name: Account() for name in self.start}
        self.remarks: list[str] = []
        self.played: list[PlayedMatch] = []
        self._numbers, self._met = Counter[tuple[str, ...]](), Counter[frozenset[str]]()

    @property
    def names(self) -> list[str]:
        """Entries that are not disqualified, in the order of the start."""
        return [name for name in self.start if name not in self.director.failures]

    def count_meetings(self, one: str, other: str) -> int:
        """Return how often two have met."""
        return self._met[frozenset((one, other))]

    def all_met(self, names: Sequence[str]) -> bool:
        """Return whether everybody has met everybody."""
        return all(self.count_meetings(*pair) for pair in combinations(names, 2))

    def play(self) -> None:
        """Pair and play a round; an entry that is left over has a bye."""
        accounts, number = self.accounts, len(self.rounds) + 1
        points = {name: accounts[name].points for name in self.names}
        order = sorted(points, key=lambda name: (-points[name], self.start[name]))
        free = [bye(order, {name: accounts[name].byes for name in order})] if len(order) % 2 else []
        paired = pairs([name for name in order if name not in free], points, self.count_meetings)
        for one, other in paired:
            if self.count_meetings(one, other):
                self.remarks.append(f"round {number}: {one} and {other} met again, as nothing else was left")
        found = [*self._meet(paired), *(Pairing((name,), (1.0,), (0.0,), 0, "bye", (False,)) for name in free)]
        self.rounds.append(tuple(found))
        for pairing in found:
            if all(pairing.played):
                self._met[frozenset(pairing.entries)] += 1
            for seat, name in enumerate(pairing.entries):
                accounts[name].add(pairing, seat)

    def _meet(self, paired: Sequence[tuple[str, str]]) -> list[Pairing]:
        """Return the result of each pair; disqualified entries lose, and leave the other one a walkover."""
        jobs, times = [], self.director.options.seeds
        for pair in paired:
            names = tuple(sorted(pair))
            entries, first = tuple(self.entries[name] for name in names), self._numbers[names]
            self._numbers[names] += times
            for number in range(first, first + times):
                jobs.append(Match(self.director.game, entries, self.director.seed, self.games, number=number))
        rows: dict[frozenset[str], list[MatchRow]] = {}
        for played in settle(self.director, jobs):
            rows.setdefault(frozenset(played.row.entries), []).append(played.row)
            if self.director.failures.keys().isdisjoint(played.row.entries):
                self.played.append(played)
        return [self._pairing(pair, rows.get(frozenset(pair), [])) for pair in paired]

    def _pairing(self, pair: tuple[str, str], rows: Sequence[MatchRow]) -> Pairing:
        if len(rows) < self.director.options.seeds:
            failed = [name for name in pair if name in self.director.failures]
            points = tuple(float(name not in failed) for name in pair)
            return Pairing(pair, points, (0.0, 0.0), 0, f"walkover: {', '.join(failed)} disqualified", (False, False))
        won = [sum(row.won[row.entries.index(name)] for row in rows) for name in pair]
        points = tuple((own > other) + 0.5 * (own == other) for own, other in (won, won[::-1]))
        return Pairing(pair, points, tuple(won), sum(row.games for row in rows), "", (True, True))

    def buchholz(self, name: str) -> float:
        """Return the sum of the opponents' points of an entry."""
        found = 0.0
        for pairing in (pairing for one in self.rounds for pairing in one if name in pairing.entries):
            others = [other for other in pairing.entries if other != name] if all(pairing.played) else [name]
            found += sum(self.accounts[other].points for other in others)
        return found


def swiss(director: Director) -> ContestResult:
    """Play the rounds. A disqualified entry is not paired any more; what was played against it before stands.

    Figures of a standing: ``start``, its number before the first round; ``points``; ``won``, ``drawn`` and ``lost``
    rounds; ``byes``, rounds that it did not have to play, walkovers included; ``games``; ``share`` of its games won;
    ``buchholz``. Details: ``games_per_match``, and the ``rounds`` with their pairings (`Pairing`) as plain values.
    """
    rounds = _Rounds(director)
    for played in range(director.options.rounds or usual_rounds(len(rounds.start))):
        names = rounds.names
        if len(names) < 2:
            break
        if rounds.all_met(names):
            rounds.remarks.append(f"it ended after {played} rounds, in which everybody had met everybody")
            break
        rounds.play()
    figures = {}
    for name in rounds.names:
        account = rounds.accounts[name]
        own = asdict(account) | {"share": account.share, "buchholz": rounds.buchholz(name)}
        del own["score"]
        figures[name] = {"start": rounds.start[name], **own}
    merits = {name: (one["points"], one["buchholz"], one["share"]) for name, one in figures.items()}
    standings = ranking(merits, figures)
    told = tuple(
        {"title": f"Round {number}", "pairings": tuple(one._asdict() for one in found)}
        for number, found in enumerate(rounds.rounds, 1)
    )
    details = {"games_per_match": rounds.games, "rounds": told}
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


def _check(game: Game, options: ContestOptions) -> None:
    if game.players != 2:
        raise ParameterError(
            f"a Swiss tournament pairs entries, and {game!r} seats {game.players}: give players=2, or run groups"
        )


def _fits(game: Game, entries: Sequence[Entry], options: ContestOptions) -> None:
    most = len(entries) - 1 + len(entries) % 2
    if options.rounds is not None and options.rounds > most:
        raise ParameterError(
            f"rounds={options.rounds} cannot be played by {len(entries)} entries, as after {most} everybody has met "
            f"everybody: give at most {most}, or more games of a match"
        )


SWISS = Format(
    swiss,
    matches=lambda game, entries, options: (options.rounds or usual_rounds(entries)) * options.seeds * (entries // 2),
    check=_check,
    name="swiss",
    fits=_fits,
)
