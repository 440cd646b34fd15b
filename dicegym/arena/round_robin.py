"""The round robin: every pair of entries plays a match, and whoever wins most matches comes first."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dicegym.arena.check import Check, CheckReport
from dicegym.arena.jobs import Entry, Fault, Job, Limits, entry
from dicegym.arena.match import Match
from dicegym.arena.sandbox import Sandbox
from dicegym.core import Game, Parameter
from dicegym.errors import AgentError, ParameterError
from dicegym.exact import solver
from dicegym.games import game as game_of
from dicegym.players import Player
from dicegym.players.botfile import one_line
from dicegym.players.roster import agent, agent_name

Spec = str | Path | Player
Progress = Callable[[int, int, str], None]
"""Called after each check and match with (done, of how many, what was done last)."""


@dataclass(frozen=True)
class Standing:
    """One line of the ranking.

    Attributes:
        place: 1 for the best; equal entries share a place.
        name: the entry.
        wins: matches won.
        losses: matches lost.
        win_rate: exact win rate against the yardstick, 0..1; None if the game has no exact values.
    """

    place: int
    name: str
    wins: int
    losses: int
    win_rate: float | None


@dataclass(frozen=True)
class MatchResult:
    """One line of the table of matches: two entries and how many games each won."""

    entries: tuple[str, str]
    wins: tuple[int, int]


@dataclass(frozen=True)
class Disqualified:
    """An entry that was struck, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class ContestResult:
    """What a contest came to.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        games_per_match: games that each pair played.
        yardstick: the agent that win rates are against.
        standings: best first.
        matches: by the names of the entries.
        disqualified: by name.
    """

    game: str
    title: str
    seed: int
    games_per_match: int
    yardstick: str
    standings: tuple[Standing, ...]
    matches: tuple[MatchResult, ...]
    disqualified: tuple[Disqualified, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def text(self) -> str:
        """Return the report as plain text (`dicegym.arena.report`)."""
        from dicegym.arena.report import contest_text

        return contest_text(self)


def entries_of(
    game: Game, given: Mapping[str, Spec] | Iterable[Spec], folder: Path
) -> tuple[list[Entry], list[Disqualified]]:
    """Return the entries by name, and those whose files do not exist.

    Args:
        game: the game.
        given: agents as for `dicegym.agent`, or {name: agent}.
        folder: models among them are written there as bots.

    Raises:
        ParameterError: two entries have one name, or a Player cannot be sent to another process.
        UnknownNameError: there is no such agent.
    """
    if isinstance(given, str | os.PathLike | Player):
        given = [given]
    named = given.items() if isinstance(given, Mapping) else ((agent_name(game, spec), spec) for spec in given)
    specs: dict[str, Spec] = {}
    for raw_name, spec in named:
        name = one_line(raw_name)
        if name in specs:
            raise ParameterError(
                f"two entries are called {name!r}: {specs[name]} and {spec}. Results are kept by name: rename one, "
                "or name them yourself, {'name': 'path', ...}"
            )
        specs[name] = spec
    entries, missing = [], []
    for name, spec in sorted(specs.items()):
        try:
            entries.append(entry(game, name, spec, folder))
        except AgentError as error:
            missing.append(Disqualified(name, error.reason))
    return entries, missing


def check_game_for_two(game: Game) -> None:
    """Raise ParameterError unless a contest of ``game`` can be held."""
    if game.players != 2:
        raise ParameterError(f"a round robin of pairs needs a game for two, and {game!r} is for {game.players}")


def contest(
    game: Game | str,
    entries: Mapping[str, Spec] | Iterable[Spec],
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> ContestResult:
    """Hold the contest of a game for two: check all entries, let every pair play, rank them.

    A match's result depends on ``seed`` and the names of its two entries alone: not on other entries, their
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
        ParameterError: two entries have one name, there are fewer than two, or the game is not for two.
        UnknownNameError: there is no such game or agent.
    """
    game = game_of(game)
    seed = Parameter(0, -(1 << 63), (1 << 64) - 1, "the seed of a contest").check("seed", seed)
    check_game_for_two(game)
    with tempfile.TemporaryDirectory(prefix="dicegym-") as folder:
        found, missing = entries_of(game, entries, Path(folder))
        if len(found) + len(missing) < 2:
            raise ParameterError("a contest of fewer than two entries has no matches: name at least two")
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
        total = len(found) + len(found) * (len(found) - 1) // 2
        report = _Reporter(progress, total)
        checks = {}
        for job, outcome in sandbox.run(Check(game, (entry,), seed, sandbox.limits) for entry in found):
            if isinstance(job, Check):
                checks[job.entries[0].name] = job.report(outcome)
                report(f"checked {job.entries[0].name}")
        struck |= {name: check.reason for name, check in checks.items() if not check.ok}
        admitted = [entry for entry in found if checks[entry.name].ok]
        report.expect(len(found) + len(admitted) * (len(admitted) - 1) // 2)
        matches = _play_all(sandbox, game, admitted, seed, struck, report)
    matches = [match for match in matches if not struck.keys() & set(match.entries)]
    names = [entry.name for entry in admitted if entry.name not in struck]
    return ContestResult(
        game.name, game.rules.title, seed, game.rules.games_per_match, game.rules.yardstick,
        tuple(_rank(game, names, matches, checks)), tuple(matches),
        tuple(Disqualified(name, reason) for name, reason in sorted(struck.items())),
    )  # fmt: skip


class _Reporter:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def expect(self, total: int) -> None:
        self._total = total

    def __call__(self, what: str) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total, what)


def _play_all(
    sandbox: Sandbox, game: Game, admitted: list[Entry], seed: int, struck: dict[str, str], report: _Reporter
) -> list[MatchResult]:
    """Play all pairs; add to ``struck`` who failed in its first failing match by the order of pairs."""
    jobs = [Match(game, pair, seed, game.rules.games_per_match) for pair in itertools.combinations(admitted, 2)]
    numbers = {tuple(entry.name for entry in job.entries): i for i, job in enumerate(jobs)}
    failed: dict[str, tuple[int, str]] = {}
    results: dict[int, MatchResult] = {}

    def waiting() -> Iterator[Job]:
        for job in jobs:
            # Whoever has failed is out. The reason given is that of its first failing match all the same:
            # jobs are begun in order, so that one was begun before any later failure could be known.
            if not any(entry.name in failed for entry in job.entries):
                yield job

    for job, outcome in sandbox.run(waiting()):
        first, second = (entry.name for entry in job.entries)
        number = numbers[first, second]
        if isinstance(outcome, Fault):
            name = job.entries[outcome.actor].name
            failed[name] = min(failed.get(name, (number, outcome.reason)), (number, outcome.reason))
        else:
            wins = tuple(int(won) for won in outcome["wins"])
            results[number] = MatchResult((first, second), (wins[0], wins[1]))
        report(f"{first} - {second}")
    struck |= {name: reason for name, (_, reason) in failed.items()}
    return [results[number] for number in sorted(results)]


def _rank(
    game: Game, names: list[str], matches: list[MatchResult], checks: Mapping[str, CheckReport]
) -> Iterator[Standing]:
    """Yield the ranking: matches won, then the exact win rate against the yardstick."""
    wins, losses = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for match in matches:
        (first, second), (a, b) = match.entries, match.wins
        if a != b:
            wins[first if a > b else second] += 1
            losses[second if a > b else first] += 1
    rates: dict[str, float | None] = dict.fromkeys(names)
    exact = solver(game)
    if exact is not None and names:
        yardstick = exact.tabulate(agent(game, game.rules.yardstick), game)
        for name in names:
            # Rounded, so that a tie of equal strategies is one although floats are added in different order.
            rates[name] = round(exact.win_rate(checks[name].answers, yardstick, game), 12)
    merits = {name: (wins[name], rates[name] or 0.0) for name in names}
    order = sorted(names, key=lambda name: (-merits[name][0], -merits[name][1], name))
    place = 0
    for position, name in enumerate(order, 1):
        if position == 1 or merits[name] != merits[order[position - 2]]:
            place = position
        yield Standing(place, name, wins[name], losses[name], rates[name])
