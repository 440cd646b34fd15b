"""Who takes part in a contest: entries as they are named, found and struck."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, one_line
from dicegym.play.player import Player
from dicegym.players.roster import agent_name
from dicegym.sandbox.jobs import Entry, entry

AgentSpec = str | Path | Player
"""Names an agent, as for `dicegym.agent`."""
Progress = Callable[[int, int, str], None]
"""Called after each check and match with (done, of how many, what was done last)."""


@dataclass(frozen=True)
class Disqualified:
    """An entry that was struck, and why."""

    name: str
    reason: str


class ProgressCounter:
    """Counts what has been done of a total, and tells `Progress`."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._total, self._done = progress, 0, 0

    def expect(self, total: int) -> None:
        """Set the total."""
        self._total = total

    def __call__(self, what: str) -> None:
        """Count ``what`` as done."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done), what)


def entries_of(
    game: Game, given: Mapping[str, AgentSpec] | Iterable[AgentSpec], in_order: bool = False
) -> tuple[list[Entry], list[Disqualified]]:
    """Return the entries, sorted by name unless they are wanted ``in_order``, and those whose files do not exist.

    Args:
        game: the game.
        given: agents as for `dicegym.agent`, or {name: agent}.
        in_order: whether to keep the order in which they were named.

    Raises:
        ParameterError: two entries have one name, or a Player cannot be sent to another process.
        UnknownNameError: there is no such agent.
    """
    if isinstance(given, str | os.PathLike | Player):
        given = [given]
    named = given.items() if isinstance(given, Mapping) else ((agent_name(game, spec), spec) for spec in given)
    specs: dict[str, AgentSpec] = {}
    for raw_name, spec in named:
        name = one_line(raw_name)
        if name in specs:
            raise ParameterError(
                f"two entries are called {name!r}: {specs[name]} and {spec}. Results are kept by name: rename one, "
                "or name them yourself, {'name': 'path', ...}"
            )
        specs[name] = spec
    entries, missing = [], []
    for name, spec in specs.items() if in_order else sorted(specs.items()):
        try:
            entries.append(entry(game, name, spec))
        except AgentError as error:
            missing.append(Disqualified(name, error.reason))
    return entries, missing
