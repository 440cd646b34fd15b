"""The server as a whole: how its parts are put together, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets as entropy
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from dicegym.arena.storage import default_store
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.players.roster import agent_name, is_strangers
from dicegym.sandbox import jail
from dicegym.sandbox.limits import warn_of_kernels
from dicegym.sandbox.worker import rehearse
from dicegym.server.admission import Origins, Secrets, name_fault
from dicegym.server.client_limits import ThrottledLog, room_for
from dicegym.server.lobby import Lobby
from dicegym.server.local_agents import LocalAgent, plays_apart
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import wire_of
from dicegym.signals import ENDING

if TYPE_CHECKING:
    from dicegym.server.client_connections import Connection, Ports
    from dicegym.server.result_store import ResultStore

Log = Callable[[str], None]
MOST_WAITING = 10_000
"""Lines that are kept for a pipe that takes none; later ones are lost."""
LONGEST_LINE = 1000
"""Characters of a line that are shown."""


class Server:
    """A server that runs from ``async with`` to its end; its log must not block.

    Attributes:
        addresses: those that it listens on, as clients write them.
        ports: the numbers of "tcp" and "ws", those that are listened on.
        title: the game's.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError, DependencyError: on entering, what cannot be done.

    It warns (RuntimeWarning) on entering if there are untrusted agents and nothing keeps them apart.
    """

    lobby: Lobby
    store: ResultStore

    def __init__(self, settings: ServerSettings, log: Log = lambda text: None) -> None:
        self.settings = settings
        self.addresses: tuple[str, ...] = ()
        self.ports: dict[str, int] = {}
        self.log = log
        self._game: Game = make_game(settings.game, players=settings.players)
        self.title = self._game.spec.title
        self._wire = wire_of(settings.game)
        self._agents: list[LocalAgent] = []
        self._listening: Ports | None = None
        self._parts = contextlib.AsyncExitStack()  # what has begun, to be ended from the last to the first

    async def __aenter__(self) -> Server:
        """Load the agents, open the store, then listen."""
        self.log(f"starting the {self.title} server")
        try:
            await self._start()
        except BaseException:
            await self._parts.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop: no game begins any more, those in progress are left unfinished, and everything finished is stored."""
        await self._parts.aclose()

    async def _start(self) -> None:
        settings, parts = self.settings, self._parts
        try:
            from dicegym.server.client_connections import Ports
            from dicegym.server.result_store import ResultStore
        except ImportError as error:
            raise DependencyError.for_extra(str(error.name).partition(".")[0], "arena", "the server") from error
        secrets = None if settings.secrets is None else Secrets.read(settings.secrets)
        self._agents = self._named_agents(secrets)
        origins = Origins(settings.host, settings.hosts, settings.origins)
        self._listening = ports = Ports(
            self._enter, settings.host, settings.rate, origins, ThrottledLog(self.log), settings.login
        )
        parts.push_async_callback(ports.close)
        await ports.take(settings.tcp, settings.ws)
        self.addresses, self.ports = ports.addresses, ports.numbers
        # All kernels are in memory before anybody is timed.
        await asyncio.to_thread(rehearse, self._game)
        for agent in self._agents:
            parts.push_async_callback(agent.stop)
        await asyncio.gather(*(agent.start() for agent in self._agents))
        seed = entropy.randbits(63) if settings.seed is None else settings.seed
        where = default_store() if settings.store is None else settings.store
        self.store = ResultStore(where, settings.game, self.log)
        parts.callback(self.store.close)
        run = self.store.begin_run(seed, self._game)
        dice = named_seed("server", settings.game, seed, run)
        most = room_for(settings.connections, len(self._agents))
        if most < settings.connections:
            self.log(
                f"this system lets the server have {most} connections at once, and not {settings.connections}: raise "
                "its limit of open files (ulimit -n)"
            )
        self.lobby = Lobby(self._wire, self._game, dice, self._agents, self.store, settings, secrets, most, self.log)
        parts.push_async_callback(self._stop)
        await ports.accept()
        self.log(f"{self.title} on {', '.join(self.addresses)}")
        self.log(f"results in {self.store.name}: {self.store.count_games()} games so far; run {run}, seed {seed}")
        self.lobby.fill()

    def _named_agents(self, secrets: Secrets | None) -> list[LocalAgent]:
        settings, agents = self.settings, dict[str, LocalAgent]()
        choice = None
        for spec in settings.agents:
            apart = plays_apart(self._game, spec)
            if apart and choice is None:
                choice = jail.choose(settings.isolation)
                self.log(f"isolation of bots' files: {choice.description}")
            base = name = agent_name(self._game, spec)
            copy = 1
            while name in agents:
                copy += 1
                name = f"{base}-{copy}"
            if fault := name_fault(name):
                raise ParameterError(f"agent {spec!r} cannot play as {name!r}: {fault}")
            if secrets is not None and name in secrets:
                raise ParameterError(
                    f"agent {spec!r} cannot play as {name!r}, a name with a secret: rename one of them"
                )
            level = choice.level if apart and choice is not None else None
            agents[name] = LocalAgent(name, spec, self._game, settings.answer, self.log, level)
        strangers = any(is_strangers(self._game, spec) for spec in settings.agents)
        if strangers and choice is not None and not jail.guards_files(choice.level):
            warn_of_kernels()
        return list(agents.values())

    def _enter(self, connection: Connection) -> None:
        self.lobby.enter(connection)  # which is there by the time that ports accept

    async def _stop(self) -> None:
        """End all games and connections, and the run."""
        if self._listening is not None:
            self._listening.stop_accepting()
        self.lobby.stop_opening()
        await self.store.drain()
        await asyncio.sleep(0)  # results that were stored last are announced now
        self.lobby.close()
        await asyncio.sleep(0.05)  # for what is still to be sent
        self.log(f"ratings and games are in {self.store.name}; to go on, start the server again with the same --store")
        self.log(f"the server has stopped: {self.lobby.finished} games finished in this run")
        with contextlib.suppress(Exception):  # what stops a server may be that nothing can be written
            self.store.end_run()

    async def wait_finished(self) -> None:
        """Wait until ``games`` games are finished. Raises what makes it impossible to continue."""
        await asyncio.shield(self.lobby.done)


class LogPrinter:
    """Prints lines by a thread of its own, so that a terminal or a pipe that takes none stops no game."""

    def __init__(self, show: Log) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._show = show
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def log(self, text: str) -> None:
        """Print a line soon."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    def close(self) -> None:
        """Print what is left to print, unless that takes long."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(1)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            with contextlib.suppress(OSError, ValueError):  # its reader has gone
                self._show(one_line(line, LONGEST_LINE))


async def serve(settings: ServerSettings, show: Log) -> None:
    """Serve until all games are played, or Ctrl-C, SIGTERM or SIGHUP comes; ``show`` prints a line of the log."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if task is not None and not task.cancelling():  # the first signal stops the server, and others do not hurry it
            task.cancel()

    for number in (one for one in ENDING if signal.getsignal(one) is not signal.SIG_IGN):  # as `nohup` has it
        with contextlib.suppress(NotImplementedError):  # not on Windows, where SIGINT cancels the task by itself
            loop.add_signal_handler(number, stop)
    printer, started = LogPrinter(show), False
    try:
        async with Server(settings, printer.log) as server:
            started = True
            await server.wait_finished()
    except asyncio.CancelledError:
        if not started:
            printer.log("the server was stopped before it had started")
    finally:
        printer.close()
        for number in ENDING:
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
