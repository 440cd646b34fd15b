"""The lobby: takes in clients, logs them in, and hears what they send, at their tables and between games.

Nothing here waits: each message is dealt with in the call that brings it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol

from dicegym.server.access import Secrets, fold_name, name_fault, origin_of
from dicegym.server.limits import LoginBackoff, ThrottledLog
from dicegym.server.table import Table
from dicegym.server.wire import (
    BAD_NAME,
    FULL,
    NOT_YOUR_TURN,
    REPLACED,
    SECRET_NEEDED,
    WRONG_SECRET,
    Malformed,
    Message,
    Wire,
    encode,
)

if TYPE_CHECKING:
    from dicegym.server.connections import Connection

WRONG_SECRETS = 3
"""After so many a client is disconnected."""
SPARE = 32
"""Connections beyond all places, for as long as it takes to log in, where names have secrets."""


class Client:
    """A client, from its connection on."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.tell = connection.send
        self.origin = origin_of(connection.address)
        self.name = ""
        self.guest = True  # until it has shown a secret
        self.original = False  # spoken to as the original server does
        self.table: Table | None = None
        self.seat = 0
        self.since = 0.0  # the time from which on it waits
        self.met: dict[str, int] = {}
        self.last: frozenset[str] = frozenset()
        self.asleep = False
        self.stirred = True
        self.moved = False  # whether it has ever made a move
        self.wrong = 0  # secrets
        self.deadline: asyncio.TimerHandle | None = None  # to log in

    @property
    def present(self) -> bool:
        """Whether it can be told anything."""
        return self.connection.open

    @property
    def waits(self) -> bool:
        """Whether it is to be seated."""
        return bool(self.name) and self.table is None and not self.asleep and not self.resting and self.present

    @property
    def resting(self) -> bool:
        """Whether its last game has just ended."""
        return asyncio.get_running_loop().time() < self.since

    @property
    def idleness(self) -> int:
        """How dispensable it is: 3 if it has not logged in, 2 if it does not answer, 1 if it has never moved."""
        if not self.guest:
            return 0
        return 3 if not self.name else 2 if self.asleep else 0 if self.moved else 1

    def helped(self) -> None:
        """Take note that the server has played a turn for it: unless it says something, it may be asleep."""
        self.stirred = False


class Matchmaking(Protocol):
    """Where the games are: who opens tables."""

    def rating(self, name: str) -> int:
        """Return the rating of a name, as it is shown."""

    def fill(self) -> None:
        """Seat who waits, as far as possible."""

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""


class Lobby:
    """All clients of a server.

    Args:
        wire: the messages.
        matchmaking: told when somebody waits.
        secrets: whose names are whose; None: nobody's.
        guests: whether clients without a secret may play.
        reserved: names that no client gets.
        seconds: time to log in.
        pause: seconds between two games of a bot, so that it can read the result and leave.
        most: connections at once.
        log: takes lines for the operator.

    Attributes:
        clients: by their connections, in the order in which they came.
        throttled: takes lines about strangers.
    """

    def __init__(
        self,
        wire: Wire,
        matchmaking: Matchmaking,
        secrets: Secrets | None,
        guests: bool,
        reserved: Collection[str],
        seconds: float,
        pause: float,
        most: int,
        log: Callable[[str], None],
    ) -> None:
        self.clients: dict[Connection, Client] = {}
        self.throttled = ThrottledLog(log)
        self._wire = wire
        self._matchmaking = matchmaking
        self._secrets = secrets
        self._guests = guests
        self._reserved = frozenset(map(fold_name, reserved))
        self._seconds = seconds
        self._pause = pause
        self._most = most
        self._log = log
        self._backoff = LoginBackoff()
        self._by_name: dict[str, Client] = {}  # by what all spellings of a name have in common
        self._left: dict[str, tuple[Table, int]] = {}
        self._guest_number = 0

    @property
    def named(self) -> Collection[Client]:
        """All clients that have logged in."""
        return self._by_name.values()

    def enter(self, connection: Connection) -> None:
        """Serve a client from now on until its connection is gone."""
        client = Client(connection)
        if self._take_in(client):
            connection.hear = functools.partial(self._hear, client)
            connection.lost = functools.partial(self._forget, client)
            self._await_login(client, self._seconds)

    def take_back(self, client: Client, table: Table) -> None:
        """Take a client from its table to those who wait; one that has slept through it must say something first."""
        client.table = None
        client.asleep = table.given_up(client.seat) and not client.stirred
        if client.asleep:
            self._log(f"{client.name} is not seated again before it says something")
        self._wait(client, self._pause)

    def forget(self, table: Table) -> None:
        """Keep no seats of a table that is over."""
        self._left = {name: left for name, left in self._left.items() if left[0] is not table}

    def hang_up(self, code: str, text: str) -> None:
        """Disconnect everybody."""
        for client in list(self.clients.values()):
            self._dismiss(client, code, text)

    # Places

    def _take_in(self, client: Client) -> bool:
        """Take in a connection, if there is room for it; it may be that of an idle client that has not logged in."""
        spare = SPARE if self._secrets is not None else 0
        if len(self.clients) >= self._most + spare:
            strangers = (one for one in self.clients.values() if not one.name)
            if not spare or (first := next(strangers, None)) is None:
                self._refuse(client)
                return False
            self._send_away(first, "no place is left for who does not log in")
        self.clients[client.connection] = client
        return True

    def _refuse(self, client: Client) -> None:
        why = f"the server has {self._most} connections, which is all it takes: try later"
        self.throttled.note(FULL, client.origin, f"{client.connection.peer} was refused: {why}")
        self._dismiss(client, FULL, why)

    def _make_room(self) -> None:
        """Send an idle client away if there are more than places; nobody who plays is."""
        idlest = max(self.clients.values(), key=lambda one: one.idleness)
        if len(self.clients) > self._most and idlest.idleness:
            self._send_away(idlest, "you were idle, and your place was needed for an owner of a secret")

    def _send_away(self, client: Client, why: str) -> None:
        who = client.name or client.connection.peer
        self.throttled.note("sent-away", client.origin, f"{who} was sent away: {why}")
        self._dismiss(client, FULL, why)

    def _dismiss(self, client: Client, code: str, text: str) -> None:
        """Tell a client why, hang up, and give its place to others."""
        self._error(client, code, text)
        client.connection.close()
        self._forget(client)

    def _forget(self, client: Client) -> None:
        """Take note that a client is gone."""
        client.connection.open = False
        if client.deadline is not None:
            client.deadline.cancel()
        name = fold_name(client.name)
        if self._by_name.get(name) is client:
            del self._by_name[name]
        if self.clients.pop(client.connection, None) is None:
            return
        if client.table is not None:
            table, client.table = client.table, None
            if not table.over:
                self._left[name] = table, client.seat
            table.left(client.seat)
        self._matchmaking.fill()

    # Logging in

    def _await_login(self, client: Client, seconds: float) -> None:
        """Give a client so many seconds to log in."""
        if client.deadline is not None:
            client.deadline.cancel()
        client.deadline = asyncio.get_running_loop().call_later(seconds, self._without_login, client)

    def _log_in(self, client: Client, message: Message | Malformed) -> None:
        """Hear a client that has no name yet."""
        if isinstance(message, Malformed):
            self._error(client, *message)
            return
        try:
            wanted, secret = self._wire.login_of(message)
        except self._wire.CommandError as error:
            self._error(client, getattr(error, "code", ""), str(error))
            return
        if secret is None or self._secrets is None:
            self._admit_guest(client, wanted, message)
            return
        prove = functools.partial(self._check_secret, client, self._secrets, wanted, secret, message)
        if delay := self._backoff.delay(client.origin, wanted):  # nothing more is heard until then
            self._await_login(client, delay + self._seconds)
            client.connection.hold(delay, prove)
        else:
            prove()

    def _check_secret(self, client: Client, secrets: Secrets, wanted: str | None, secret: str, login: Message) -> None:
        """Let a client in if its secret is right; who is wrong too often is disconnected."""
        owner = secrets.owner(secret)
        right = owner is not None and (wanted is None or fold_name(wanted) == fold_name(owner))
        self._backoff.record(client.origin, wanted, right)
        if right and owner is not None:
            self._admit_owner(client, owner, login)
            return
        client.wrong += 1
        self.throttled.note(WRONG_SECRET, client.origin, f"wrong secret from {client.connection.peer}")
        why = "this is nobody's secret, or not that of the name"
        if client.wrong < WRONG_SECRETS:
            self._error(client, WRONG_SECRET, why)
        else:
            self._dismiss(client, WRONG_SECRET, why)

    def _without_login(self, client: Client) -> None:
        """Make a guest of a client that says nothing, as far as guests may play."""
        peer = client.connection.peer
        no_login = f'sent no LOGIN within {self._seconds:g} s: a client begins with {{"key": "LOGIN", "secret": ...}}'
        if self._guests:
            self._admit(client, self._guest_name())
            self.throttled.note("no-login", client.origin, f"{client.name} from {peer} {no_login}")
        else:
            self.throttled.note("no-login", client.origin, f"{peer} {no_login}: disconnected")
            self._dismiss(client, SECRET_NEEDED, f"no login within {self._seconds:g} s, and no guests here")

    def _admit_guest(self, client: Client, wanted: str | None, login: Message) -> None:
        if self._secrets is not None and wanted in self._secrets:
            self._error(client, SECRET_NEEDED, f"{wanted} plays here with a secret: add it to the LOGIN")
        elif not self._guests:
            self._error(client, SECRET_NEEDED, "this server takes no guests: log in with a secret")
        elif wanted is not None and (fault := name_fault(wanted)):
            self._error(client, BAD_NAME, fault)
        else:
            self._admit(client, self._guest_name() if wanted is None else self._free_name(wanted), login)

    def _admit_owner(self, client: Client, name: str, login: Message) -> None:
        """Let in who has proved to be ``name``, also in place of a connection that may be dead without our knowing."""
        old = self._by_name.get(fold_name(name))
        if old is not None:
            self._dismiss(old, REPLACED, f"{name} has logged in again on another connection")
        client.guest = False
        self._make_room()
        self._admit(client, name, login)

    def _admit(self, client: Client, name: str, login: Message | None = None) -> None:
        if client.guest and len(self.clients) > self._most:
            self._refuse(client)
            return
        if client.deadline is not None:
            client.deadline.cancel()
        client.name = name
        client.original = self._wire.original_login(login)
        self._by_name[fold_name(name)] = client
        if not client.original:
            client.tell(encode(self._wire.welcome_message(name, self._matchmaking.rating(name))))
        table, seat = self._left.pop(fold_name(name), (None, 0))
        if table is not None and table.retake(seat, client):
            client.table, client.seat = table, seat
            self._log(f"game {table.number + 1}: {name} is back")
        else:
            self._wait(client)

    def _guest_name(self) -> str:
        while True:
            self._guest_number += 1
            name = f"guest-{self._guest_number}"
            if self._is_free(name) and self._matchmaking.spelling(name) is None:
                return name

    def _free_name(self, wanted: str) -> str:
        """Return the name that a guest gets, as it was spelled before; with a number if somebody else has it."""
        copy, name = 1, self._spelling(wanted)
        while not self._is_free(name):
            copy += 1
            name = self._spelling(f"{wanted}-{copy}")
        return name

    def _spelling(self, wanted: str) -> str:
        if (left := self._left.get(fold_name(wanted))) is not None:
            table, seat = left
            return table.seats[seat].name
        return self._matchmaking.spelling(wanted) or wanted

    def _is_free(self, name: str) -> bool:
        folded = fold_name(name)
        owned = self._secrets is not None and name in self._secrets
        return not owned and folded not in self._by_name and folded not in self._reserved

    # Playing

    def _hear(self, client: Client, message: Message | Malformed) -> None:
        """Pass a message on to the client's table, or say why not."""
        table = client.table
        client.stirred = True
        if table is not None and not isinstance(message, Malformed):
            if table.command(client.seat, message):
                client.moved = True
                client.connection.refund()
        elif not client.name:
            self._log_in(client, message)
            return
        elif table is not None:
            table.unreadable(client.seat, *message)
        else:
            wait = f"you are {client.name} and wait for a game: no turn is yours yet"
            self._error(client, *(message if isinstance(message, Malformed) else (NOT_YOUR_TURN, wait)))
        if client.asleep:
            client.asleep = False
            self._wait(client)

    def _wait(self, client: Client, pause: float = 0.0) -> None:
        client.since = asyncio.get_running_loop().time() + pause
        self._matchmaking.fill()

    def _error(self, client: Client, code: str, text: str) -> None:
        if not client.original:
            client.tell(encode(self._wire.error_message(code, text)))
