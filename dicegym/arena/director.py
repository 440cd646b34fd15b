"""Run a contest: check its entries, play its matches and build its result, in the same way for every format."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dicegym.arena.adjusted_results import LuckLedger
from dicegym.arena.check import Check, CheckReport
from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.entries import AgentSpec, Disqualified, entries_of
from dicegym.arena.executors import Executor, Executors
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch, sum_up
from dicegym.arena.provenance import make_provenance
from dicegym.arena.results import NOTHING_SHOWN, ContestResult, Presentation, Standing
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress
from dicegym.play.seeds import draw_seed
from dicegym.players.batch_players import TabledPlayer
from dicegym.sandbox import jail
from dicegym.sandbox.jobs import Entry, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

if TYPE_CHECKING:
    from dicegym.arena.store.book import Book  # only stored contests need its libraries


MOST_MATCHES = 3_000_000
"""Most matches of a contest: all are in memory before the first is played."""


class Format(NamedTuple):
    """A format of contests."""

    run: Callable[[Director], ContestResult]
    """Play and rank. The result depends only on the outcomes of the requested matches, not on when they end."""
    name: str
    """Its name; ``_`` is written ``-`` on the command line."""
    fewest: Callable[[Game], int] = lambda game: max(2, game.spec.players[0])
    """The fewest entries that it accepts."""
    matches: Callable[[Game, int, ContestOptions], int] = lambda game, entries, options: 0
    """The number of matches for a number of entries, for ``progress``; 0: unknown."""
    check: Callable[[Game, ContestOptions, Sequence[Entry]], None] = lambda game, options, entries: None
    """Raise ParameterError for options or entries that do not work with the game. It is called twice: without entries
    before anything else, and with them before any is checked."""

    @property
    def title(self) -> str:
        """The name on the command line and in reports."""
        return self.name.replace("_", "-")


def check_table(game: Game) -> None:
    """Raise ParameterError if ``game`` is for one player."""
    if game.players < 2:
        raise ParameterError(f"{game!r} is for one player, and a contest needs two or more: use `dicegym evaluate`")


class Director:
    """Runs a contest: checks the entries at the start of its ``with`` block, and plays matches inside.

    Arguments and errors are those of `dicegym.arena.running.contest`; ``book`` finds and stores outcomes.

    Attributes:
        game: the table for which entries are checked and that results name; matches may have fewer or more seats.
        seed: as given or drawn.
        options: as given.
        limits: what an entry may use.
        failures: name -> reason, of each disqualified entry.
        checks: the report on each entry, by name.
        luck: the luck in the matches; None unless the option ``less_luck`` is chosen.
    """

    def __init__(
        self,
        game: Game,
        entries: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec],
        seed: int | None,
        form: Format,
        limits: Limits,
        executors: Executors,
        options: ContestOptions | None = None,
        progress: Progress | None = None,
        isolation: str = jail.Isolation.AUTO,
        book: Book | None = None,
    ) -> None:
        self.game, self.options = game, options or ContestOptions()
        given = draw_seed() if seed is None else seed
        self.seed = whole_number("seed", given, -(1 << 63), (1 << 64) - 1, "the seed of a contest")
        check_table(game)
        field = entries_of(game, entries)
        self._found, self._records, self._remarks = field.entries, field.records, field.remarks
        self._form = form
        fewest = form.fewest(game)
        if len(self._records) < fewest:
            least = max(2, game.spec.players[0])
            seats = f", or use fewer seats, such as players={least}" if least < min(fewest, game.players) else ""
            raise ParameterError(
                f"a contest of fewer than {fewest} entries has no matches of {game.spec.title} for {game.players} "
                f"players: name at least {fewest}{seats}"
            )
        form.check(game, self.options, self._found)
        if (planned := form.matches(game, len(self._found), self.options)) > MOST_MATCHES:
            most = f"{planned:,} matches are more than the {MOST_MATCHES:,} that a contest can have"
            raise ParameterError(f"{most}: name fewer entries, or give fewer seeds")
        self.failures = {bad.name: bad.reason for bad in field.broken}
        self.checks: dict[str, CheckReport] = {}
        self.luck = LuckLedger(game) if self.options.less_luck else None
        self._progress, self._steps, self._done = progress, 0, 0
        self._book = book
        self._open = contextlib.ExitStack()
        self._executors, self._isolation = executors, isolation
        self._sandbox = executors(game, limits, isolation)
        self._apart = "" if all(entry.trusted for entry in self._found) else self._sandbox.isolation.description
        self.limits = self._sandbox.limits

    def __enter__(self) -> Director:
        """Check every entry.

        If the rules name the price of a failure, loading is enough. Otherwise the whole test is asked.
        """
        try:
            if self._book is not None:
                self._book.enter(self._records, self._found)
            self._check()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the processes."""
        self._open.close()

    def _run(self, jobs: Iterable[Job], start: Callable[[], Executor]) -> Iterator[tuple[Any, JobOutcome]]:
        """Do jobs, begun in their order; ``start`` is called once the first job is not in the book.

        Up to that job each outcome is yielded before the next job is taken: the outcome may decide that none follows.
        The book stores new outcomes.
        """
        book, known, waiting = self._book, deque[tuple[Job, JobOutcome]](), iter(jobs)

        def unknown() -> Iterator[Job]:
            """Yield the jobs to do; put outcomes from the book into ``known``."""
            for job in waiting:
                if book is None or (outcome := book.outcome(job)) is None:
                    yield job
                else:
                    known.append((job, outcome))

        for first in waiting:
            if book is None or (outcome := book.outcome(first)) is None:
                break
            yield first, outcome
        else:
            return
        watch = None if book is None else book.show
        for job, outcome in start().run(itertools.chain([first], unknown()), watch):
            if book is not None:
                book.keep(job, outcome)
            while known:
                yield known.popleft()
            yield job, outcome
        yield from known

    @functools.cached_property
    def _running(self) -> Executor:
        """The contest's processes, started when first used."""
        return self._open.enter_context(self._sandbox)

    def _check(self) -> None:
        game, ask = self.game, self.game.spec.forfeit is None
        self.expect()
        checks = (Check(game, (one,), self.seed, self.limits, ask) for one in self._found)
        for job, outcome in self._run(checks, lambda: self._running):
            name = job.entries[0].name
            self.checks[name] = job.report(outcome)
            self.count_step(f"checked {name}")
        for number, entry in enumerate(self._found):
            if (table := self.checks[entry.name].table) is not None:  # a bot that declares itself pure
                self._found[number] = entry.replace_player(TabledPlayer(entry.name, table))
        self.failures |= {name: check.reason for name, check in self.checks.items() if not check.ok}
        planned = self.expect()
        if self._book is not None:
            self._book.plan(planned)

    def expect(self, more: int = 0) -> int:
        """Set the total for ``progress``: all checks and matches, and ``more`` steps. Return the number of matches."""
        matches = self._form.matches(self.game, len(self.entries), self.options)
        self._steps = len(self._found) + matches + more
        return matches

    def count_step(self, what: str) -> None:
        """Report a finished step to ``progress``."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._steps, self._done), what)

    @property
    def games_per_match(self) -> int:
        """Games of a match: as chosen, or as in the game's own contest."""
        return self.options.games or self.game.spec.games_per_match

    @property
    def entries(self) -> list[Entry]:
        """The entries that are not disqualified."""
        return [entry for entry in self._found if entry.name not in self.failures]

    def play(self, matches: Iterable[Match]) -> Iterator[tuple[Match, Any]]:
        """Play ``matches``, begun in their order; yield each with its outcome as it ends.

        An outcome is a `dicegym.sandbox.jobs.Failure`, or `MatchResult` as a dict of plain values.
        """
        for job, outcome in self._run(matches, lambda: self._running):
            if self.luck is not None:
                self.luck.note(job, outcome)
            yield job, outcome
            self.count_step(" - ".join(entry.name for entry in job.entries))

    def ask(self, jobs: Iterable[Job], limits: Limits) -> Iterator[tuple[Job, JobOutcome]]:
        """Do jobs with other ``limits``; yield each with its outcome."""
        with contextlib.ExitStack() as stack:
            executor = self._executors(self.game, limits, self._isolation)
            yield from self._run(jobs, lambda: stack.enter_context(executor))

    def common(self, played: Sequence[PlayedMatch]) -> dict[str, Any]:
        """Return the fields of `ContestResult` that every format shares.

        ``played`` are the matches that count, in their order.
        """
        summed = sum_up(played)
        summed["printed"] |= {name: check.printed for name, check in self.checks.items() if check.printed}
        notes = [f"{name}: {remark}" for name, check in sorted(self.checks.items()) for remark in check.remarks]
        return summed | {
            "game": self.game.name,
            "title": self.game.spec.title,
            "seed": self.seed,
            "format": self._form.name,
            "options": self.options.select_for(self._form.name),
            "disqualified": tuple(Disqualified(name, reason) for name, reason in sorted(self.failures.items())),
            "remarks": (*self._remarks, *notes),
            "provenance": make_provenance(self.game, self.limits, self._records, self._apart),
        }

    def result(
        self,
        standings: Sequence[Standing],
        played: Sequence[PlayedMatch] = (),
        shown: Presentation = NOTHING_SHOWN,
        remarks: Sequence[str] = (),
        **details: Any,
    ) -> ContestResult:
        """Return the result of the contest.

        Args:
            standings: the ranking, best first.
            played: the matches that count, in their order.
            shown: what the report shows.
            remarks: further remarks, after those on the entries.
            details: the format's own plain values.
        """
        common = self.common(played)
        more = {"remarks": (*common["remarks"], *remarks), "details": details | common["details"]}
        return ContestResult(
            **common | more,
            standings=tuple(standings),
            less_luck=() if self.luck is None else self.luck.rows(common["matches"], [row.name for row in standings]),
            shown=shown,
        )
