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


class Line(Protocol):
    """A connection to a server."""

    def messages(self) -> Iterator[Message]:
        """Yield what comes until the connection is gone; may raise OSError."""

    def send(self, message: Message) -> None:
        """Send a message. Raises OSError if the connection is gone."""


class _TcpLine:
    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw

    def messages(self) -> Iterator[Message]:
        reader = ObjectReader(LARGEST)
        while data := self._raw.recv(1 << 16):
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

    def messages(self) -> Iterator[Message]:
        with contextlib.suppress(self._closed):
            while True:
                frame = self._connection.recv()
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
            raw.settimeout(None)
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
        self._own: str | None = None
        self._candidates: set[str] = set()
        self._guess: str | None = None
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
        self._asked, self._guess = False, None
        server.send(wire.login_message(self.secret, self.name))
        for message in server.messages():
            try:
                word = wire.word_of(message)
                if word == wire.STANDING:
                    self._stand(server, message)
                elif word == wire.ERROR:
                    self._refused(server, message)
                elif word == wire.WELCOME:
                    self._own = wire.welcomed(message)
                    self.log(f"playing as {self._own}")
                elif word == wire.FINAL:
                    self._end(wire.final_text(message))
            except wire.CommandError as error:
                self.log(f"ignored a message: {error}")
            if self.games and self.played >= self.games:
                return True
        return False

    def _stand(self, server: Line, standing: Message) -> None:
        self._heard = True
        if self._standing is not None and not self._wire.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # a server that sends no FINAL
        self._standing = standing
        self._asked, self._tries = False, 0
        self._answer(server)

    def _end(self, text: str) -> None:
        self._heard = True
        self.played += 1
        self._standing, self._asked = None, False
        self._chair.rise()
        self.log(text)

    def _answer(self, server: Line) -> None:
        """Send a command, if it is our turn."""
        standing = self._standing
        if standing is None:
            return
        for name in self._names(standing):
            try:
                command = self._chair.answer(standing, name)
            except AgentError as error:
                self._failures += 1
                if self._failures >= MOST_FAILURES:
                    raise
                raise _Failed(f"{error.reason}: the server may play this turn") from error
            if command is not None:
                self._failures = 0
                if self._chair.trouble:
                    self.log(f"the agent's answer is no command: {self._chair.trouble}")
                self._asked = True
                self._guess = name if self._own is None else None
                server.send(command)
                return

    def _names(self, standing: Message) -> list[str]:
        """Return what we may be called: the server may not tell, and errors then tell who we are not."""
        names = self._wire.names_of(standing)
        if self._own not in names:
            self._own = self.name if self.name in names else None
        if self._own is None:
            self._candidates = (self._candidates & set(names)) or set(names)
            if len(self._candidates) == 1:
                (self._own,) = self._candidates
        return [self._own] if self._own is not None else sorted(self._candidates)

    def _refused(self, server: Line, message: Message) -> None:
        """Take an ERROR: we were not let in, or not meant, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"{self.where} does not let {self.name or 'this agent'} play: {text}")
        if self._guess is not None:
            self._candidates.discard(self._guess)
            self._guess = None
            return
        self.log(f"the server says {code}: {text}")
        if self._asked and code != NOT_YOUR_TURN and self._tries < MOST_TRIES:
            self._tries += 1
            self._answer(server)


def join(
    game: str, server: str, spec: str, name: str | None, secret: str | None, games: int, seed: int | None,
    log: Callable[[str], None],
) -> None:  # fmt: skip
    """Let the agent ``spec`` play on a server until ``games`` games are over; see `Join`.

    Raises what `Join.run` raises; and ParameterError, UnknownNameError if an argument names nothing.
    """
    where, table = address(server), game_of(game)
    wire_of(table)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    Join(game, where, lambda found: agent(found, spec), called, secret, games, seed, log).run()
