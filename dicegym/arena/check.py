"""The contest's test of an entry: does it load, and does it answer every question correctly and in time?"""

from __future__ import annotations

import contextlib
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from dicegym.bots import smoke_games
from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import PRINT, CallLog, Echo, Witness, watch_calls
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.escape import quote_words
from dicegym.games import game as make_game
from dicegym.games.parts import TWINS, Adapter, find_examination, part, solver
from dicegym.play.player import Player, whole
from dicegym.play.printed import Printed
from dicegym.play.turn import Turn
from dicegym.players.roster import agent as make_agent
from dicegym.players.roster import agent_name
from dicegym.sandbox import jail
from dicegym.sandbox.heartbeat import ASKED, LOADING, Heartbeat, Reading
from dicegym.sandbox.hosts import CAN_FORK
from dicegym.sandbox.jobs import Context, Entry, Failure, entry, here
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import IsolatedPlayer
from dicegym.sandbox.sandbox import JobOutcome, Sandbox

TABLE = -1
"""Number of the question for a table of all answers, which is not part of the test."""
NOT_PURE = "says PURE = True, but answers one situation differently at different times: take that line out"

AT_FAULT = "at fault"
"""The verdict on a bot whose failures have a price in the rules."""


@dataclass(frozen=True)
class CheckReport:
    """The result of the contest's test.

    Attributes:
        name: the entry.
        game: name of the game.
        reason: why it is disqualified; empty if it is not.
        load_seconds: processor time to load it.
        seconds: processor time for the whole test.
        limit: the limit of ``seconds``; 0 for trusted entries, which have a limit for each question instead.
        questions: number of questions asked, or of games played; see ``unit``.
        printed: the beginning of what it printed, which costs nothing.
        answers: all answers as the game's test returns them (Hog: int8[goal, goal]); None if disqualified.
        verdict: on a bad entry: "disqualified", or "at fault" where a failure has a price.
        remarks: hints for its author that are not errors.
        win_rate: its exact win rate against the game's baseline, 0..1, with one answer to each situation; None if the
            game has no exact values, or it was not computed.
        baseline: the baseline's name.
        table: its action in each situation of the game, if it declares itself pure and plays in another process.
        unit: what ``questions`` counts: "questions" or "games".
        calls: what it was called with, answered and printed; empty unless requested.
    """

    name: str
    game: str
    reason: str = ""
    load_seconds: float = 0.0
    seconds: float = 0.0
    limit: float = 0.0
    questions: int = 0
    printed: str = ""
    answers: np.ndarray | None = None
    verdict: str = "disqualified"
    remarks: tuple[str, ...] = ()
    win_rate: float | None = None
    baseline: str = ""
    table: np.ndarray | None = None
    calls: str = ""
    unit: str = "questions"

    @property
    def ok(self) -> bool:
        """Whether the entry may take part."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """Return everything except the answers and the calls as plain values."""
        left_out = ("answers", "calls", "table", "limit", "verdict")
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out}
        return plain | {"ok": self.ok, "remarks": list(self.remarks)}

    def text(self) -> str:
        """Return the report as text, a line per finding."""
        lines = [self.calls] if self.calls else []  # it ends with a line break: an empty line follows
        if not self.ok:
            lines.append(f"{self.name}: {self.verdict}: {self.reason}")
            if self.verdict == AT_FAULT:
                lines.append("  it may enter all the same: in a contest each fault costs what the rules say")
        else:
            lines += [f"{self.name}: ok", f"  loaded in {self.load_seconds:.3f} s"]
            if self.questions:
                passed = f"passed all {self.questions} {self.unit} of the test"
                limit = f" (limit {self.limit:g} s of processor time)" if self.limit else ""
                lines.append(f"  {passed} in {self.seconds:.3f} s{limit}")
        if self.win_rate is not None:
            known = f"{self.baseline}, by one answer to each situation"
            lines.append(f"  wins {self.win_rate:.4%} of its games against {known}")
        if self.printed:
            lines.append(f"  printed, which costs nothing; {quote_words(self.printed, 80)}")
        return "\n".join([*lines, *(f"  note: {remark}" for remark in self.remarks)])


@dataclass(frozen=True)
class Check:
    """The test as a job for a sandbox."""

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    limits: Limits
    ask: bool = True
    """Whether to ask questions, or only to load it."""
    thorough: bool = False
    """Whether to compute for its author what a contest does not need: its exact win rate."""
    debug: bool = False
    """Whether to raise errors as they are, for its author."""
    log: str = ""
    """Path of a file for all calls; empty: they are not logged."""

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entry and limits; see `Job.facts`."""
        return {"kind": "check", "seed": self.seed, "ask": self.ask, "thorough": self.thorough}

    def run(self, context: Context) -> dict[str, Any]:
        """Load the entry and ask all questions; see `Job.run`."""
        if not self.log:
            return self._run(context, None)
        witness = CallLog(Path(self.log))
        prints: Any = _WitnessedPrints(context.stray, witness)
        with watch_calls(witness), contextlib.redirect_stdout(prints), contextlib.redirect_stderr(prints):
            return self._run(context, witness)

    def _run(self, context: Context, witness: Witness | None) -> dict[str, Any]:
        game, (entry,) = self.game, self.entries
        heartbeat, stray = context.heartbeat, context.stray
        heartbeat.note(LOADING, 0)
        (heartbeat.hand_over if context.apart(entry) else heartbeat.act)(0)
        seed = named_seed("check", self.seed, entry.name)

        began = time.thread_time()
        player = context.load(entry, game, seed, lambda: self.moment(heartbeat.read()), witness)
        load_seconds = _seconds_of(player, "load_seconds", began)
        began = time.thread_time()

        def read_output() -> dict[str, Any]:
            printed = "" if player.printed is None else player.printed.text
            remarks = list(player.remarks) if isinstance(player, BotPlayer | IsolatedPlayer) else []
            return {"printed": printed + stray.text, "remarks": remarks}

        try:
            asked = self.ask and not player.costly
            answers, questions = self._ask(player, heartbeat) if asked else (np.zeros(0), 0)
            seconds = _seconds_of(player, "spent", began)
        except AgentError as error:
            if self.debug:
                raise
            return read_output() | {"reason": error.reason}
        found = read_output() | {"load_seconds": load_seconds, "seconds": seconds, "questions": questions}
        found |= {"answers": answers.tolist(), "dtype": str(answers.dtype)}
        if self.ask and isinstance(player, IsolatedPlayer) and player.says_pure and not self.thorough:
            with contextlib.suppress(AgentError):  # then it is asked in each game
                actions = self._test.actions(game, answers)
                actions = _table_of(game, player) if actions is None else actions
                found["situations"] = None if actions is None else actions.tolist()
        if self.thorough and seconds < self.limits.seconds / 4:
            heartbeat.note(ASKED, TABLE)
            self._look_closer(player, answers, found)
        return found

    def _look_closer(self, player: Player, answers: np.ndarray, found: dict[str, Any]) -> None:
        """Add to ``found`` the player as a table, as `Duel.tabulate` makes it, and check a declared purity."""
        game, exact, silent = self.game, solver(self.game), cast(Any, Printed())
        with (
            contextlib.suppress(AgentError),  # failures here cost nothing
            contextlib.redirect_stdout(silent),
            contextlib.redirect_stderr(silent),
            watch_calls(Witness()),
        ):
            if exact is not None:
                table = answers if find_examination(game) is not None else exact.tabulate(player, game)
                found["table"] = table.tolist(), str(table.dtype)
            if getattr(player, "says_pure", False):
                first, again = _table_of(game, player), _table_of(game, player, -1)
                found["remarks"] += [] if np.array_equal(first, again) else [NOT_PURE]  # type: ignore[arg-type]

    def _ask(self, player: Player, heartbeat: Heartbeat) -> tuple[np.ndarray, int]:
        asked = -1

        def ask(question: int) -> None:
            nonlocal asked
            asked = question
            heartbeat.note(ASKED, question)

        answers = np.asarray(self._test.examine(self.game, player, ask))
        return answers, asked + 1

    @property
    def _test(self) -> Adapter:
        """The game's own test if its contest had one, otherwise smoke games."""
        return find_examination(self.game) or cast(Adapter, smoke_games)  # it has all that is used here

    def without(self, failure: Failure) -> None:
        """Return None: a failed test is not repeated."""

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        if reading.phase == LOADING:
            return "while it was loaded"
        if reading.number == TABLE:
            return "while it was asked for all its answers"
        return f"in {self._test.question(self.game, reading.number)}, after {reading.number} others"

    def report(self, outcome: JobOutcome) -> CheckReport:
        """Return the report for an outcome of this job."""
        verdict = "disqualified" if self.game.spec.forfeit is None else AT_FAULT
        (entry,) = self.entries
        limit = 0.0 if entry.trusted or not CAN_FORK else self.limits.seconds
        report = CheckReport(entry.name, self.game.name, limit=limit, verdict=verdict)
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
        """Return the exact win rate of a table against the baseline, if it can be computed."""
        exact = solver(self.game)
        if table is None or exact is None:
            return {}
        values, dtype = table
        baseline = self.game.spec.baseline
        rival = exact.tabulate(make_agent(self.game, baseline), self.game)
        rate = exact.win_rate(np.array(values, np.dtype(dtype)), rival, self.game)
        return {"win_rate": float(rate), "baseline": baseline}


def _table_of(game: Game, player: Player, step: int = 1) -> np.ndarray | None:
    """Return the player's action in each situation of the game: int64[situations]; None if they are not numbered.

    They are asked in order, or in reverse order with a ``step`` of -1. Raises AgentError if it fails.
    """
    twins = part(game, TWINS)
    states = None if twins is None else twins.situations(game)
    if states is None:
        return None
    act = player.join(game, 0, 0)
    turns = [Turn(game, state, 0) for state in states[::step]]
    many: Callable[[list[Any]], Iterator[int]] | None = getattr(act, "many", None)
    chosen = map(act, turns) if many is None else many([turn.view for turn in turns])
    return np.array([whole(action, player) for action in chosen], np.int64)[::step]


def _seconds_of(player: Player, attribute: str, began: float) -> float:
    """Return the processor seconds that a player reports as ``attribute``; otherwise those of this thread."""
    own: float | None = getattr(player, attribute, None)
    return time.thread_time() - began if own is None else own


class _WitnessedPrints(Printed):
    """Takes what is printed past a bot's own ``print``, and passes it to a witness."""

    def __init__(self, stray: Printed, witness: Witness) -> None:
        super().__init__()
        self._stray = stray
        self._witness = witness

    def write(self, text: str) -> int:
        """Take ``text`` as a stream would; return its length."""
        self._witness.note(PRINT, text)
        return self._stray.write(text)


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
    """Test one entry as a contest does before it starts, and report more to its author.

    Args:
        spec: an agent, as for `dicegym.agent`.
        game: the game or its name.
        limits: default: those of a contest.
        seed: of the entry's randomness.
        show: report its arguments, answers and output: the first and the last calls.
        debug: run it in this process, without limits and with its output on the terminal, so that ``breakpoint()``
            works; Ctrl-C and the debugger's ``q`` raise KeyboardInterrupt.
        isolation: how the bot is isolated, as for `dicegym.arena.contest`.
        progress: called repeatedly with what the bot is being asked.

    Raises:
        UnknownNameError, ParameterError: there is no such agent or game. A bad bot raises nothing: it is reported.

    Example:
        >>> from dicegym.contest import check
        >>> check("bacon", "hog").ok
        True
    """
    game = make_game(game)
    limits = Limits.of(limits)
    try:
        job = Check(game, (entry(game, agent_name(game, spec), spec),), seed, limits, thorough=not debug)
    except AgentError as error:
        return CheckReport(error.agent, game.name, error.reason)
    with contextlib.ExitStack() as stack:
        log = None
        if show:  # only then, because a killed caller would leave the folder
            log = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dicegym-")), "calls.txt")
            log.touch()
            job = replace(job, log=str(log))
        if debug:
            outcome = _debugged(job)
        else:
            watch = None if progress is None else lambda running: [progress(one.moment) for one in running]
            with Sandbox(game, 1, limits, isolation) as sandbox:
                ((_, outcome),) = sandbox.run([job], watch)
        calls = "" if log is None else log.read_text(encoding="utf-8")
    return replace(job.report(outcome), calls=calls)


def _debugged(job: Check) -> JobOutcome:
    """Run a job in this process, so that its author can use a debugger."""
    import bdb

    job = replace(job, debug=True, log="")
    try:
        with watch_calls(Echo()):
            return job.run(here(Heartbeat.private(), Printed()))
    except AgentError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        return Failure(0, error.reason)
    except bdb.BdbQuit:
        raise KeyboardInterrupt from None
