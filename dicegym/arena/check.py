"""The contest's own test of an entry: does it load, and does it answer every question properly and in time?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots import smoke_games
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, one_line
from dicegym.games import game as make_game
from dicegym.games.parts import EXAMINATION, Examination, part
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.players.roster import agent_name
from dicegym.sandbox.heartbeat import ASKED, LOADING, Heartbeat, Reading
from dicegym.sandbox.jobs import Entry, Failure, PrintGuard, entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome, Sandbox


@dataclass(frozen=True)
class CheckReport:
    """What the contest's test found.

    Attributes:
        name: what reports call the entry.
        game: name of the game.
        reason: why it is disqualified; empty if it is not.
        load_seconds: time to load it.
        seconds: time to answer all questions.
        limit: seconds that it may take for that.
        questions: number of questions asked.
        printed: the beginning of what it printed while it was loaded, which is allowed.
        verdict: what the rules make of a bad one: "disqualified", or "at fault" where failing has a price.
        answers: all answers as the game's test returns them (Hog: int8[goal, goal]); None if disqualified.
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

    @property
    def ok(self) -> bool:
        """Whether the entry may take part."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """Return everything but the answers as plain values."""
        return {
            "name": self.name,
            "game": self.game,
            "ok": self.ok,
            "reason": self.reason,
            "load_seconds": self.load_seconds,
            "seconds": self.seconds,
            "limit": self.limit,
            "questions": self.questions,
            "printed": self.printed,
        }

    def text(self) -> str:
        """Return the report in words, a line per finding."""
        if not self.ok:
            return f"{self.name}: {self.verdict}: {self.reason}"
        lines = [f"{self.name}: ok", f"  loaded in {self.load_seconds:.3f} s"]
        if self.questions:
            passed = f"passed all {self.questions} questions of the test"
            lines.append(f"  {passed} in {self.seconds:.3f} s (limit {self.limit:g} s)")
        if self.printed:
            lines.append(f"  printed while it was loaded: {one_line(self.printed, 80)!r}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Check:
    """The test as a job for a sandbox."""

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    limits: Limits
    ask: bool = True
    """Whether to ask it anything, or to load it only."""

    @property
    def known(self) -> bool:
        """False: nothing is known about an entry yet."""
        return False

    def run(self, heartbeat: Heartbeat, stray: Printed) -> dict[str, Any]:
        """Load the entry and ask it everything; see `Job.run`."""
        game, (entry,) = self.game, self.entries
        heartbeat.note(LOADING, 0)
        heartbeat.act(0)
        started = time.perf_counter()
        player = entry.load(game, named_seed("check", self.seed, entry.name))
        loaded = time.perf_counter()
        printed = ("" if player.printed is None else player.printed.text) + stray.text
        heartbeat.forgive(0)
        answers, questions = self._ask(player, PrintGuard(player, stray), heartbeat) if self.ask else (np.zeros(0), 0)
        seconds = time.perf_counter() - loaded
        if seconds > self.limits.seconds:
            raise AgentError(entry.name, f"took {seconds:.1f} s for all {questions} questions")
        return {
            "load_seconds": loaded - started,
            "seconds": seconds,
            "questions": questions,
            "printed": printed,
            "answers": answers.tolist(),
            "dtype": str(answers.dtype),
        }

    def _ask(self, player: Player, guard: PrintGuard, heartbeat: Heartbeat) -> tuple[np.ndarray, int]:
        asked = 0

        def ask(question: int) -> None:
            nonlocal asked
            if guard.printed:
                text = one_line(guard.printed, 60)
                raise AgentError(player.name, f"printed {text!r} while choosing, in {self._question(asked)}")
            asked = question
            heartbeat.note(ASKED, question)

        answers = np.asarray(self._test.examine(self.game, player, ask))
        ask(asked)
        return answers, asked + 1

    @property
    def _test(self) -> Examination:
        """The game's own test if its contest had one, else smoke games."""
        return part(self.game, EXAMINATION) or smoke_games

    def _question(self, number: int) -> str:
        return self._test.question(self.game, number)

    def without(self, failure: Failure) -> None:
        """Return None: a failed test is failed."""

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        if reading.phase == LOADING:
            return "while it was loaded"
        return f"in {self._question(reading.number)}, after {reading.number} others"

    def report(self, outcome: JobOutcome) -> CheckReport:
        """Return what an outcome of this job means."""
        name = self.entries[0].name
        if isinstance(outcome, Failure):
            verdict = "disqualified" if self.game.spec.forfeit is None else "at fault"
            return CheckReport(name, self.game.name, outcome.reason, limit=self.limits.seconds, verdict=verdict)
        try:
            answers = np.array(outcome["answers"], np.dtype(outcome["dtype"]))
            return CheckReport(
                name,
                self.game.name,
                "",
                float(outcome["load_seconds"]),
                float(outcome["seconds"]),
                self.limits.seconds,
                int(outcome["questions"]),
                str(outcome["printed"]),
                answers,
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return CheckReport(name, self.game.name, "sent nonsense from its process")


def check(spec: str | Path | Player, game: Game | str, limits: Limits | None = None, seed: int = 0) -> CheckReport:
    """Do with one entry what the contest does before it admits it.

    Args:
        spec: an agent, as for `dicegym.agent`.
        game: the game or its name.
        limits: default: those of the contest.
        seed: of the entry's randomness.

    Raises:
        UnknownNameError, ParameterError: there is no such agent or game. A bad bot is no error but a report.
    """
    game = make_game(game)
    limits = limits or Limits()
    try:
        job = Check(game, (entry(game, agent_name(game, spec), spec),), seed, limits)
    except AgentError as error:
        return CheckReport(error.agent, game.name, error.reason)
    with Sandbox(game, 1, limits) as sandbox:
        ((_, outcome),) = sandbox.run([job])
    return job.report(outcome)
