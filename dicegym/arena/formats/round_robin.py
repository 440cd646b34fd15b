"""The round robin: all tables of entries that there are play a match each, and whoever wins most comes first.

In a game for two these are the pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dicegym.arena.check import CheckReport
from dicegym.arena.entries import Disqualified, Progress, Reporter, Spec, admit, check_table, entries_of
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import Report, percent, plain_text
from dicegym.engine.game import Game
from dicegym.engine.spec import Parameter
from dicegym.errors import ParameterError
from dicegym.games import game as game_of
from dicegym.games.parts import solver
from dicegym.players.roster import agent
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import Sandbox


@dataclass(frozen=True)
class Standing:
    """One line of the ranking.

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
class MatchResult:
    """One line of the table of matches: the entries, and how many games each won alone."""

    entries: tuple[str, ...]
    wins: tuple[int, ...]
    shares: tuple[float, ...] = ()
    """Games won, a shared first place shared out; empty: as ``wins``."""


@dataclass(frozen=True)
class ContestResult:
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
    baseline: str
    standings: tuple[Standing, ...]
    matches: tuple[MatchResult, ...]
    disqualified: tuple[Disqualified, ...]
    misplays: tuple[Misplay, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def report(self) -> Report:
        """Return the ranking and the table of matches, to be shown."""
        exact = any(line.win_rate is not None for line in self.standings)
        last = f"Winrate against `{self.baseline}`" if exact else "Games won"
        ranking = [
            [
                str(line.place),
                line.name,
                str(line.wins),
                str(line.losses),
                percent(line.win_rate if exact else line.share),
            ]
            for line in self.standings
        ]
        seats = range(max((len(match.entries) for match in self.matches), default=2))
        titles = [*(f"Entry {i}" for i in seats), *(f"Entry {i}'s wins" for i in seats)]
        matches = [[*match.entries, *map(str, match.wins)] for match in self.matches]
        return Report(
            f"{self.title}: {len(self.standings)} entries, {len(self.matches)} matches of "
            f"{self.games_per_match} games, seed {self.seed}",
            (
                ("Rankings", ["Ranking", "Entry", "Wins", "Losses", last], ranking),
                ("Matches", titles, matches),
            ),
            self.disqualified,
            self.misplays,
        )

    def text(self) -> str:
        """Return the report as plain text."""
        return plain_text(self.report())


def round_robin(
    game: Game | str,
    entries: Mapping[str, Spec] | Iterable[Spec],
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> ContestResult:
    """Check all entries, let every table of them play, rank them.

    A match's result depends on ``seed`` and the names of its entries alone: not on other entries, their
    order, or the number of processes. A bad entry is disqualified, its matches are struck, and nobody else's
    results change.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}.
        seed: names all games and the entries' private randomness.
        workers: number of processes (default: of usable processors).
        progress: see `Progress`.
        limits: what an entry may use; default: 10 s and 512 MiB.

    Raises:
        ParameterError: two entries have one name, there are fewer than seats, or the game is for one player.
        UnknownNameError: there is no such game or agent.
    """
    game = game_of(game)
    seed = Parameter(0, -(1 << 63), (1 << 64) - 1, "the seed of a contest").check("seed", seed)
    check_table(game)
    found, missing = entries_of(game, entries)
    if len(found) + len(missing) < game.players:
        raise ParameterError(
            f"a contest of fewer than {game.players} entries has no matches of {game.spec.title} for "
            f"{game.players} players: name at least {game.players}"
        )
    return _hold(game, found, missing, seed, Sandbox(game, workers, limits), progress)


def _hold(
    game: Game,
    found: list[Entry],
    missing: list[Disqualified],
    seed: int,
    processes: Sandbox,
    progress: Progress | None,
) -> ContestResult:
    """Check, play and rank."""
    struck = {bad.name: bad.reason for bad in missing}
    with processes as sandbox:
        report = Reporter(progress, len(found) + math.comb(len(found), game.players))
        checks = admit(sandbox, game, found, seed, struck, report)
        admitted = [entry for entry in found if checks[entry.name].ok]
        report.expect(len(found) + math.comb(len(admitted), game.players))
        played = _play_all(sandbox, game, admitted, seed, struck, report)
    played = [(match, misplays) for match, misplays in played if not struck.keys() & set(match.entries)]
    names = [entry.name for entry in admitted if entry.name not in struck]
    matches = [match for match, _ in played]
    return ContestResult(
        game.name,
        game.spec.title,
        seed,
        game.spec.games_per_match,
        game.spec.baseline,
        tuple(_rank(game, names, matches, checks)),
        tuple(matches),
        tuple(Disqualified(name, reason) for name, reason in sorted(struck.items())),
        tuple(misplay for _, misplays in played for misplay in misplays),
    )


def _play_all(
    sandbox: Sandbox, game: Game, admitted: list[Entry], seed: int, struck: dict[str, str], report: Reporter
) -> list[tuple[MatchResult, list[Misplay]]]:
    """Play all tables; add to ``struck`` who failed in its first failing match by the order of tables."""
    tables = itertools.combinations(admitted, game.players)
    jobs = [Match(game, table, seed, game.spec.games_per_match) for table in tables]
    numbers = {tuple(entry.name for entry in job.entries): i for i, job in enumerate(jobs)}
    failed: dict[str, tuple[int, str]] = {}
    results: dict[int, tuple[MatchResult, list[Misplay]]] = {}

    def waiting() -> Iterator[Job]:
        for job in jobs:
            # Whoever has failed is out. The reason given is that of its first failing match all the same:
            # jobs are begun in order, so that one was begun before any later failure could be known.
            if not any(entry.name in failed for entry in job.entries):
                yield job

    for job, outcome in sandbox.run(waiting()):
        names = tuple(entry.name for entry in job.entries)
        number = numbers[names]
        if isinstance(outcome, Failure):
            name = job.entries[outcome.actor].name
            failed[name] = min(failed.get(name, (number, outcome.reason)), (number, outcome.reason))
        else:
            wins, shares = (tuple(outcome[key]) for key in ("wins", "shares"))
            results[number] = MatchResult(names, wins, shares), misplays_of(names, outcome)
        report(" - ".join(names))
    struck |= {name: reason for name, (_, reason) in failed.items()}
    return [results[number] for number in sorted(results)]


def _rank(
    game: Game, names: list[str], matches: list[MatchResult], checks: Mapping[str, CheckReport]
) -> Iterator[Standing]:
    """Yield the ranking: matches won, then the exact win rate against the baseline or the share of games won."""
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
            rates[name] = round(exact.win_rate(checks[name].answers, baseline, game), 12)
    shares = {name: round(won[name] / max(1, games[name]), 12) for name in names}
    merits = {name: (wins[name], shares[name] if (rate := rates[name]) is None else rate) for name in names}
    order = sorted(names, key=lambda name: (-merits[name][0], -merits[name][1], name))
    place = 0
    for position, name in enumerate(order, 1):
        if position == 1 or merits[name] != merits[order[position - 2]]:
            place = position
        yield Standing(place, name, wins[name], losses[name], shares[name], rates[name])
