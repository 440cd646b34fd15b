"""The lobby: logs clients in, receives their messages, seats them at tables, and rates their games.

Nothing here waits: each message is processed in the call that delivers it.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.games.yatzy import protocol
from dicegym.games.yatzy.protocol import Message
from dicegym.server.admission import Secrets, copy_names, fold_name, name_fault
from dicegym.server.client_limits import ThrottledLog
from dicegym.server.game_results import GameResult
from dicegym.server.game_table import Client, Seat, Table, find_company
from dicegym.server.local_agents import LocalAgent
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import (
    BAD_NAME,
    FULL,
    NOT_YOUR_TURN,
    REPLACED,
    SECRET_NEEDED,
    STOPPED,
    WRONG_SECRET,
    Malformed,
    encode,
)

if TYPE_CHECKING:
    from dicegym.server.client_connections import Connection
    from dicegym.server.result_store import ResultStore

WRONG_SECRETS = 3  # number of wrong secrets after which a client is disconnected


class Lobby:
    """All clients and all games of a server.

    The game's number of players is that of the seats at a table. Game i of a run is ``game.new_game(seed, i)``.

    Attributes:
        clients: connection -> client, in order of arrival.
        tables: games in progress.
        turns: number of commands played so far.
        finished: number of games finished and stored.
        done: done when no more games will be played; it has the error that prevents them, if any.
    """

    def __init__(
        self,
        game: Game,
        seed: int,
        agents: Sequence[LocalAgent],
        store: ResultStore,
        settings: ServerSettings,
        secrets: Secrets,
        log: Callable[[str], None],
    ) -> None:
        self.clients: dict[Connection, Client] = {}
        self.tables: set[Table] = set()
        self.turns = self.finished = 0
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self._game, self._seed, self._store, self._log = game, seed, store, log
        self._settings, self._secrets = settings, secrets
        self._agents = list(agents)
        self._reserved = frozenset(fold_name(agent.name) for agent in agents)
        # One log for each kind of line: a crowd that sends no LOGIN must not hide who is refused or disconnected.
        self._throttled, self._guesses, self._silent = ThrottledLog(log), ThrottledLog(log), ThrottledLog(log)
        self._by_name: dict[str, Client] = {}  # by folded name
        self._free: dict[Client, None] = {}  # logged-in clients without a table
        self._left: dict[str, tuple[Table, int]] = {}  # seats that clients have left, by folded name
        self._guest_numbers = itertools.count(1)
        self._rested: bool | None = None  # `resting` as last logged
        self._begun = 0
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None  # of the next `fill`
        self._idle_since = self._loop.time()

    @property
    def named(self) -> Collection[Client]:
        """All clients that have logged in."""
        return self._by_name.values()

    @property
    def resting(self) -> bool:
        """Whether no game will begin until a remote bot comes."""
        return not self._settings.always and not self.named

    def stop_opening(self) -> None:
        """Begin no more games."""
        self._closed = True

    def close(self) -> None:
        """Leave the games in progress unfinished, and disconnect everybody."""
        unfinished = [table for table in self.tables if not table.over]
        for table in unfinished:
            table.stop()
        if unfinished:
            self._log(f"{len(unfinished)} games in progress are left unfinished and not rated")
        wanted, why = self._settings.games, "the server stops: games in progress are not rated"
        if wanted and self.finished == wanted:
            why = f"the server has played its {wanted} games and stops"
        for client in list(self.clients.values()):
            self._dismiss(client, STOPPED, why)

    # --- clients

    def enter(self, connection: Connection) -> None:
        """Serve a new client until its connection is lost."""
        client = Client(connection)
        if len(self.clients) >= self._settings.connections:
            why = f"the server is full with {self._settings.connections} connections: try later"
            self._throttled.note(f"{connection.peer} was sent away: {why}")
            self._dismiss(client, FULL, why)
            return
        self.clients[connection] = client
        connection.hear = functools.partial(self._log_in, client)
        connection.lost = functools.partial(self._forget, client)
        client.deadline = self._loop.call_later(self._settings.login, self._without_login, client)

    def _hear(self, client: Client, message: Message | Malformed) -> None:
        """Pass a message to the client's table."""
        client.stirred = True
        if client.table is None:
            wait = f"you are {client.name} and wait for a game: it is not your turn yet"
            client.refuse(*(message if isinstance(message, Malformed) else (NOT_YOUR_TURN, wait)))
        elif client.table.command(client.seat, message):
            client.connection.refund()

    def _dismiss(self, client: Client, code: str, text: str) -> None:
        """Send a client the reason, disconnect it, and free its place."""
        client.refuse(code, text)
        client.connection.close()
        self._forget(client)

    def _forget(self, client: Client) -> None:
        """Remove a disconnected client."""
        client.connection.open = False
        client.stop_login()
        name = fold_name(client.name)
        if self._by_name.get(name) is client:
            del self._by_name[name]
        self._free.pop(client, None)
        if self.clients.pop(client.connection, None) is None:
            return
        if client.table is not None:
            table, client.table = client.table, None
            if not table.over:
                self._left[name] = table, client.seat
            table.leave_seat(client.seat)
        self._fill_after(0)

    # --- logging in

    def _without_login(self, client: Client) -> None:
        """Admit a silent client as a guest, or disconnect it if there are no guests or no handshake."""
        peer, seconds = client.connection.peer, f"{self._settings.login:g} s"
        no_login = f'sent no LOGIN within {seconds}: a client begins with {{"key": "LOGIN", "secret": ...}}'
        if self._settings.allows_guests and client.connection.ready:
            self._admit(client, self._guest_name())
            self._silent.note(f"{client.name} from {peer} {no_login}")
        else:
            self._silent.note(f"{peer} {no_login}: disconnected")
            why = "" if self._settings.allows_guests else ", and this server takes no guests"
            self._dismiss(client, SECRET_NEEDED, f"no login within {seconds}{why}")

    def _log_in(self, client: Client, message: Message | Malformed) -> None:
        """Process a message of a client that has not logged in."""
        if isinstance(message, Malformed):
            client.refuse(*message)
            return
        try:
            wanted, secret = protocol.login_of(message)
        except protocol.CommandError as error:
            client.refuse(error.code, str(error))
            return
        if secret is None or not self._secrets:
            self._admit_guest(client, wanted, message)
        else:
            self._check_secret(client, wanted, secret, message)

    def _check_secret(self, client: Client, wanted: str | None, secret: str, login: Message) -> None:
        """Admit a client whose secret is right; disconnect one that was wrong too often."""
        owner = self._secrets.owner(secret)
        if owner is not None and (wanted is None or fold_name(wanted) == fold_name(owner)):
            if (old := self._by_name.get(fold_name(owner))) is not None:  # it may be dead unnoticed
                self._dismiss(old, REPLACED, f"{owner} has logged in again on another connection")
            client.guest = False
            self._admit(client, owner, login)
            return
        client.wrong += 1
        self._guesses.note(f"wrong secret from {client.connection.peer}")
        refuse = client.refuse if client.wrong < WRONG_SECRETS else functools.partial(self._dismiss, client)
        refuse(WRONG_SECRET, "wrong secret, or not that of the name")

    def _admit_guest(self, client: Client, wanted: str | None, login: Message) -> None:
        if wanted in self._secrets:
            client.refuse(SECRET_NEEDED, f"{wanted} plays here with a secret: add it to the LOGIN")
        elif not self._settings.allows_guests:
            client.refuse(SECRET_NEEDED, "this server takes no guests: log in with a secret")
        elif wanted is not None and (fault := name_fault(wanted)):
            client.refuse(BAD_NAME, fault)
        elif wanted is None:
            self._admit(client, self._guest_name(), login)
        else:  # by its earlier spelling, with a number if another client has that name
            self._admit(client, next(filter(self._is_free, map(self._spelling, copy_names(wanted)))), login)

    def _guest_name(self) -> str:
        names = (f"guest-{number}" for number in self._guest_numbers)
        return next(name for name in names if self._is_free(name) and self._store.spelling(name) is None)

    def _spelling(self, wanted: str) -> str:
        if (left := self._left.get(fold_name(wanted))) is not None:
            table, seat = left
            return table.seats[seat].name
        return self._store.spelling(wanted) or wanted

    def _is_free(self, name: str) -> bool:
        folded = fold_name(name)
        return name not in self._secrets and folded not in self._by_name and folded not in self._reserved

    def _admit(self, client: Client, name: str, login: Message | None = None) -> None:
        """Give a client its name, and its seat if it has left a game in progress."""
        client.stop_login()
        client.name, client.original = name, protocol.original_login(login)
        client.connection.hear = functools.partial(self._hear, client)
        self._by_name[fold_name(name)] = client
        if not client.original:
            client.tell(encode(protocol.welcome_message(name, self._rating(name))))
        table, seat = self._left.pop(fold_name(name), (None, 0))
        if table is not None and table.retake(seat, client):
            client.table, client.seat = table, seat
            self._log(f"game {table.number + 1}: {name} is back")
        else:
            self._wait(client)

    def _rating(self, name: str) -> int:
        """Return the rating of a name as shown, a whole number."""
        return round(self._store.rating(name).rating)

    # --- tables

    def _wait(self, client: Client, pause: float = 0.0) -> None:
        client.since = self._loop.time() + pause
        self._free[client] = None
        self._fill_after(0)

    def fill(self) -> None:
        """Open as many tables as waiting clients and agents can fill."""
        self._timer = None
        rested, self._rested = self._rested, self.resting
        if self._closed:
            return
        if self._rested and not rested:
            self._log("no remote bot is here: the server rests until one comes")
        elif rested and not self._rested:
            self._log("a remote bot is here: the server continues")
        while self._may_begin() and (found := self._next()) is not None:
            self._open(*found)
        waits = any(client.waits or client.resting for client in self._free)
        if self._may_begin() and (waits or (self._settings.always and len(self._local()) >= self._game.players)):
            self._fill_after(max(min(self._settings.gather, self._settings.pause), 0.01))

    def _fill_after(self, seconds: float) -> None:
        """Call `fill` after some seconds, or earlier; 0: when all events of this moment are processed."""
        due = self._loop.time() + seconds
        if self._timer is None or due < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(due, self.fill)

    def _may_begin(self) -> bool:
        return not self._settings.games or self._begun < self._settings.games

    def _local(self) -> list[LocalAgent]:
        return [agent for agent in self._agents if not agent.retired]

    def _next(self) -> tuple[list[Client], int] | None:
        """Return the remote bots of the next game, and its number of local agents; None: no game can begin."""
        players, local, patience = self._game.players, len(self._local()), self._settings.gather
        if self.resting:
            return None
        if not self.named:  # only agents, one table at a time
            rested = self._loop.time() - self._idle_since >= patience
            return ([], players) if local >= players and not self.tables and rested else None
        waiting = [client for client in self._free if client.waits]
        expected = len(self.clients) - len(waiting)
        remote = find_company(waiting, players, local, expected, self._loop.time(), patience)
        return None if remote is None else (remote, players - len(remote))

    def _open(self, clients: list[Client], local: int) -> None:
        number, self._begun = self._begun, self._begun + 1
        agents = self._local()[:local]
        for agent in agents:  # take turns
            self._agents.remove(agent)
            self._agents.append(agent)
        seats = [Seat(one.name, self._rating(one.name), remote=one, known=not one.guest) for one in clients]
        seats += [Seat(agent.name, self._rating(agent.name), local=agent) for agent in agents]
        ordered = [seats[i] for i in seating(game_key(self._seed, number), len(seats))]
        seconds, calls = self._settings.answer, (self._count_turn, self._rate, self._log)
        table = Table(self._game, number, self._seed, ordered, seconds, *calls)
        names = frozenset(client.name for client in clients)
        for index, seat in enumerate(ordered):
            if (client := seat.remote) is not None:
                del self._free[client]
                client.table, client.seat, client.last = table, index, names
                client.met.update(dict.fromkeys(names - {client.name}, number))
        self.tables.add(table)
        table.begin()

    def _count_turn(self) -> None:
        self.turns += 1

    # --- results

    def _rate(self, table: Table) -> None:
        """Rate a finished game; announce the result when it is stored."""
        names = [seat.name for seat in table.seats]
        totals = protocol.totals_of(table.game, table.state)
        places = self._store.rate(names, totals, [seat.counts for seat in table.seats])
        seconds = self._loop.time() - table.began
        result = GameResult(table.number, table.seed, seconds, tuple(table.actions), places, tuple(table.incidents))
        self._store.keep(result).add_done_callback(lambda done: self._tell(table, result, done))

    def _tell(self, table: Table, result: GameResult, done: asyncio.Future[None]) -> None:
        """Announce the result of a game, and make its clients wait for the next one."""
        self.tables.discard(table)
        if (error := done.exception()) is not None:
            if not self.done.done():
                self.done.set_exception(error)
            return
        ratings = [round(place.after) for place in result.places]
        names = [place.name for place in result.places]
        table.tell(encode(protocol.final_message(table.game, table.state, names, ratings)))
        results = (
            f"{place.name} {place.total} ({round(place.after)}{'' if place.rated else ', not rated'})"
            for place in sorted(result.places, key=lambda place: place.place)
        )
        self._log(f"game {table.number + 1}: {', '.join(results)}")
        self.finished += 1
        self._idle_since = self._loop.time()
        self._left = {name: left for name, left in self._left.items() if left[0] is not table}
        if self.finished == self._settings.games and not self.done.done():
            self.done.set_result(None)
        for client in [seat.remote for seat in table.seats if seat.remote is not None]:
            client.table = None
            if table.has_given_up(client.seat) and not client.stirred:
                self._dismiss(client, STOPPED, "you did not answer: connect again to play")
            else:
                self._wait(client, self._settings.pause)
        self._fill_after(0)
