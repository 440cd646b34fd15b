"""The server as a whole: what it is told at its start, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import ipaddress
import secrets as entropy
import signal
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DependencyError, ParameterError
from dicegym.games import game as game_of
from dicegym.players.roster import agent_name, resolve
from dicegym.server.agents import LocalAgent
from dicegym.server.connections import CLOSING, listen_tcp, listen_ws, port_of
from dicegym.server.lobby import Lobby
from dicegym.server.matchmaking import Floor, Ledger
from dicegym.server.names import Secrets, name_fault
from dicegym.server.wire import STOPPED, wire_of

if TYPE_CHECKING:
    from dicegym.server.store import Store

Log = Callable[[str], None]
MOST_SHOWN = 100
"""Ratings and lines in a snapshot."""


@dataclass(frozen=True)
class Settings:
    """What a server is told.

    Attributes:
        game: the game's name.
        tcp: port for TCP, 0 for any that is free, None for none.
        ws: port for WebSocket, likewise.
        host: address to listen on.
        players: seats at a table.
        agents: local agents, as for `dicegym.agent`; each may sit at many tables.
        games: stop after so many finished games; 0: go on for ever.
        secrets: file of names and their secrets.
        guests: whether clients may play without a secret; None: if ``host`` is a loopback address.
        database: file of results; None: ``dicegym-GAME.sqlite`` in the current folder.
        seed: of all dice; None: drawn.
        login: seconds to log in.
        answer: seconds to answer.
        gather: seconds for which a bot waits for others to come before local agents take their seats.
        pause: seconds between two games of a remote bot.
        connections: at once.

    Raises:
        ParameterError: they cannot be used, in themselves or together.
    """

    game: str
    tcp: int | None = None
    ws: int | None = None
    host: str = "127.0.0.1"
    players: int = 2
    agents: tuple[str, ...] = ()
    games: int = 0
    secrets: Path | None = None
    guests: bool | None = None
    database: Path | None = None
    seed: int | None = None
    login: float = 2.0
    answer: float = 10.0
    gather: float = 0.5
    pause: float = 0.5
    connections: int = 1000

    def __post_init__(self) -> None:
        """Check the values."""
        for option, port in (("--tcp", self.tcp), ("--ws", self.ws)):
            if port is not None:
                whole_number(option, port, 0, 65535, "a port")
        if self.tcp is None and self.ws is None:
            raise ParameterError(
                "nobody could reach this server: give --tcp PORT, --ws PORT or both; 0 is any free port"
            )
        most = game_of(self.game).spec.players[1]
        whole_number("--players", self.players, 2, most, "the number of players at a table")
        whole_number("--games", self.games, 0, 1 << 53, "a number of games")
        whole_number("--connections", self.connections, 1, 1 << 20, "a number of connections")
        if not self.allows_guests and self.secrets is None:
            raise ParameterError(
                f"nobody could log in on {self.host}: without guests (the default unless --host is a loopback address) "
                "names need --secrets FILE; or let everybody play by --guests"
            )

    @property
    def allows_guests(self) -> bool:
        """Whether clients may play without a secret."""
        return is_loopback(self.host) if self.guests is None else self.guests


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to ``host``."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class Snapshot(NamedTuple):
    """What the scoreboard shows."""

    title: str
    addresses: tuple[str, ...]
    seconds: float
    """Since the start."""
    connections: int
    waiting: int
    turns: int
    finished: int
    """In this run."""
    tables: tuple[tuple[int, tuple[tuple[str, int], ...], str], ...]
    """Number of the game, names with what they have so far, by seat, and who is to move."""
    ratings: tuple[tuple[str, float, int, int], ...]
    """Name, rating, games, wins of the best, the best first."""
    rated: int
    """How many names have a rating."""
    lines: tuple[str, ...]
    """What has happened, the newest last."""


class Server:
    """A server that runs from ``async with`` to its end.

    Args:
        settings: what it is told.
        log: takes lines for the operator; it must not block.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError, DependencyError: on entering, what cannot be done.
    """

    floor: Floor
    lobby: Lobby
    store: Store

    def __init__(self, settings: Settings, log: Log = lambda text: None) -> None:
        self.settings = settings
        self.addresses: tuple[str, ...] = ()
        self.ports: dict[str, int] = {}
        """Of "tcp" and "ws", as far as they are listened on."""
        self.lines: deque[str] = deque(maxlen=MOST_SHOWN)
        self._tell = log
        self._game: Game = game_of(settings.game, players=settings.players)
        self._wire = wire_of(settings.game)
        self._agents: list[LocalAgent] = []
        self._listening: list[Any] = []
        self._ledger: Ledger | None = None
        self._began = time.monotonic()

    def log(self, text: str) -> None:
        """Keep a line for the scoreboard and pass it on."""
        self.lines.append(text)
        self._tell(text)

    async def __aenter__(self) -> Server:
        """Load the agents, open the store, then listen."""
        try:
            await self._start()
        except BaseException:
            await self._stop("the server could not start")
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop: no game begins any more, those in progress are left unfinished, and everything finished is stored."""
        played = self.settings.games and self.floor.finished == self.settings.games
        done = f"the server has played its {self.settings.games} games and stops"
        await self._stop(done if played else "the server stops: games in progress are not rated")

    async def _start(self) -> None:
        settings = self.settings
        try:
            from dicegym.server.store import Store
        except ImportError as error:
            raise DependencyError.for_extra(str(error.name), "server", "the server") from error
        secrets = None if settings.secrets is None else Secrets.read(settings.secrets)
        self._agents = self._named_agents(secrets)
        await asyncio.gather(*(agent.start() for agent in self._agents))
        self.store = Store(settings.database or Path(f"dicegym-{settings.game}.sqlite"), settings.game)
        self._ledger = Ledger(self.store)
        seed = entropy.randbits(63) if settings.seed is None else settings.seed
        run = self.store.begin_run(seed)
        self.floor = Floor(
            self._wire,
            self._game,
            named_seed("server", settings.game, seed, run),
            self._agents,
            self._ledger,
            settings.games,
            settings.answer,
            settings.gather,
            max(min(settings.gather, settings.pause), 0.01),
            self.log,
        )
        names = [agent.name for agent in self._agents]
        self.lobby = self.floor.lobby = Lobby(
            self._wire,
            self.floor,
            secrets,
            settings.allows_guests,
            names,
            settings.login,
            settings.pause,
            settings.connections,
            self.log,
        )
        await self._listen()
        self.log(f"{self._game.spec.title} on {', '.join(self.addresses)}")
        self.log(f"results in {self.store.path}: {self.store.finished()} games so far; run {run}, seed {seed}")
        self.floor.fill()

    def _named_agents(self, secrets: Secrets | None) -> list[LocalAgent]:
        settings, agents = self.settings, dict[str, LocalAgent]()
        for spec in settings.agents:
            resolve(self._game, spec)
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
            agents[name] = LocalAgent(name, spec, settings.game, settings.players, settings.answer, self.log)
        return list(agents.values())

    async def _listen(self) -> None:
        host = self.settings.host
        shown = f"[{host}]" if ":" in host else host
        if self.settings.tcp is not None:
            self._listening.append(await listen_tcp(self.lobby, host, self.settings.tcp))
            self.ports["tcp"] = port_of(self._listening[-1])
            self.addresses += (f"{shown}:{self.ports['tcp']}",)
        if self.settings.ws is not None:
            self._listening.append(await listen_ws(self.lobby, host, self.settings.ws))
            self.ports["ws"] = port_of(self._listening[-1])
            self.addresses += (f"ws://{shown}:{self.ports['ws']}",)

    async def _stop(self, why: str) -> None:
        for listening in self._listening:
            listening.close()
        if hasattr(self, "floor"):
            self.floor.stop_opening()
        if self._ledger is not None:
            await self._ledger.drain()
            await asyncio.sleep(0)  # what was stored last is told now
        if hasattr(self, "lobby"):
            unfinished = self.floor.leave()
            if unfinished:
                self.log(f"{unfinished} games in progress are left unfinished and not rated")
            self.lobby.hang_up(STOPPED, why)
            await asyncio.sleep(0.05)  # for what is still to be sent
        await asyncio.gather(*(agent.stop() for agent in self._agents))
        for listening in self._listening:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(listening.wait_closed(), 2 * CLOSING)
        if self._ledger is not None:
            self._ledger.close()
        if hasattr(self, "store"):
            self.store.close()

    async def finished(self) -> None:
        """Wait until ``games`` games are finished. Raises what makes it impossible to go on."""
        await asyncio.shield(self.floor.done)

    def snapshot(self) -> Snapshot:
        """Return what the scoreboard shows."""
        tables = []
        for table in sorted(self.floor.tables, key=lambda table: table.number):
            totals = self._wire.totals_of(table.game, table.state)
            names = [seat.name for seat in table.seats]
            mover = "" if table.over else names[table.mover]
            tables.append((table.number + 1, tuple(zip(names, totals, strict=True)), mover))
        standings = self.floor.ledger.standings
        best = heapq.nlargest(MOST_SHOWN, standings, key=lambda name: standings[name].rating)
        ratings = tuple((name, *standings[name]) for name in best)
        return Snapshot(
            self._game.spec.title,
            self.addresses,
            time.monotonic() - self._began,
            len(self.lobby.clients),
            sum(client.waits for client in self.lobby.named),
            self.floor.turns,
            self.floor.finished,
            tuple(tables),
            ratings,
            len(standings),
            tuple(self.lines),
        )


async def serve(settings: Settings, board: Any) -> None:
    """Serve until all games are played, or SIGINT or SIGTERM comes; ``board`` shows what happens."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # not on Windows, where SIGINT cancels this coroutine
            loop.add_signal_handler(number, stop.set)
            handled.append(number)
    try:
        async with Server(settings, board.log) as server, board.showing(server):
            ends = [loop.create_task(server.finished()), loop.create_task(stop.wait())]
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in ends:
                task.cancel()
            for task in done:
                task.result()
    finally:
        board.close()
        for number in handled:
            loop.remove_signal_handler(number)
