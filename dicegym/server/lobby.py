"""Clients before and between games: who is there, what they are called, and what they send when they have no turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Protocol

from dicegym.server.capacity import Capacity, Visitor
from dicegym.server.connections import Link
from dicegym.server.framing import Malformed
from dicegym.server.guesses import Guesses
from dicegym.server.murmur import Murmur
from dicegym.server.names import Secrets, fold_name, name_fault
from dicegym.server.origins import origin_of
from dicegym.server.table import Table
from dicegym.server.wire import (
    BAD_NAME,
    FULL,
    NOT_YOUR_TURN,
    REPLACED,
    SECRET_NEEDED,
    WRONG_SECRET,
    Message,
    Wire,
    line,
)

WRONG_SECRETS = 3
"""After so many a client is disconnected."""


class Client:
    """One connection, and what has become of it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.origin = origin_of(link.address)
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
        self.wrong = 0
        self.moved = False  # whether it has ever made a move
        self.timer: asyncio.TimerHandle | None = None

    @property
    def present(self) -> bool:
        """Whether it can be told anything."""
        return self.link.open

    @property
    def waits(self) -> bool:
        """Whether it is to be seated."""
        return bool(self.name) and self.table is None and not self.asleep and not self.resting and self.link.open

    @property
    def resting(self) -> bool:
        """Whether its last game has just ended."""
        return asyncio.get_running_loop().time() < self.since

    @property
    def idleness(self) -> int:
        """See `dicegym.server.capacity.Visitor`: it has not logged in, does not answer, has not moved yet, or plays."""
        if not self.guest:
            return 0
        return 3 if not self.name else 2 if self.asleep else 0 if self.moved else 1

    def tell(self, data: bytes) -> None:
        """Send a message."""
        self.link.send(data)

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
    """Takes in connections and what comes over them.

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
        murmur: takes lines about strangers.
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
        murmur: Murmur | None = None,
    ) -> None:
        self.clients: dict[Link, Client] = {}
        self._wire = wire
        self._matchmaking = matchmaking
        self._secrets = secrets
        self._guests = guests
        self._reserved = frozenset(map(fold_name, reserved))
        self._seconds = seconds
        self._pause = pause
        self._log = log
        self._murmur = murmur or Murmur(log)
        self._capacity = Capacity(most, secrets is not None)
        self._guesses = Guesses()
        self._by_name: dict[str, Client] = {}  # by what all spellings of a name have in common
        self._left: dict[str, tuple[Table, int]] = {}
        self._guest_number = 0

    @property
    def named(self) -> Collection[Client]:
        """All clients that have logged in."""
        return self._by_name.values()

    def opened(self, link: Link) -> None:
        """See `dicegym.server.connections.Receiver`."""
        client = Client(link)
        if why := self._capacity.enter(client):
            self._murmur.note(FULL, client.origin, f"{link.peer} was refused: {why}")
            self.error(link, FULL, why)
            link.close()
            return
        self.clients[link] = client
        client.timer = asyncio.get_running_loop().call_later(self._seconds, self._without_login, client)
        self._send_away(self._capacity.surplus(), "no place is left for who does not log in")

    def received(self, link: Link, message: dict[str, Any] | Malformed) -> bool:
        """See `dicegym.server.connections.Receiver`."""
        client = self.clients.get(link)
        if client is None:
            return False
        client.stirred = True
        table, moved = client.table, False
        if table is not None:
            if isinstance(message, Malformed):
                table.unreadable(client.seat, *message)
            elif moved := table.command(client.seat, message):
                client.moved = True
        elif isinstance(message, Malformed):
            self.error(link, *message)
        elif client.name:
            self.error(link, NOT_YOUR_TURN, f"you are {client.name} and wait for a game: no turn is yours yet")
        else:
            self._log_in(client, message)
        if client.asleep:
            client.asleep = False
            self._wait(client)
        return moved

    def closed(self, link: Link) -> None:
        """See `dicegym.server.connections.Receiver`."""
        client = self.clients.pop(link, None)
        if client is None:
            return
        self._capacity.leave(client)
        if client.timer is not None:
            client.timer.cancel()
        if self._by_name.get(fold_name(client.name)) is client:
            del self._by_name[fold_name(client.name)]
        if client.table is not None:
            table, client.table = client.table, None
            if not table.over:
                self._left[fold_name(client.name)] = table, client.seat
            table.left(client.seat)
        self._matchmaking.fill()

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
        for link in list(self.clients):
            self.error(link, code, text)
            link.close()

    def error(self, link: Link, code: str, text: str) -> None:
        """See `dicegym.server.connections.Receiver`."""
        client = self.clients.get(link)
        if client is None or not client.original:
            link.send(line(self._wire.error_message(code, text)))

    def _log_in(self, client: Client, message: dict[str, Any]) -> None:
        try:
            wanted, secret = self._wire.login_of(message)
        except self._wire.CommandError as error:
            self.error(client.link, getattr(error, "code", ""), str(error))
            return
        if secret is not None and self._secrets is not None:
            delay = self._guesses.delay(client.origin, wanted)
            if delay:
                self._delay(client, delay, wanted, secret, message)
            else:
                self._judge(client, wanted, secret, message)
        elif self._secrets is not None and wanted in self._secrets:
            self.error(client.link, SECRET_NEEDED, f"{wanted} plays here with a secret: add it to the LOGIN")
        elif not self._guests:
            self.error(client.link, SECRET_NEEDED, "this server takes no guests: log in with a secret")
        elif wanted is not None and (fault := name_fault(wanted)):
            self.error(client.link, BAD_NAME, fault)
        else:
            self._admit(client, self._guest_name() if wanted is None else self._free(wanted), message)

    def _delay(self, client: Client, delay: float, wanted: str | None, secret: str, message: Message) -> None:
        """Look at a secret later, and hear nothing more from its client until then."""
        loop = asyncio.get_running_loop()
        if client.timer is not None:
            client.timer.cancel()

        def later() -> None:
            if client.link in self.clients and client.link.open:
                client.timer = loop.call_later(self._seconds, self._without_login, client)
                self._judge(client, wanted, secret, message)
                client.link.release()

        client.link.hold()
        client.timer = loop.call_later(delay, later)

    def _judge(self, client: Client, wanted: str | None, secret: str, message: Message) -> None:
        """Let the owner of a secret in, and nobody else who has said one."""
        owner = None if self._secrets is None else self._secrets.owner(secret)
        if owner is None or (wanted is not None and fold_name(wanted) != fold_name(owner)):
            self._wrong(client, wanted)
            return
        self._guesses.right(client.origin, wanted)
        self._replace(owner)
        client.guest = False
        self._send_away(self._capacity.own(client), "you were idle, and your place was needed for an owner of a secret")
        self._admit(client, owner, message)

    def _wrong(self, client: Client, wanted: str | None) -> None:
        client.wrong += 1
        self._guesses.wrong(client.origin, wanted)
        self.error(client.link, WRONG_SECRET, "this is nobody's secret, or not that of the name")
        self._murmur.note(WRONG_SECRET, client.origin, f"wrong secret from {client.link.peer}")
        if client.wrong >= WRONG_SECRETS:
            client.link.close()

    def _send_away(self, client: Visitor | None, why: str) -> None:
        """Disconnect a client whose place somebody else needs."""
        if isinstance(client, Client):
            self._murmur.note("sent-away", client.origin, f"{client.name or client.link.peer} was sent away: {why}")
            self.error(client.link, FULL, why)
            client.link.close()
            self.closed(client.link)

    def _replace(self, name: str) -> None:
        """Make room for somebody who has proved to be ``name``: a connection may be dead without our knowing."""
        old = self._by_name.get(fold_name(name))
        if old is not None:
            self.error(old.link, REPLACED, f"{name} has logged in again on another connection")
            old.link.close()
            self.closed(old.link)

    def _without_login(self, client: Client) -> None:
        if client.name or not client.link.open:
            return
        if not client.link.ready:
            client.link.close()
        elif self._guests:
            self._admit(client, self._guest_name())
            self._murmur.note("no-login", client.origin, f"{client.name} from {client.link.peer} {self._no_login()}")
        else:
            self._murmur.note("no-login", client.origin, f"{client.link.peer} {self._no_login()}: disconnected")
            self.error(client.link, SECRET_NEEDED, f"no login within {self._seconds:g} s, and no guests here")
            client.link.close()

    def _no_login(self) -> str:
        return f'sent no LOGIN within {self._seconds:g} s: a client begins with {{"key": "LOGIN", "secret": ...}}'

    def _guest_name(self) -> str:
        while True:
            self._guest_number += 1
            name = f"guest-{self._guest_number}"
            if self._is_free(name) and self._matchmaking.spelling(name) is None:
                return name

    def _free(self, wanted: str) -> str:
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

    def _admit(self, client: Client, name: str, login: Message | None = None) -> None:
        if client.timer is not None:
            client.timer.cancel()
        if client.guest and (why := self._capacity.stay(client)):
            self._murmur.note(FULL, client.origin, f"{client.link.peer} was refused: {why}")
            self.error(client.link, FULL, why)
            client.link.close()
            return
        client.name = name
        client.original = self._wire.original_login(login)
        self._by_name[fold_name(name)] = client
        if not client.original:
            client.tell(line(self._wire.welcome_message(name, self._matchmaking.rating(name))))
        table, seat = self._left.pop(fold_name(name), (None, 0))
        if table is not None and table.retake(seat, client):
            client.table, client.seat = table, seat
            self._log(f"game {table.number + 1}: {name} is back")
        else:
            self._wait(client)

    def _wait(self, client: Client, pause: float = 0.0) -> None:
        client.since = asyncio.get_running_loop().time() + pause
        self._matchmaking.fill()
