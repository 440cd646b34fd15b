"""What it costs that strangers' bots play in processes of their own: a question there and back, and their start."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import dicegym
from benchmarks.figures import Figure, Measure, Skipped
from dicegym.bots.program import Program
from dicegym.bots.source import Source
from dicegym.errors import DependencyError
from dicegym.games.parts import ADAPTER, INTERFACE, need
from dicegym.play.drive import play_game
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act
from dicegym.sandbox import jail
from dicegym.sandbox.hosts import HostProcess
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import IsolatedPlayer

AT_ONCE = 8
"""Processes that are started together."""
STARTS = 5
"""Starts in a run."""
QUESTIONS = 5_000
"""Questions in a run: 50 of them are slower than p99."""
LEVELS = (Isolation.NONE, Isolation.PROCESS, Isolation.JAIL)
REPEATS = 5
MESSAGE, START = ("at most", 30.0), ("at most", 150.0)
"""Goals of jailed bots: microseconds beyond a bot's own time, milliseconds."""


class Played(NamedTuple):
    """A bot with what one game asked it."""

    game: dicegym.Game
    source: Source
    questions: list[tuple[Any, ...]]

    def seated(self) -> tuple[Program, Callable[..., Any]]:
        """Return a copy of the bot in this process, seated, with what answers a question."""
        program = Program(self.source, self.source.file.stem, need(self.game, INTERFACE), 0, Printed())
        return program, program.take_seat(0)


class _Noted(Player):
    """The bot in one seat, all of whose questions are kept."""

    def __init__(self, played: Played) -> None:
        self.name, self._played = played.source.file.stem, played

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        program, answer = self._played.seated()

        def noted(*question: Any) -> Any:
            self._played.questions.append(question)
            return answer(*question)

        found: Act = need(game, ADAPTER).sit(program, noted, game, seat)
        return found


def played(game: dicegym.Game, file: Path) -> Played:
    """Return a bot with what it was asked in the first seat of a game against copies of itself."""
    found = Played(game, Source(file), [])
    play_game(game, [_Noted(found if seat == 0 else found._replace(questions=[])) for seat in range(game.players)])
    return found


def own_microseconds(bot: Played) -> list[float]:
    """Return what each of `QUESTIONS` questions takes a bot that is called here."""
    (_, answer), times = bot.seated(), []
    for number in range(QUESTIONS):
        question = bot.questions[number % len(bot.questions)]
        began = time.perf_counter()
        answer(*question)
        times.append(1e6 * (time.perf_counter() - began))
    return times


def message_microseconds(bot: Played, level: Isolation) -> tuple[float, float, float]:
    """Return (median and p99 beyond the bot's own median, that), of a question to a bot in a process of its own.

    Both keep to one processor, as a contest's referees and bots do (`dicegym.sandbox.sandbox.assign_processors`).
    """
    own = statistics.median(own_microseconds(bot))
    times = []
    with ExitStack() as stack:
        if hasattr(os, "sched_setaffinity"):
            usable = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(usable)})
            stack.callback(os.sched_setaffinity, 0, usable)
        host = _host(bot, level, stack)
        remote = host.child(_moment)
        player = IsolatedPlayer(remote, host.name, bot.game, 0)
        stack.callback(player.close)
        player.join(bot.game, 0, 0)
        for number in range(QUESTIONS):
            question = bot.questions[number % len(bot.questions)]
            began = time.perf_counter()
            remote.ask("ask", question)
            times.append(1e6 * (time.perf_counter() - began))
    return statistics.median(times) - own, statistics.quantiles(times, n=100)[-1] - own, own


def host_milliseconds(bot: Played, level: Isolation) -> tuple[float, float]:
    """Return how long a host takes until it can make children: the median alone, and of `AT_ONCE` at once for each."""
    alone, together = [], []
    for _ in range(STARTS):
        with ExitStack() as stack:
            began = time.perf_counter()
            _host(bot, level, stack)
            alone.append(time.perf_counter() - began)
    for _ in range(max(1, STARTS // 2)):
        with ExitStack() as stack:
            began = time.perf_counter()
            hosts = [_begun(bot, level, stack) for _ in range(AT_ONCE)]
            for host in hosts:
                host.wait_ready()
            together.append((time.perf_counter() - began) / AT_ONCE)
    return 1e3 * statistics.median(alone), 1e3 * statistics.median(together)


def child_milliseconds(bot: Played, level: Isolation) -> tuple[float, float]:
    """Return how long it takes from the order of a child until its bot is loaded: alone, and of `AT_ONCE` for each."""
    with ExitStack() as stack:
        hosts = [_begun(bot, level, stack) for _ in range(AT_ONCE)]
        for host in hosts:
            host.wait_ready()
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))

        def load(host: HostProcess) -> IsolatedPlayer:
            return IsolatedPlayer(host.child(_moment), host.name, bot.game, 0)

        alone: list[float] = []
        together: list[float] = []
        for times, some in ((alone, hosts[:1]), (together, hosts)):
            for _ in range(2 * STARTS):
                began = time.perf_counter()
                players = list(pool.map(load, some))
                times.append((time.perf_counter() - began) / len(some))
                for player in players:
                    player.close()
    return 1e3 * statistics.median(alone), 1e3 * statistics.median(together)


def _moment() -> str:
    return ""


def _begun(bot: Played, level: Isolation, stack: ExitStack) -> HostProcess:
    folder = stack.enter_context(TemporaryDirectory(prefix="dicegym-bench-"))
    host = HostProcess(bot.game, bot.source.file.stem, bot.source, Limits(), level, folder)
    stack.callback(host.close)
    return host


def _host(bot: Played, level: Isolation, stack: ExitStack) -> HostProcess:
    host = _begun(bot, level, stack)
    host.wait_ready()
    return host


def working_levels() -> list[Isolation]:
    """Return the kinds of isolation that work here."""
    return [level for level in LEVELS if not jail.probe(level)]


def measures(game: dicegym.Game, file: Path) -> Iterator[Measure | Skipped]:
    """Yield the measures of a bot in a file, at each kind of isolation."""
    bot = played(game, file)
    for level in LEVELS:
        try:
            jail.choose(level)
        except DependencyError as error:
            yield Skipped(f"{game.name}, bots at isolation {level}", str(error))
            continue
        message, start = (MESSAGE, START) if level is Isolation.JAIL else (None, None)

        def figure(what: str, unit: str, goal: tuple[str, float] | None = None, level: str = level) -> Figure:
            return Figure("isolation", game.name, f"{level}: {what}", unit, goal=goal)

        asked = f"a question to {file.stem} and its answer"
        yield _measure(
            partial(message_microseconds, bot, level),
            figure(f"{asked}, beyond the bot's own time", "us", message),
            figure(f"{asked}, beyond the bot's own time, p99", "us"),
            figure("the bot's own time", "us"),
        )
        yield _measure(
            partial(host_milliseconds, bot, level),
            figure("start of an entry's process, alone", "ms", start),
            figure(f"start of an entry's process, each of {AT_ONCE} at once", "ms", start),
        )
        yield _measure(
            partial(child_milliseconds, bot, level),
            figure("a fresh copy of the bot for a match, alone", "ms"),
            figure(f"a fresh copy of the bot for a match, each of {AT_ONCE} at once", "ms"),
        )


def _measure(run: Callable[[], tuple[float, ...]], *figures: Figure) -> Measure:
    return Measure(figures, run, run, REPEATS)
