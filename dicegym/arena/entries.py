"""Who takes part in a contest: finding, checking and striking entries, the same in every format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dicegym.arena.check import Check, CheckReport
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, one_line
from dicegym.play.player import Player
from dicegym.players.roster import agent_name
from dicegym.sandbox.jobs import Entry, entry
from dicegym.sandbox.sandbox import Sandbox

Spec = str | Path | Player
Progress = Callable[[int, int, str], None]
"""Called after each check and match with (done, of how many, what was done last)."""


@dataclass(frozen=True)
class Disqualified:
    """An entry that was struck, and why."""

    name: str
    reason: str


def check_table(game: Game) -> None:
    """Raise ParameterError if ``game`` is for one player, which has nobody to compete with."""
    if game.players < 2:
        raise ParameterError(f"a contest needs a game for two or more, and {game!r} is for one: use `dicegym evaluate`")


class Reporter:
    """Counts what has been done of a total, and tells `Progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def expect(self, total: int) -> None:
        """Set the total anew."""
        self._total = total

    def __call__(self, what: str) -> None:
        """Count ``what`` as done."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done), what)


def entries_of(game: Game, given: Mapping[str, Spec] | Iterable[Spec]) -> tuple[list[Entry], list[Disqualified]]:
    """Return the entries by name, and those whose files do not exist.

    Args:
        game: the game.
        given: agents as for `dicegym.agent`, or {name: agent}.

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
            entries.append(entry(game, name, spec))
        except AgentError as error:
            missing.append(Disqualified(name, error.reason))
    return entries, missing


def admit(
    sandbox: Sandbox, game: Game, found: list[Entry], seed: int, struck: dict[str, str], report: Reporter
) -> dict[str, CheckReport]:
    """Check every entry; add to ``struck`` who may not take part, and return all reports by name.

    Where the rules say what failing costs, loading is enough; else all questions of the contest's test are asked.
    """
    checks = {}
    ask = game.spec.forfeit is None
    for job, outcome in sandbox.run(Check(game, (one,), seed, sandbox.limits, ask) for one in found):
        if isinstance(job, Check):
            checks[job.entries[0].name] = job.report(outcome)
            report(f"checked {job.entries[0].name}")
    struck |= {name: check.reason for name, check in checks.items() if not check.ok}
    return checks
