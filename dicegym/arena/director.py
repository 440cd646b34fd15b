"""The director of a contest: what is the same in every format, from the entries as named to the last match played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dicegym.arena.check import Check
from dicegym.arena.check_report import CheckReport
from dicegym.arena.entries import AgentSpec, Disqualified, Progress, ProgressCounter, entries_of
from dicegym.arena.match import Match
from dicegym.arena.results import ContestResult
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import Sandbox


def check_table(game: Game) -> None:
    """Raise ParameterError if ``game`` is for one player, which has nobody to compete with."""
    if game.players < 2:
        raise ParameterError(f"a contest needs a game for two or more, and {game!r} is for one: use `dicegym evaluate`")


class Director:
    """Holds a contest from ``with`` to its end: there its entries are checked, and matches can be played.

    Args:
        game: the game; if matches are played at smaller or larger tables, the one at which entries are checked.
        entries: agents as for `dicegym.agent`, or {name: agent}.
        seed: names all games and the entries' private randomness.
        workers: number of processes (default: of usable processors).
        progress: see `Progress`.
        limits: what an entry may use; default: 10 s and 512 MiB.
        fewest: entries without which there is nothing to play.
        matches: (game, entries) -> how many matches so many entries play, for ``progress``; 0: nobody knows.
        in_order: whether entries are kept as they were named, and not sorted by name.

    Attributes:
        game: as given.
        seed: as given.
        struck: name -> reason, of entries that may not take part (any more).
        checks: what the contest's test said of each entry, by name.

    Raises:
        ParameterError: two entries have one name, there are too few, the game is for one player, or the seed is none.
        UnknownNameError: there is no such agent.
    """

    def __init__(
        self,
        game: Game,
        entries: Mapping[str, AgentSpec] | Iterable[AgentSpec],
        seed: int = 0,
        workers: int | None = None,
        progress: Progress | None = None,
        limits: Limits | None = None,
        fewest: int = 2,
        matches: Callable[[Game, int], int] = lambda game, entries: 0,
        in_order: bool = False,
    ) -> None:
        self.game = game
        self.seed = whole_number("seed", seed, -(1 << 63), (1 << 64) - 1, "the seed of a contest")
        check_table(game)
        self._found, missing = entries_of(game, entries, in_order)
        if len(self._found) + len(missing) < fewest:
            raise ParameterError(
                f"a contest of fewer than {fewest} entries has no matches of {game.spec.title} for {game.players} "
                f"players: name at least {fewest}"
            )
        self.struck = {bad.name: bad.reason for bad in missing}
        self.checks: dict[str, CheckReport] = {}
        self._matches = matches
        self._done = ProgressCounter(progress)
        self._sandbox = Sandbox(game, workers, limits)

    def __enter__(self) -> Director:
        """Open the sandbox and check every entry.

        Where the rules say what failing costs, loading is enough; else all questions of the contest's test are asked.
        """
        self._sandbox.__enter__()
        try:
            self._check()
        except BaseException:
            self._sandbox.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the sandbox."""
        self._sandbox.__exit__()

    def _check(self) -> None:
        game, ask = self.game, self.game.spec.forfeit is None
        self._done.expect(len(self._found) + self._matches(game, len(self._found)))
        for job, outcome in self._sandbox.run(
            Check(game, (one,), self.seed, self._sandbox.limits, ask) for one in self._found
        ):
            if isinstance(job, Check):  # whatever a sandbox is given
                name = job.entries[0].name
                self.checks[name] = job.report(outcome)
                self._done(f"checked {name}")
        self.struck |= {name: check.reason for name, check in self.checks.items() if not check.ok}
        self._done.expect(len(self._found) + self._matches(game, len(self.entries)))

    @property
    def entries(self) -> list[Entry]:
        """Who is not struck."""
        return [entry for entry in self._found if entry.name not in self.struck]

    @property
    def disqualified(self) -> tuple[Disqualified, ...]:
        """Who is struck, by name."""
        return tuple(Disqualified(name, reason) for name, reason in sorted(self.struck.items()))

    def play(self, matches: Iterable[Match]) -> Iterator[tuple[Match, Any]]:
        """Play ``matches``, begun in their order; yield each, as it ends, with its outcome.

        An outcome is a `dicegym.sandbox.jobs.Failure`, or `MatchResult` as a dict of plain values.
        """
        for job, outcome in self._sandbox.run(matches):
            if isinstance(job, Match):  # whatever a sandbox is given
                yield job, outcome
                self._done(" - ".join(entry.name for entry in job.entries))


class Format(NamedTuple):
    """A format of contests."""

    hold: Callable[[Director], ContestResult]
    """Plays and ranks."""
    fewest: Callable[[Game], int]
    """How many entries it takes at least."""
    matches: Callable[[Game, int], int] = lambda game, entries: 0
    """See `Director`."""
