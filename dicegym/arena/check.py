"""The contest's own test of an entry: does it load, and does it answer every question properly and in time?"""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from dicegym.arena.check_report import CheckReport
from dicegym.bots import smoke_games
from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import CallLog, Echo, Witness, watch_calls
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games import game as make_game
from dicegym.games.parts import SITUATIONS, Examination, find_examination, part, solver
from dicegym.play.player import Player, whole
from dicegym.play.printed import Printed
from dicegym.play.turn import Turn
from dicegym.players.roster import agent as make_agent
from dicegym.players.roster import agent_name
from dicegym.sandbox import jail
from dicegym.sandbox.heartbeat import ASKED, LOADING, Heartbeat, Reading
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.jobs import Context, Entry, Failure, entry, here
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome, Sandbox

TABLE = -1
"""Number of the question for a table of all answers, which is no part of the test."""
NOT_PURE = "says PURE = True, but answers one situation differently at different times: take that line out"


@dataclass(frozen=True)
class Check:
    """The test as a job for a sandbox."""

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    limits: Limits
    ask: bool = True
    """Whether to ask it anything, or to load it only."""
    thorough: bool = False
    """Whether to find out for its author what the contest need not know: its exact win rate."""
    debug: bool = False
    """Whether its author is there, so that an error is raised as it is."""
    log: str = ""
    """Path of a file that takes all calls; empty: they are not written down."""

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entry and limits; see `Job.facts`."""
        return {"kind": "check", "seed": self.seed, "ask": self.ask, "thorough": self.thorough}

    def run(self, context: Context) -> dict[str, Any]:
        """Load the entry and ask it everything; see `Job.run`."""
        if not self.log:
            return self._run(context, None)
        witness = CallLog(Path(self.log))
        told: Any = _Told(context.stray, witness)
        with watch_calls(witness), contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            return self._run(context, witness)

    def _run(self, context: Context, witness: Witness | None) -> dict[str, Any]:
        game, (entry,) = self.game, self.entries
        heartbeat, stray = context.heartbeat, context.stray
        heartbeat.note(LOADING, 0)
        (heartbeat.hand_over if context.apart(entry) else heartbeat.act)(0)
        seed = named_seed("check", self.seed, entry.name)

        clock = _Clock()
        player = context.load(entry, game, seed, lambda _: self.moment(heartbeat.read()), witness)
        load_seconds = clock.since(player, "load_seconds")
        if not context.apart(entry):
            heartbeat.forgive(0)
        clock = _Clock()
        try:
            asked = self.ask and not player.costly
            answers, questions = self._ask(player, heartbeat) if asked else (np.zeros(0), 0)
            seconds = clock.since(player, "spent")
            if seconds > self.limits.seconds:
                raise AgentError(entry.name, f"took {seconds:.1f} s for all {questions} {self._test.UNIT} of the test")
        except AgentError as error:
            if self.debug:
                raise
            return {"reason": error.reason, "printed": _printed(player, stray), "remarks": self._remarks(player)}
        found: dict[str, Any] = {
            "load_seconds": load_seconds,
            "seconds": seconds,
            "questions": questions,
            "printed": _printed(player, stray),
            "answers": answers.tolist(),
            "dtype": str(answers.dtype),
            "remarks": self._remarks(player),
        }
        if self.ask and isinstance(player, IsolatedPlayer) and player.says_pure and not self.thorough:
            with contextlib.suppress(AgentError):  # it is asked in each game, then
                actions = self._test.actions(game, answers)
                actions = _table_of(game, player) if actions is None else actions
                found["situations"] = None if actions is None else actions.tolist()
        if self.thorough and seconds < self.limits.seconds / 4:
            if not context.apart(entry):
                heartbeat.forgive(0)
            silent: Any = Printed()
            with (
                contextlib.suppress(AgentError),  # what is found out here costs nothing
                contextlib.redirect_stdout(silent),
                contextlib.redirect_stderr(silent),
                watch_calls(Witness()),
            ):
                heartbeat.note(ASKED, TABLE)
                found["table"] = self._table(player, answers)
                if getattr(player, "says_pure", False):
                    first, again = _table_of(game, player), _table_of(game, player, -1)
                    found["remarks"] += [] if np.array_equal(first, again) else [NOT_PURE]  # type: ignore[arg-type]
        return found

    def _table(self, player: Player, answers: np.ndarray) -> tuple[list[Any], str] | None:
        """Return the bot as a table, as `Duel.tabulate` makes it, and its dtype; None without exact values."""
        exact = solver(self.game)
        if exact is None:
            return None
        table = answers if find_examination(self.game) is not None else exact.tabulate(player, self.game)
        return table.tolist(), str(table.dtype)

    def _remarks(self, player: Player) -> list[str]:
        return list(player.remarks) if isinstance(player, BotPlayer | IsolatedPlayer) else []

    def _ask(self, player: Player, heartbeat: Heartbeat) -> tuple[np.ndarray, int]:
        asked = -1

        def ask(question: int) -> None:
            nonlocal asked
            asked = question
            heartbeat.note(ASKED, question)

        answers = np.asarray(self._test.examine(self.game, player, ask))
        return answers, asked + 1

    @property
    def _test(self) -> Examination:
        """The game's own test if its contest had one, else smoke games."""
        return find_examination(self.game) or cast(Examination, smoke_games)  # which offers all that is asked here

    def _question(self, number: int) -> str:
        return self._test.question(self.game, number)

    def without(self, failure: Failure) -> None:
        """Return None: a failed test is failed."""

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        if reading.phase == LOADING:
            return "while it was loaded"
        if reading.number == TABLE:
            return "while it was asked for all its answers"
        return f"in {self._question(reading.number)}, after {reading.number} others"

    def report(self, outcome: JobOutcome) -> CheckReport:
        """Return what an outcome of this job means."""
        verdict = "disqualified" if self.game.spec.forfeit is None else "at fault"
        report = CheckReport(self.entries[0].name, self.game.name, limit=self.limits.seconds, verdict=verdict)
        if isinstance(outcome, Failure):
            return replace(report, reason=outcome.reason)
        try:
            report = replace(report, printed=str(outcome["printed"]), remarks=tuple(map(str, outcome["remarks"])))
            if "reason" in outcome:
                return replace(report, reason=str(outcome["reason"]))
            return replace(
                report,
                load_seconds=float(outcome["load_seconds"]),
                seconds=float(outcome["seconds"]),
                questions=int(outcome["questions"]),
                answers=np.array(outcome["answers"], np.dtype(outcome["dtype"])),
                table=None if outcome.get("situations") is None else np.array(outcome["situations"], np.int64),
                unit=self._test.UNIT,
                **self._exactly(outcome.get("table")),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return CheckReport(report.name, report.game, "sent nonsense from its process")

    def _exactly(self, table: Any) -> dict[str, Any]:
        """Return the exact win rate of a table against the baseline, if there is one."""
        exact = solver(self.game)
        if table is None or exact is None:
            return {}
        values, dtype = table
        baseline = self.game.spec.baseline
        rival = exact.tabulate(make_agent(self.game, baseline), self.game)
        rate = exact.win_rate(np.array(values, np.dtype(dtype)), rival, self.game)
        return {"win_rate": float(rate), "baseline": baseline}


def _table_of(game: Game, player: Player, step: int = 1) -> np.ndarray | None:
    """Return the action of ``player`` in each situation of the game: int64[situations]; None if they are not numbered.

    It is asked in their order, or from the last one with a ``step`` of -1. Raises AgentError if it fails.
    """
    numbering = part(game, SITUATIONS)
    states = None if numbering is None else numbering.situations(game)
    if states is None:
        return None
    act = player.join(game, 0, 0)
    chosen = [whole(act(Turn(game, state, 0)), player) for state in states[::step]]
    return np.array(chosen, np.int64)[::step]


class _Clock:
    """Takes the processor time of a player, here or in another process."""

    def __init__(self) -> None:
        self._began = time.thread_time()

    def since(self, player: Player, attribute: str) -> float:
        """Return the seconds of a player that knows them itself as ``attribute``; else those of this thread."""
        own: float | None = getattr(player, attribute, None)
        return time.thread_time() - self._began if own is None else own


class _Told(Printed):
    """Takes what is printed past a bot's own ``print``, and tells a witness too."""

    def __init__(self, stray: Printed, witness: Witness) -> None:
        super().__init__()
        self._stray = stray
        self._witness = witness

    def write(self, text: str) -> int:
        """Take ``text`` as a stream would; return its length."""
        self._witness.note_print(text)
        return self._stray.write(text)


def _printed(player: Player, stray: Printed) -> str:
    return ("" if player.printed is None else player.printed.text) + stray.text


def check(
    spec: str | Path | Player,
    game: Game | str,
    limits: Limits | None = None,
    seed: int = 0,
    *,
    show: bool = False,
    debug: bool = False,
    isolation: str = jail.Isolation.AUTO,
    progress: Callable[[str], None] | None = None,
) -> CheckReport:
    """Do with one entry what the contest does before it admits it, and find out what its author wants to know.

    Args:
        spec: an agent, as for `dicegym.agent`.
        game: the game or its name.
        limits: default: those of the contest.
        seed: of the entry's randomness.
        show: write down what it is called with, answers and prints: the first and the last calls.
        debug: ask it in this process, without limits and with its prints on the terminal, so that ``breakpoint()``
            stops where it stands; Ctrl-C and the debugger's ``q`` end that with KeyboardInterrupt.
        isolation: how the bot is kept apart, as for `dicegym.arena.contest`.
        progress: is told again and again what the bot is asked.

    Raises:
        UnknownNameError, ParameterError: there is no such agent or game. A bad bot is no error but a report.

    Example:
        >>> from dicegym.contest import check
        >>> check("bacon", "hog").ok
        True
    """
    game = make_game(game)
    limits = limits or Limits()
    try:
        job = Check(game, (entry(game, agent_name(game, spec), spec),), seed, limits)
    except AgentError as error:
        return CheckReport(error.agent, game.name, error.reason)
    with call_log(show) as log:
        job = replace(job, thorough=not debug, log=str(log or ""))
        outcome = _debugged(job) if debug else _sandboxed(job, isolation, progress)
        calls = "" if log is None else log.read_text(encoding="utf-8")
    return replace(job.report(outcome), calls=calls)


@contextlib.contextmanager
def call_log(wanted: bool) -> Iterator[Path | None]:
    """Yield an empty file that is there for so long, if it is wanted."""
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="dicegym-") as folder:
        path = Path(folder, "calls.txt")
        path.touch()
        yield path


def _sandboxed(job: Check, isolation: str, progress: Callable[[str], None] | None) -> JobOutcome:
    watch = None if progress is None else lambda running: [progress(one.moment) for one in running]
    with Sandbox(job.game, 1, job.limits, isolation) as sandbox:
        ((_, outcome),) = sandbox.run([job], watch)
    return outcome


def _debugged(job: Check) -> JobOutcome:
    """Run a job here; let its author into the debugger, and out of it."""
    import bdb

    job = replace(job, debug=True, log="", limits=Limits(math.inf, job.limits.memory))
    try:
        with watch_calls(Echo()):
            return job.run(here(Heartbeat.private(), Printed()))
    except AgentError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        return Failure(0, error.reason)
    except bdb.BdbQuit:
        raise KeyboardInterrupt from None
