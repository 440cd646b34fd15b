"""The server as a whole: how its parts are connected, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets as entropy
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from dicegym.arena.storage import default_store
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ParameterError, one_line
from dicegym.players.roster import agent_name, is_strangers
from dicegym.sandbox import jail
from dicegym.sandbox.limits import warn_of_kernels
from dicegym.sandbox.worker import rehearse
from dicegym.server.admission import Secrets, copy_names, name_fault
from dicegym.server.client_limits import ThrottledLog, room_for
from dicegym.server.lobby import Lobby
from dicegym.server.local_agents import LocalAgent, plays_apart
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import make_served_game
from dicegym.signals import on_signals

if TYPE_CHECKING:
    from dicegym.server.client_connections import Connection, Ports
    from dicegym.server.result_store import ResultStore

Log = Callable[[str], None]
MOST_WAITING = 10_000  # log lines kept for a blocked output; later ones are lost
LONGEST_LINE = 1000  # characters of a log line


class Server:
    """A server that runs in an ``async with`` block; its log must not block.

    Entering warns (RuntimeWarning) if there are untrusted agents and nothing isolates them.

    Attributes:
        addresses: the addresses it listens on, as clients write them.
        ports: port numbers by "tcp" and "ws", if it listens on them.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError, DependencyError: on entering, the settings cannot be
            used.
    """

    lobby: Lobby
    store: ResultStore
    _ports: Ports

    def __init__(self, settings: ServerSettings, log: Log = lambda text: None) -> None:
        self.settings = settings
        self.addresses: tuple[str, ...] = ()
        self.ports: dict[str, int] = {}
        self.log = log
        self._game: Game = make_served_game(settings.game, players=settings.players)
        self._parts = contextlib.AsyncExitStack()  # the started parts

    async def __aenter__(self) -> Server:
        """Load the agents, open the store, then listen."""
        self.log(f"starting the {self._game.spec.title} server")
        try:
            await self._start()
        except BaseException:
            await self._parts.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop: begin no game, leave games in progress unfinished, and store all finished ones."""
        await self._parts.aclose()

    async def _start(self) -> None:
        settings, parts = self.settings, self._parts
        try:
            from dicegym.server.client_connections import Ports
            from dicegym.server.result_store import ResultStore
        except ImportError as error:
            raise DependencyError.for_extra(str(error.name).partition(".")[0], "arena", "the server") from error
        secrets = Secrets({}) if settings.secrets is None else Secrets.read(settings.secrets)
        agents = self._named_agents(secrets)
        most = room_for(settings.connections, len(agents))
        if most < settings.connections:
            self.log(
                f"this system allows {most} connections at once, not {settings.connections}: raise its limit of open "
                "files (ulimit -n)"
            )
            settings = replace(settings, connections=most)
        self._ports = ports = Ports(self._enter, settings, ThrottledLog(self.log))
        parts.push_async_callback(ports.close)
        await ports.take()
        self.addresses, self.ports = ports.addresses, ports.numbers
        await asyncio.to_thread(rehearse, self._game)  # load all kernels before anybody is timed
        for agent in agents:
            parts.push_async_callback(agent.stop)
        await asyncio.gather(*(agent.start() for agent in agents))
        seed = entropy.randbits(63) if settings.seed is None else settings.seed
        where = default_store() if settings.store is None else settings.store
        self.store = ResultStore(where, settings.game, self.log)
        parts.callback(self.store.close)
        run = self.store.begin_run(seed, self._game)
        dice = named_seed("server", settings.game, seed, run)
        self.lobby = Lobby(self._game, dice, agents, self.store, settings, secrets, self.log)
        parts.push_async_callback(self._stop)
        await ports.accept()
        self.log(f"{self._game.spec.title} on {', '.join(self.addresses)}")
        self.log(f"results in {self.store.name}: {self.store.count_games()} games so far; run {run}, seed {seed}")
        self.lobby.fill()

    def _named_agents(self, secrets: Secrets) -> list[LocalAgent]:
        settings, agents = self.settings, dict[str, LocalAgent]()
        choice = None
        for spec in settings.agents:
            apart = plays_apart(self._game, spec)
            if apart and choice is None:
                choice = jail.choose(settings.isolation)
                self.log(f"isolation of bots' files: {choice.description}")
            name = next(one for one in copy_names(agent_name(self._game, spec)) if one not in agents)
            if fault := name_fault(name):
                raise ParameterError(f"agent {spec!r} cannot play as {name!r}: {fault}")
            if name in secrets:
                raise ParameterError(f"agent {spec!r} cannot play as {name!r}, which has a secret: rename one of them")
            level = choice.level if apart and choice is not None else None
            agents[name] = LocalAgent(name, spec, self._game, settings.answer, self.log, level)
        strangers = any(is_strangers(self._game, spec) for spec in settings.agents)
        if strangers and choice is not None and not jail.guards_files(choice.level):
            warn_of_kernels()
        return list(agents.values())

    def _enter(self, connection: Connection) -> None:
        self.lobby.enter(connection)  # the lobby is made before the ports accept

    async def _stop(self) -> None:
        """End all games and connections, and the run."""
        self._ports.stop_accepting()
        self.lobby.stop_opening()
        await self.store.drain()
        await asyncio.sleep(0)  # announce the results that were stored last
        self.lobby.close()
        await asyncio.sleep(0.05)  # send the last messages
        self.log(f"ratings and games are in {self.store.name}; to continue, start the server with the same --store")
        self.log(f"the server has stopped: {self.lobby.finished} games finished in this run")
        with contextlib.suppress(Exception):  # the server may stop because the store cannot be written
            self.store.end_run()

    async def wait_finished(self) -> None:
        """Wait until ``games`` games are finished. Raises the error that makes it impossible to continue."""
        await asyncio.shield(self.lobby.done)


class LogPrinter:
    """Prints lines in a thread, so that a blocked terminal or pipe stops no game."""

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
        """Print the remaining lines, for at most a second."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(1)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            with contextlib.suppress(OSError, ValueError):  # the reader is gone
                self._show(one_line(line, LONGEST_LINE))


async def serve(settings: ServerSettings, show: Log) -> None:
    """Serve until all games are played, or Ctrl-C, SIGTERM or SIGHUP comes; ``show`` prints a line of the log."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if task is not None and not task.cancelling():  # further signals change nothing
            task.cancel()

    def stop_soon(number: int) -> None:
        loop.call_soon_threadsafe(stop)

    printer, started = LogPrinter(show), False
    with on_signals(stop_soon):
        try:
            async with Server(settings, printer.log) as server:
                started = True
                await server.wait_finished()
        except asyncio.CancelledError:
            if not started:
                printer.log("the server was stopped before it had started")
        finally:
            printer.close()
