"""Playing on a server, ours or another that speaks the game's protocol: `dicegym join`."""

from __future__ import annotations

import contextlib
import secrets as entropy
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from dicegym.errors import AgentError, DependencyError, ParameterError
from dicegym.games import game as game_of
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.server.chair import Chair, Load
from dicegym.server.framing import Malformed, ObjectReader, parse
from dicegym.server.wire import NOT_YOUR_TURN, REFUSALS, Message, Wire, line, wire_of

LARGEST = 1 << 20
"""Bytes that a message of a server may have."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first and before any later attempt to connect again; each wait is twice the last."""
SILENCE = 2.0
"""Seconds without news after which it seems to be our turn, as long as we do not know what we are called."""
MOST_FAILURES = 5
"""Times that an agent may fail in a row before it leaves for good."""
MOST_TRIES = 10
"""Times that it is asked again after a command was refused."""


class Address(NamedTuple):
    """Where a server is."""

    host: str
    port: int
    url: str = ""
    """Of a WebSocket server; empty for plain TCP."""

    def __str__(self) -> str:
        """Return it as it is written."""
        return self.url or f"{self.host}:{self.port}"


def address(text: str) -> Address:
    """Return what HOST:PORT, tcp://HOST:PORT, ws://HOST:PORT/PATH or wss://... names. Raises ParameterError."""
    wrong = ParameterError(f"{text!r} is no address: give HOST:PORT for TCP, or ws://HOST:PORT for WebSocket")
    try:
        parts = urlsplit(text if "://" in text else f"tcp://{text}")
        port = parts.port
    except ValueError:
        raise wrong from None
    web = {"ws": 80, "wss": 443}.get(parts.scheme)
    port = port or web
    if not parts.hostname or not port or (web is None and (parts.scheme != "tcp" or parts.path.strip("/"))):
        raise wrong
    return Address(parts.hostname, port, text if web else "")


Patience = Callable[[], float | None]
"""Says for how many seconds to wait for the next message; None: for ever."""


class Line(Protocol):
    """A connection to a server."""

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        """Yield what comes until the connection is gone, None where patience is at its end; may raise OSError."""

    def send(self, message: Message) -> None:
        """Send a message. Raises OSError if the connection is gone."""


class _TcpLine:
    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        reader = ObjectReader(LARGEST)
        while True:
            self._raw.settimeout(patience())
            try:
                data = self._raw.recv(1 << 16)
            except TimeoutError:
                yield None
                continue
            if not data:
                return
            self._raw.settimeout(None)
            reader.feed(data)
            while (found := reader.read()) is not None:
                if not isinstance(found, Malformed):
                    yield found

    def send(self, message: Message) -> None:
        self._raw.sendall(line(message))


class _WsLine:
    def __init__(self, connection: Any, closed: type[Exception]) -> None:
        self._connection = connection
        self._closed = closed

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        with contextlib.suppress(self._closed):
            while True:
                try:
                    frame = self._connection.recv(patience())
                except TimeoutError:
                    yield None
                    continue
                found = parse(frame if isinstance(frame, str) else frame.decode(errors="replace"), LARGEST)
                if not isinstance(found, Malformed):
                    yield found

    def send(self, message: Message) -> None:
        try:
            self._connection.send(line(message).decode().rstrip())
        except self._closed as error:
            raise ConnectionError(str(error)) from error


@contextlib.contextmanager
def connected(where: Address, seconds: float = 10.0) -> Iterator[Line]:
    """Connect to a server. Raises OSError, or DependencyError for WebSocket without its library."""
    if not where.url:
        with socket.create_connection((where.host, where.port), seconds) as raw:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            yield _TcpLine(raw)
        return
    try:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "server", "a ws:// address") from error
    try:
        connection = connect(where.url, open_timeout=seconds, max_size=LARGEST, compression=None, proxy=None)
    except WebSocketException as error:
        raise ConnectionError(f"no WebSocket there: {error}") from error
    with connection:
        yield _WsLine(connection, ConnectionClosed)


class _Failed(Exception):  # noqa: N818 - no error of this program: the agent's, which costs it its turn
    """The agent failed; leaving makes the server play its turn at once, instead of everybody waiting for that."""


class Identity:
    """What we are called in standings, which a server of another make may not tell.

    Whoever moves without a command of ours is somebody else. If nobody moves for a while, it is probably our turn; an
    error then tells that it is not.

    Args:
        wanted: the name that we have asked for.
    """

    def __init__(self, wanted: str | None) -> None:
        self.name: str | None = None
        self._wanted = wanted
        self._candidates: set[str] = set()
        self._mover = ""
        self._guessed = False

    def told(self, name: str) -> None:
        """Take the server's word."""
        self.name, self._guessed = name, False

    def seen(self, names: list[str], mover: str, asked: bool) -> None:
        """Take note of a standing, and whether we have sent a command since the last one."""
        if self.name not in names:
            self.name, self._guessed = (self._wanted if self._wanted in names else None), False
        if self.name is None:
            self._candidates = (self._candidates & set(names)) or set(names)
            if not asked:
                self._candidates -= {self._mover}
            if len(self._candidates) == 1:
                (self.name,) = self._candidates
        self._mover = mover

    def guess(self) -> str:
        """Return the name of the player to move, as it seems to be ours."""
        self.name, self._guessed = self._mover, True
        return self._mover

    def wrong(self) -> bool:
        """Take note of an error; return whether a guess was its reason."""
        if not self._guessed:
            return False
        self._candidates.discard(str(self.name))
        self.name, self._guessed = None, False
        return True


@dataclass
class Join:
    """One agent's stay on a server.

    Args:
        game: the game's name.
        where: the server.
        load: makes the player, given the game with the server's number of players.
        name: to play under, where names are free.
        secret: to log in by.
        games: leave after so many games; 0: never.
        seed: of the player's randomness.
        log: takes lines for the user.
        attempts: to connect again in a row.
        sleep: waits for so many seconds.

    Attributes:
        played: games finished.
    """

    game: str
    where: Address
    load: Load
    name: str | None
    secret: str | None = None
    games: int = 0
    seed: int = 0
    log: Callable[[str], None] = print
    attempts: int = 10
    sleep: Callable[[float], None] = time.sleep
    played: int = 0

    def __post_init__(self) -> None:
        """Sit down."""
        self._wire: Wire = wire_of(self.game)
        self._chair = Chair(self._wire, self.game, self.load, self.seed)
        self._who = Identity(self.name)
        self._standing: Message | None = None
        self._asked = False
        self._tries = 0
        self._failures = 0
        self._heard = False

    def run(self) -> None:
        """Play until ``games`` games are played; connect again whenever the connection is lost.

        Raises:
            AgentError, ModelError: the agent cannot play, or fails again and again.
            ParameterError: the server cannot be reached, or does not let the agent in.
        """
        wait, tries, ever = FIRST_WAIT, 0, False
        while True:
            self._heard = False
            try:
                with connected(self.where) as server:
                    self.log(f"connected to {self.where}")
                    ever = True
                    if self._play(server):
                        return
                reason = "the server has closed the connection"
            except _Failed as failed:
                reason = str(failed)
            except OSError as error:
                reason = error.strerror or str(error)
                if not ever:
                    raise ParameterError(f"{self.where} cannot be reached ({reason}): is a server there?") from None
            if self._heard:
                wait, tries = FIRST_WAIT, 0
            tries += 1
            if tries > self.attempts:
                raise ParameterError(f"{self.where} cannot be reached any more ({reason})")
            self.log(f"{reason}; connecting again in {wait:g} s")
            self.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _play(self, server: Line) -> bool:
        """Play over one connection; return whether all games are played."""
        wire = self._wire
        self._asked = False
        server.send(wire.login_message(self.secret, self.name))
        for message in server.messages(self._patience):
            if message is None:  # it seems to be our turn
                self._answer(server, self._who.guess())
                continue
            try:
                word = wire.word_of(message)
                if word == wire.STANDING:
                    self._stand(server, message)
                elif word == wire.ERROR:
                    self._refused(server, message)
                elif word == wire.WELCOME:
                    self._who.told(wire.welcomed(message))
                    self.log(f"playing as {self._who.name}")
                elif word == wire.FINAL:
                    self._end(wire.final_text(message))
            except wire.CommandError as error:
                self.log(f"ignored a message: {error}")
            if self.games and self.played >= self.games:
                return True
        return False

    def _patience(self) -> float | None:
        return SILENCE if self._standing is not None and self._who.name is None and not self._asked else None

    def _stand(self, server: Line, standing: Message) -> None:
        self._heard = True
        if self._standing is not None and not self._wire.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # a server that sends no FINAL
        self._standing = standing
        self._tries = 0
        names, mover = self._wire.names_of(standing), self._wire.mover_of(standing)
        self._who.seen(names, mover, self._asked)
        self._asked = False
        if mover == self._who.name:
            self._answer(server, mover)

    def _end(self, text: str) -> None:
        self._heard = True
        self.played += 1
        self._standing, self._asked = None, False
        self._chair.rise()
        self.log(text)

    def _answer(self, server: Line, name: str) -> None:
        """Send the command of ``name``, whose turn it is."""
        standing = self._standing
        if standing is None:
            return
        try:
            command = self._chair.answer(standing, name)
        except AgentError as error:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise
            raise _Failed(f"{error.reason}: the server may play this turn") from error
        if command is None:
            return
        self._failures = 0
        self._asked = True
        if self._chair.trouble:
            self.log(f"the agent's answer is no command: {self._chair.trouble}")
        server.send(command)

    def _refused(self, server: Line, message: Message) -> None:
        """Take an ERROR: we were not let in, or not meant, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"{self.where} does not let {self.name or 'this agent'} play: {text}")
        self.log(f"the server says {code}: {text}")
        if self._who.wrong():
            self._asked = False
        elif self._asked and code != NOT_YOUR_TURN and self._who.name is not None and self._tries < MOST_TRIES:
            self._tries += 1
            self._answer(server, self._who.name)


def join(
    game: str,
    server: str,
    spec: str,
    name: str | None,
    secret: str | None,
    games: int,
    seed: int | None,
    log: Callable[[str], None],
) -> None:
    """Let the agent ``spec`` play on a server until ``games`` games are over; see `Join`.

    Raises what `Join.run` raises; and ParameterError, UnknownNameError if an argument names nothing.
    """
    where, table = address(server), game_of(game)
    wire_of(table)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    Join(game, where, lambda found: agent(found, spec), called, secret, games, seed, log).run()
