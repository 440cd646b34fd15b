"""Playing on a server, ours or another that speaks the game's protocol: `dicegym server join`."""

from __future__ import annotations

import contextlib
import http
import secrets as entropy
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dicegym.arena.provenance import package_version
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer, whole
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.server.wire import NOT_YOUR_TURN, REFUSALS, Malformed, Message, ObjectReader, Wire, encode, wire_of

LARGEST = 1 << 20
"""Bytes that a message of a server may have."""
LEAVING = 2.0
"""Seconds in which a server may see that we have closed our side, and close its own."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first and before any later attempt to connect again; each wait is twice the last."""
AFTER_THE_LAST = 10.0
"""Seconds without news after our last box, on a server that tells nobody else's turns, after which the game is over."""
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
    wrong = ParameterError(f"{text!r} is not an address: give HOST:PORT for TCP, or ws://HOST:PORT for WebSocket")
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


class Channel:
    """A connection to a server, over which JSON objects come and go.

    Args:
        take: returns what has come, nothing at the end; raises TimeoutError when these seconds have passed (None: it
            waits for ever; 0: what has come already), and OSError if the connection is lost.
        send: sends bytes. Raises OSError if the connection is gone.
        leave: closes our side first, and waits for a moment until the server has closed its own.
    """

    def __init__(
        self, take: Callable[[float | None], bytes], send: Callable[[bytes], object], leave: Callable[[], object]
    ) -> None:
        self._take, self._send, self.leave = take, send, leave
        self._reader = ObjectReader(LARGEST)

    def receive(self, seconds: float | None) -> Message | None:
        """Return the next message; None if ``seconds`` pass before (None: for ever; 0: what has come already).

        Raises EOFError when the server has closed its side, OSError if the connection is lost.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            while (found := self._reader.read()) is not None:
                if not isinstance(found, Malformed):
                    return found
            try:
                data = self._take(None if end is None else max(end - time.monotonic(), 0))
            except TimeoutError:
                return None
            if not data:
                raise EOFError("the server has closed the connection")
            self._reader.feed(data)

    def send(self, message: Message) -> None:
        """Send a message. Raises OSError if the connection is gone."""
        self._send(encode(message))


def _tcp_channel(raw: socket.socket) -> Channel:
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def take(seconds: float | None) -> bytes:
        raw.settimeout(seconds)
        try:
            return raw.recv(1 << 16)
        except BlockingIOError:
            raise TimeoutError from None
        finally:
            raw.settimeout(None)

    def leave() -> None:  # what the server still sends is read, as an unread rest would end the connection by a reset
        with contextlib.suppress(OSError):
            raw.shutdown(socket.SHUT_WR)
            raw.settimeout(LEAVING)
            end = time.monotonic() + LEAVING
            while raw.recv(1 << 16) and time.monotonic() < end:
                pass

    return Channel(take, raw.sendall, leave)


def _ws_channel(connection: Any, closed: type[Exception]) -> Channel:
    def take(seconds: float | None) -> bytes:
        try:
            frame = connection.recv(seconds)
        except closed:
            return b""
        return (frame.encode() if isinstance(frame, str) else bytes(frame)) + b"\n"

    def send(data: bytes) -> None:
        try:
            connection.send(data.decode().rstrip())
        except closed as error:
            raise OSError("the server has closed the connection") from error

    return Channel(take, send, connection.close)  # the library says goodbye and waits for the answer


@contextlib.contextmanager
def open_channel(where: Address, seconds: float = 10.0) -> Iterator[Channel]:
    """Connect to a server.

    Raises:
        OSError: no server answers there.
        ParameterError: it refuses this client.
        DependencyError: WebSocket is asked for, and its library is not installed.
    """
    if not where.url:
        with socket.create_connection((where.host, where.port), seconds) as raw:
            yield _tcp_channel(raw)
        return
    try:
        from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "server", "a ws:// address") from error
    try:
        connection = connect(
            where.url, open_timeout=seconds, close_timeout=LEAVING, max_size=LARGEST, compression=None, proxy=None
        )
    except InvalidStatus as error:
        words = one_line(bytes(error.response.body).decode(errors="replace"))
        if error.response.status_code == http.HTTPStatus.FORBIDDEN:
            raise ParameterError(f"{where} refuses this connection: {words}") from error
        raise ConnectionError(f"no WebSocket there: {error}{words and ': '}{words}") from error
    except WebSocketException as error:
        raise ConnectionError(f"no WebSocket there: {error}") from error
    with connection:
        yield _ws_channel(connection, ConnectionClosed)


@dataclass
class Join:
    """One agent's stay on a server.

    What the agent is called, the server says in its WELCOME. A server of another make may not: then it is called as it
    asked for, if the standings show that name, and else it is who is to move, as the original server shows a client
    its own turns alone.

    Args:
        game: the game's name.
        where: the server.
        player: the agent.
        name: to play under, where names are free.
        secret: to log in by.
        games: leave after this number of games; 0: never.
        seed: of the player's randomness.
        log: takes lines for the user.
        attempts: to connect again in a row.
        sleep: waits for a number of seconds.

    Attributes:
        played: games finished.
    """

    game: str
    where: Address
    player: Player
    name: str | None
    secret: str | None = None
    games: int = 0
    seed: int = 0
    log: Callable[[str], None] = print
    attempts: int = 10
    sleep: Callable[[float], None] = time.sleep
    played: int = 0

    def __post_init__(self) -> None:
        """Begin with nothing heard."""
        self._wire: Wire = wire_of(self.game)
        self._act: Act | None = None  # of a game that has begun
        self._seat = -1
        self._begun = 0
        self._welcomed: str | None = None
        self._own = ""  # our name in the standing
        self._standing: Message | None = None
        self._due = False  # whether the standing asks us, and has not been answered
        self._asked = False
        self._last = False  # whether we have filled our last box
        self._tries = 0
        self._heard = False
        self._alone = True  # only ever shown our own turns: then nobody tells the end of a game

    def run(self) -> None:
        """Play until ``games`` games are played; connect again whenever the connection is lost.

        Raises:
            AgentError, ModelError: the agent fails, upon which the server plays its turn at once.
            ParameterError: the server cannot be reached, or does not let the agent in.
        """
        wait, tries, ever = FIRST_WAIT, 0, False
        while True:
            self._heard = False
            try:
                with open_channel(self.where) as server:
                    self.log(f"connected to {self.where}")
                    ever = True
                    try:
                        self._play(server)
                        return
                    finally:
                        server.leave()
            except EOFError as gone:
                reason = str(gone)
            except OSError as error:
                reason = error.strerror or str(error)
                if not ever:
                    raise ParameterError(f"{self.where} cannot be reached ({reason}): is a server there?") from None
            if self._last and self._alone:  # a server that closes when a game is over, without a word
                self._end(f"{reason} after the last turn of this game")
                if self._done():
                    return
            if self._heard:
                wait, tries = FIRST_WAIT, 0
            tries += 1
            if tries > self.attempts:
                raise ParameterError(f"{self.where} cannot be reached any more ({reason})")
            self.log(f"{reason}; connecting again in {wait:g} s")
            self.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _done(self) -> bool:
        return bool(self.games) and self.played >= self.games

    def _play(self, server: Channel) -> None:
        """Play over one connection until all games are played."""
        self._asked = self._due = False
        # A secret alone is how clients of the original log in, which are told less.
        server.send(self._wire.login_message(self.secret, self.name, f"dicegym {package_version()}"))
        while not self._done():
            message = server.receive(AFTER_THE_LAST if self._last and self._alone else None)
            if message is not None:
                self._hear(message)
                self._catch_up(server)
            elif self._last:
                self._end("the game is over for this agent: the server does not tell its result")
            while self._due and not self._done():
                self._answer(server)

    def _catch_up(self, server: Channel) -> None:
        """Take in all that has come already: only the last of it says how things are."""
        while (message := server.receive(0)) is not None:
            self._hear(message)

    def _hear(self, message: Message) -> None:
        wire = self._wire
        try:
            word = wire.word_of(message)
            if word == wire.STANDING:
                self._stand(message)
            elif word == wire.ERROR:
                self._refused(message)
            elif word == wire.WELCOME:
                self._alone = False
                self._welcomed = wire.read_welcome(message)
                self.log(f"playing as {self._welcomed}")
            elif word == wire.FINAL:
                self._alone = False
                self._end(wire.final_text(message))
        except wire.CommandError as error:
            self.log(f"ignored a message: {error}")

    def _stand(self, standing: Message) -> None:
        wire = self._wire
        names, mover = wire.names_of(standing), wire.mover_of(standing)
        self._heard = True
        if self._standing is not None and not wire.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # a server that sends no FINAL
        if standing != self._standing:
            self._tries = 0
        self._standing, self._asked = standing, False
        self._own = next((name for name in (self._welcomed, self.name) if name in names and name is not None), mover)
        self._alone &= self._own == mover
        self._last = not wire.open_boxes(standing, self._own)
        self._due = mover == self._own and not self._last
        if not any(wire.open_boxes(standing, each) for each in names):
            self._end("the game is over")  # a server that shows the last table, and may send no FINAL

    def _end(self, text: str) -> None:
        self._heard = True
        self.played += 1
        self._standing, self._asked, self._due, self._last = None, False, False, False
        self._act = None
        self.log(text)

    def _answer(self, server: Channel) -> None:
        """Send the command of the standing that asks us, unless the server has gone on while it was thought of."""
        standing = self._standing
        self._due = False
        if standing is None:
            return
        began = time.monotonic()
        command = self._command(standing)
        if command is None:
            return
        self._catch_up(server)
        if self._standing != standing:
            self.log(f"the server did not wait for the answer, which took {time.monotonic() - began:.1f} s: not sent")
            return
        self._asked, self._due = True, False
        self._last = self._wire.open_boxes(standing, self._own) == 1 and self._wire.ends_turn(command)
        server.send(command)

    def _command(self, standing: Message) -> Message | None:
        """Return our command, or None if it is not our turn.

        An empty one stands for an action that no command means: by the rules it is an error like others.

        Raises AgentError if the player fails, ModelError if it cannot play this game.
        """
        wire = self._wire
        game = make_game(self.game, players=len(wire.names_of(standing)))
        state, seat = wire.state_of(standing, self._own, game)
        if state["over"] or state["player"] != seat:
            return None
        if self._act is None or self._seat != seat:
            self._seat = seat
            # "chair" is the old word for a seat. It is part of the seed, so another would change what agents draw.
            self._act = self.player.join(game, seat, named_seed("chair", self.seed, self._begun))
            self._begun += 1
        action = whole(self._act(Turn(game, state, seat)), self.player)
        try:
            return wire.command_in(action, state)
        except wire.CommandError as error:
            self.log(f"the agent's answer is not a command: {error}")
            return {}

    def _refused(self, message: Message) -> None:
        """Take an ERROR: we were not let in, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"{self.where} does not let {self.name or 'this agent'} play: {text}")
        self.log(f"the server says {code}: {text}")
        self._last = False
        if self._asked and code != NOT_YOUR_TURN and self._tries < MOST_TRIES:
            self._tries += 1
            self._due = True


def join(
    game: str,
    server: str,
    spec: str,
    name: str | None,
    secret: str | None,
    games: int,
    seed: int | None,
    log: Callable[[str], None],
    trust: bool = False,
) -> None:
    """Let the agent ``spec`` play on a server until ``games`` games are over; see `Join`.

    The agent and the rules are loaded first: on the server it has seconds to answer.

    Raises what `Join.run` raises; ModelError, AgentError if the agent cannot be loaded; and ParameterError,
    UnknownNameError if an argument names nothing.
    """
    where, table = address(server), make_game(game)
    wire_of(table)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    log(f"loading {spec}")
    player = rehearse(table, spec, trust)
    Join(game, where, player, called, secret, games, seed, log).run()


def rehearse(table: Game, spec: str, trust: bool = False) -> Player:
    """Return a player that has nothing left to load or compile when it is asked. Raises AgentError, ModelError.

    ``trust`` is as for `dicegym.agent`.
    """
    table.observe(play_game(table, [RandomPlayer()] * table.players), 0)
    player = agent(table, spec, trust=trust)
    act = player.join(table, 0, 0)
    if player.pure:  # a player that remembers questions gets none in vain
        act(Turn(table, table.new_game()[0], 0))
    return player
