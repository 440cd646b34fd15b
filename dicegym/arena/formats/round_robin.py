"""The round robin: all tables of entries that there are play a match each, and whoever wins most comes first.

In a game for two these are the pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from dicegym.arena.director import Director, Format
from dicegym.arena.entries import Disqualified
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import ReportTable, percent
from dicegym.arena.results import ContestResult
from dicegym.games.parts import solver
from dicegym.players.roster import agent
from dicegym.sandbox.jobs import Failure


@dataclass(frozen=True)
class RoundRobinStanding:
    """One row of the ranking.

    Attributes:
        place: 1 for the best; equal entries share a place.
        name: the entry.
        wins: matches won.
        losses: matches lost.
        share: share of all its games won, 0..1, a shared first place shared out.
        win_rate: exact win rate against the baseline, 0..1; None if the game has no exact values.
    """

    place: int
    name: str
    wins: int
    losses: int
    share: float
    win_rate: float | None


@dataclass(frozen=True)
class MatchRow:
    """One row of the table of matches: the entries, and how many games each won alone."""

    entries: tuple[str, ...]
    wins: tuple[int, ...]
    shares: tuple[float, ...] = ()
    """Games won, a shared first place shared out; empty: as ``wins``."""


@dataclass(frozen=True)
class RoundRobinResult(ContestResult):
    """What a round robin came to.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        games_per_match: games that each table played.
        baseline: the agent that win rates are against.
        standings: best first.
        matches: by the names of the entries.
        disqualified: by name.
        misplays: what entries did wrong and the rules dealt with.
    """

    game: str
    title: str
    seed: int
    games_per_match: int
    baseline: str = field(metadata={"json": "yardstick"})  # as files have it that were written before
    standings: tuple[RoundRobinStanding, ...]
    matches: tuple[MatchRow, ...]
    disqualified: tuple[Disqualified, ...]
    misplays: tuple[Misplay, ...] = ()

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        return (
            f"{self.title}: {len(self.standings)} entries, {len(self.matches)} matches of "
            f"{self.games_per_match} games, seed {self.seed}"
        )

    def tables(self) -> tuple[ReportTable, ReportTable]:
        """Return the ranking and the table of matches."""
        exact = any(row.win_rate is not None for row in self.standings)
        last = f"Winrate against `{self.baseline}`" if exact else "Games won"
        ranking = [
            [str(row.place), row.name, str(row.wins), str(row.losses), percent(row.win_rate if exact else row.share)]
            for row in self.standings
        ]
        seats = range(max((len(match.entries) for match in self.matches), default=2))
        titles = [*(f"Entry {i}" for i in seats), *(f"Entry {i}'s wins" for i in seats)]
        matches = [[*match.entries, *map(str, match.wins)] for match in self.matches]
        return (
            ("Rankings", ["Ranking", "Entry", "Wins", "Losses", last], ranking),
            ("Matches", titles, matches),
        )


def round_robin(director: Director) -> RoundRobinResult:
    """Let every table of entries play, and rank them.

    A match's result depends on the contest's seed and the names of its entries alone: not on other entries, their
    order, or the number of processes. Whoever fails is disqualified, its matches are struck, and nobody else's results
    change.
    """
    game = director.game
    played = _play_all(director)
    played = [(match, misplays) for match, misplays in played if not director.struck.keys() & set(match.entries)]
    matches = [match for match, _ in played]
    return RoundRobinResult(
        game.name,
        game.spec.title,
        director.seed,
        game.spec.games_per_match,
        game.spec.baseline,
        tuple(_rank(director, matches)),
        tuple(matches),
        director.disqualified,
        tuple(misplay for _, misplays in played for misplay in misplays),
    )


ROUND_ROBIN = Format(
    round_robin,
    fewest=lambda game: game.players,
    matches=lambda game, entries: math.comb(entries, game.players),
)


def _play_all(director: Director) -> list[tuple[MatchRow, list[Misplay]]]:
    """Play all tables; strike who failed, for its first failing match by the order of tables."""
    game = director.game
    tables = itertools.combinations(director.entries, game.players)
    jobs = [Match(game, table, director.seed, game.spec.games_per_match) for table in tables]
    numbers = {tuple(entry.name for entry in job.entries): i for i, job in enumerate(jobs)}
    failed: dict[str, tuple[int, str]] = {}
    results: dict[int, tuple[MatchRow, list[Misplay]]] = {}

    def waiting() -> Iterator[Match]:
        for job in jobs:
            # Whoever has failed is out. The reason given is that of its first failing match all the same:
            # jobs are begun in order, so that one was begun before any later failure could be known.
            if not any(entry.name in failed for entry in job.entries):
                yield job

    for job, outcome in director.play(waiting()):
        names = tuple(entry.name for entry in job.entries)
        number = numbers[names]
        if isinstance(outcome, Failure):
            name = job.entries[outcome.actor].name
            failed[name] = min(failed.get(name, (number, outcome.reason)), (number, outcome.reason))
        else:
            wins, shares = (tuple(outcome[key]) for key in ("wins", "shares"))
            results[number] = MatchRow(names, wins, shares), misplays_of(names, outcome)
    director.struck |= {name: reason for name, (_, reason) in failed.items()}
    return [results[number] for number in sorted(results)]


def _rank(director: Director, matches: list[MatchRow]) -> Iterator[RoundRobinStanding]:
    """Yield the ranking: matches won, then the exact win rate against the baseline or the share of games won."""
    game, names = director.game, [entry.name for entry in director.entries]
    wins, losses, games = dict.fromkeys(names, 0), dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    won = dict.fromkeys(names, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.shares or match.wins, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            games[name] += game.spec.games_per_match
            won[name] += share
    rates: dict[str, float | None] = dict.fromkeys(names)
    exact = solver(game)
    if exact is not None and names and game.spec.forfeit is None:
        baseline = exact.tabulate(agent(game, game.spec.baseline), game)
        for name in names:
            # Rounded, so that a tie of equal strategies is one although floats are added in different order.
            rates[name] = round(exact.win_rate(director.checks[name].answers, baseline, game), 12)
    shares = {name: round(won[name] / max(1, games[name]), 12) for name in names}
    merits = {name: (wins[name], shares[name] if (rate := rates[name]) is None else rate) for name in names}
    order = sorted(names, key=lambda name: (-merits[name][0], -merits[name][1], name))
    place = 0
    for position, name in enumerate(order, 1):
        if position == 1 or merits[name] != merits[order[position - 2]]:
            place = position
        yield RoundRobinStanding(place, name, wins[name], losses[name], shares[name], rates[name])
