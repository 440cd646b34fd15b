"""Play on a server, ours or another one with the game's protocol: `dicegym server join`."""

from __future__ import annotations

import contextlib
import secrets as entropy
import select
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dicegym.arena.provenance import package_version
from dicegym.engine.dice import named_seed
from dicegym.errors import DependencyError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.games.yatzy import protocol
from dicegym.games.yatzy.protocol import Message
from dicegym.play.player import Player, whole
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.sandbox.worker import rehearse
from dicegym.server.wire import NOT_YOUR_TURN, REFUSALS, Malformed, ObjectReader, encode, make_served_game

LARGEST = 1 << 20  # bytes of a server's message
PATIENCE = 10.0  # seconds for a server to accept a connection
LEAVING = 2.0  # seconds for a server to close its side of a WebSocket after we have closed ours
SILENCE = 60.0
"""Seconds without a message after which `Join` logs that once: the server may wait for other players, for hours."""
MOST_TRIES = 10  # number of times that an agent is asked again after a refused command


class Channel(NamedTuple):
    """A connection to a server."""

    take: Callable[[float | None], bytes]
    """Waits at most these seconds (None: forever) and returns received data. Raises TimeoutError, EOFError when the
    server has closed the connection, and OSError if it is lost."""
    send: Callable[[bytes], object]  # sends a message. Raises OSError if the connection is lost


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of an address HOST:PORT. Raises ParameterError."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and 0 < int(port) < 1 << 16) or "/" in host:
        raise ParameterError(f"{text!r} is not an address: give HOST:PORT, or the ws:// or wss:// address of a server")
    return host, int(port)


@contextlib.contextmanager
def open_channel(where: str) -> Iterator[Channel]:
    """Yield a connection to a server.

    Raises ParameterError if no server answers, DependencyError if WebSocket is needed and not installed.
    """
    if where.startswith(("ws://", "wss://")):
        with _open_web(where) as channel:
            yield channel
        return
    host, port = parse_address(where)
    try:
        connection = socket.create_connection((host, port), PATIENCE)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ParameterError(f"{where} cannot be reached ({reason}): is a server there?") from None
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.settimeout(None)

        def take(seconds: float | None) -> bytes:
            if not select.select([connection], [], [], seconds)[0]:
                raise TimeoutError
            if data := connection.recv(1 << 16):
                return data
            raise EOFError

        yield Channel(take, connection.sendall)


@contextlib.contextmanager
def _open_web(url: str) -> Iterator[Channel]:
    """Yield a WebSocket connection; see `open_channel`."""
    try:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "arena", "a ws:// address") from error
    try:
        connection = connect(
            url, open_timeout=PATIENCE, close_timeout=LEAVING, max_size=LARGEST, compression=None, proxy=None
        )
    except (OSError, WebSocketException) as error:
        body = getattr(getattr(error, "response", None), "body", b"") or b""  # of a refusal, such as by a full server
        why = one_line(f"{error} {body.decode(errors='replace')}".strip(), 300)
        raise ParameterError(f"{url} cannot be reached ({why}): is a server there?") from None

    def take(seconds: float | None) -> bytes:
        try:
            frame = connection.recv(seconds)
        except ConnectionClosed:
            raise EOFError from None
        return (frame.encode() if isinstance(frame, str) else bytes(frame)) + b"\n"

    def send(data: bytes) -> None:
        try:
            connection.send(data.decode().rstrip())
        except ConnectionClosed as error:
            raise OSError("the server has closed the connection") from error

    with connection:
        yield Channel(take, send)


@dataclass
class Join:
    """One agent's connection to a server.

    A server's WELCOME contains the agent's name. Without a WELCOME, the agent has the requested name if the standings
    show it. Otherwise it is the player to move, because the original server shows a client only its own turns.

    Args:
        game: the game's name.
        where: HOST:PORT of the server for TCP, or its ws:// or wss:// address.
        player: the agent.
        name: the requested name.
        secret: the secret to log in with.
        games: leave after this number of games; 0: never.
        seed: of the player's randomness.
        log: receives lines for the user.

    Attributes:
        played: number of finished games.
    """

    game: str
    where: str
    player: Player
    name: str | None
    secret: str | None = None
    games: int = 0
    seed: int = 0
    log: Callable[[str], None] = print
    played: int = 0

    def __post_init__(self) -> None:
        """Set the initial state."""
        self._reader = ObjectReader(LARGEST)
        self._heard = False  # whether the server has sent a JSON object
        self._act: Act | None = None  # of the present game
        self._seat = -1
        self._begun = 0  # games
        self._welcomed: str | None = None  # our name in the WELCOME
        self._own = ""  # our name in the standing
        self._standing: Message | None = None
        self._due = False  # whether it is our turn and we have not answered
        self._tries = 0

    def run(self) -> None:
        """Play until ``games`` games are played, or the server closes the connection.

        Raises:
            AgentError, ModelError: the agent fails; the server then plays its turn.
            ParameterError: the server cannot be reached, refuses the agent, or is lost.
        """
        with open_channel(self.where) as server:
            self.log(f"connected to {self.where}")
            try:
                # Clients of the original log in with only a secret, and receive less: so name the client too.
                server.send(encode(protocol.login_message(self.secret, self.name, f"dicegym {package_version()}")))
                patience: float | None = SILENCE
                while not (self.games and self.played >= self.games):
                    self._take(server, patience)
                    if patience is not None and not self._heard:
                        why = f"{self.where} may wait for other players, or may not be a server of {self.game}"
                        self.log(f"no message in {patience:g} s: {why}")
                    patience = None
                    while self._due:
                        self._answer(server)
            except EOFError:
                if not self._begun:
                    raise ParameterError(f"{self.where} has closed the connection before any game") from None
                self.log("the server has closed the connection")
            except OSError as error:
                reason = error.strerror or str(error)
                raise ParameterError(f"the connection to {self.where} was lost ({reason}): join again") from None

    def _take(self, server: Channel, seconds: float | None) -> None:
        """Wait at most ``seconds`` (None: forever) for data, and process all messages."""
        while True:
            try:
                self._reader.feed(server.take(seconds))
            except TimeoutError:
                return
            while (found := self._reader.read()) is not None:
                if not isinstance(found, Malformed):
                    self._heard = True
                    self._hear(found)
                elif not self._heard:
                    raise ParameterError(
                        f"{self.where} is not a server of {self.game} ({found.message}): give the address of one"
                    )
            seconds = 0.0

    def _hear(self, message: Message) -> None:
        try:
            word = protocol.word_of(message)
            if word == protocol.STANDING:
                self._stand(message)
            elif word == protocol.ERROR:
                self._hear_error(message)
            elif word == protocol.WELCOME:
                self._welcomed = protocol.read_welcome(message)
                self.log(f"playing as {self._welcomed}")
            elif word == protocol.FINAL:
                self._end(protocol.final_text(message))
        except protocol.CommandError as error:
            self.log(f"ignored a message: {error}")

    def _stand(self, standing: Message) -> None:
        names, mover = protocol.names_of(standing), protocol.mover_of(standing)
        if self._standing is not None and not protocol.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # the server sends no FINAL
        if standing != self._standing:
            self._tries = 0
        self._standing = standing
        self._own = next((name for name in (self._welcomed, self.name) if name in names and name is not None), mover)
        self._due = mover == self._own and bool(protocol.open_boxes(standing, self._own))
        if not any(protocol.open_boxes(standing, each) for each in names):
            self._end("the game is over")  # some servers show the last table and send no FINAL

    def _end(self, text: str) -> None:
        self.played += 1
        self._standing, self._due, self._act = None, False, None
        self.log(text)

    def _answer(self, server: Channel) -> None:
        """Answer the present standing, unless the server has sent another one meanwhile."""
        standing, began = self._standing, time.monotonic()
        self._due = False
        command = None if standing is None else self._command(standing)
        if command is None:
            return
        self._take(server, 0.0)
        if self._standing == standing:
            self._due = False
            server.send(encode(command))
        else:
            self.log(f"the server did not wait for the answer, which took {time.monotonic() - began:.1f} s: not sent")

    def _command(self, standing: Message) -> Message | None:
        """Return our command, or None if it is not our turn.

        If no command has the chosen action, return an empty one, which counts as an error by the rules.

        Raises AgentError if the player fails, ModelError if it cannot play this game.
        """
        game = make_game(self.game, players=len(protocol.names_of(standing)))
        state, seat = protocol.state_of(standing, self._own, game)
        if state["over"] or state["player"] != seat:
            return None
        if self._act is None or self._seat != seat:
            self._seat = seat
            # The seed contains the old word "chair". Another word would change the agent's random numbers.
            self._act = self.player.join(game, seat, named_seed("chair", self.seed, self._begun))
            self._begun += 1
        action = whole(self._act(Turn(game, state, seat)), self.player)
        try:
            return protocol.command_in(action, state)
        except protocol.CommandError as error:
            self.log(f"the agent's answer is not a command: {error}")
            return {}

    def _hear_error(self, message: Message) -> None:
        """Process an ERROR: the login was refused, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"the server does not let {self.name or 'this agent'} play: {text}")
        self.log(f"the server says {code}: {text}")
        if self._standing is not None and code != NOT_YOUR_TURN and self._tries < MOST_TRIES:
            self._tries += 1
            self._due = protocol.mover_of(self._standing) == self._own


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

    The agent and the rules are loaded first, because on the server it has only seconds to answer.

    Raises the errors of `Join.run`; ModelError, AgentError if the agent cannot be loaded; ParameterError,
    UnknownNameError for invalid arguments.
    """
    table = make_served_game(game)
    if "://" not in server:
        parse_address(server)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    log(f"loading {spec}")
    rehearse(table)
    player = agent(table, spec)
    act = player.join(table, 0, 0)
    if player.pure:  # load or compile everything; other players might remember the question
        act(Turn(table, table.new_game()[0], 0))
    Join(game, server, player, called, secret, games, seed, log).run()
