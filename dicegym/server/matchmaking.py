"""The games of a server: opens tables for those who wait, rates what is played, and stores it before telling it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.server.agents import LocalAgent
from dicegym.server.lobby import Client, Lobby
from dicegym.server.results import GameResult
from dicegym.server.settings import ServerSettings
from dicegym.server.table import Seat, Table
from dicegym.server.wire import Wire

if TYPE_CHECKING:
    from dicegym.server.store import ResultStore


class Waiting(NamedTuple):
    """A remote bot that waits for a game."""

    name: str
    since: float
    """When it began to wait, in seconds of some clock."""
    met: Mapping[str, int]
    """Names of those it has met, with the number of the last common game; larger is later."""
    last: frozenset[str]
    """The names of all remote bots at its last table, its own included."""


class Company(NamedTuple):
    """Who sits down together."""

    remote: tuple[str, ...]
    local: int
    """Seats left for local agents."""


def find_company(
    waiting: Sequence[Waiting], players: int, local: int, expected: int, now: float, patience: float
) -> Company | None:
    """Return who plays the next game, None if it is better to wait.

    Who waits longest plays next, against those it has met longest ago or never, and then those who wait longest.
    Local agents fill what seats are left. Nobody waits longer than ``patience`` for more remote bots, or for others
    than it has just played with, and not at all if there are none to come.

    Args:
        waiting: the remote bots that wait.
        players: seats at a table.
        local: how many local agents there are.
        expected: how many more remote bots are connected and may soon wait too.
        now: the time.
        patience: in seconds.
    """
    if not waiting:
        return None
    first, *others = sorted(waiting, key=lambda bot: bot.since)
    others.sort(key=lambda bot: (first.met.get(bot.name, -1), bot.since))
    remote = tuple(bot.name for bot in (first, *others[: players - 1]))
    free = players - len(remote)
    if free > local:
        return None
    if expected and now - first.since < patience and (free or frozenset(remote) == first.last):
        return None
    return Company(remote, free)


class Matchmaker:
    """Opens a table whenever one can be filled.

    Args:
        wire: the messages.
        game: the game, with as many players as a table has.
        seed: of the run: its game number i is ``game.new_game(seed, i)``.
        agents: the local agents.
        store: ratings and results.
        settings: of the server.
        log: takes lines for the operator.

    Attributes:
        lobby: the clients, set before anything is asked of this.
        store: as given.
        tables: games in progress.
        turns: commands carried out so far.
        finished: games finished and stored.
        done: set when no more games will be played, with the error that prevents it if there is one.
    """

    lobby: Lobby

    def __init__(
        self,
        wire: Wire,
        game: Game,
        seed: int,
        agents: Sequence[LocalAgent],
        store: ResultStore,
        settings: ServerSettings,
        log: Callable[[str], None],
    ) -> None:
        self.tables: set[Table] = set()
        self.turns = 0
        self.finished = 0
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self.store = store
        store.failed = self._give_up
        self._wire = wire
        self._game = game
        self._seed = seed
        self._agents = list(agents)
        self._settings = settings
        self._look = max(min(settings.gather, settings.pause), 0.01)  # seconds until the next look for who waits
        self._log = log
        self._rested: bool | None = None  # what the operator was told last
        self._begun = 0
        self._closed = False
        self._filling = False
        self._timer: asyncio.TimerHandle | None = None
        self._idle_since = self._loop.time()

    def rating(self, name: str) -> int:
        """Return the rating of a name as it is shown, a whole number."""
        return round(self.store.rating(name).rating)

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""
        return self.store.spelling(name)

    @property
    def resting(self) -> bool:
        """Whether no game will begin before a remote bot comes."""
        return not self._settings.always and not self.lobby.named

    def fill(self) -> None:
        """Open tables for those who wait, as many as can be filled."""
        self._log_rest()
        if self._filling:  # opening a table can disconnect somebody
            return
        self._filling = True
        try:
            while self._may_begin() and (found := self._next()) is not None:
                self._open(*found)
        finally:
            self._filling = False
        if self._timer is None and self._may_begin() and self._may_fill_later():
            self._timer = self._loop.call_later(self._look, self._look_again)

    def _log_rest(self) -> None:
        resting = self.resting
        if resting != self._rested and not self._closed:
            if resting:
                instead = " (its own agents play each other with --always)" if self._agents else ""
                self._log(f"no remote bot is here: the server rests until one comes{instead}")
            elif self._rested:
                self._log("a remote bot is here: the server goes on")
        self._rested = resting

    def _look_again(self) -> None:
        self._timer = None
        self.fill()

    def _may_begin(self) -> bool:
        return not self._closed and (not self._settings.games or self._begun < self._settings.games)

    def _may_fill_later(self) -> bool:
        """Return whether waiting alone may fill a table."""
        return any(client.waits or client.resting for client in self.lobby.named) or (
            self._settings.always and len(self._local()) >= self._game.players
        )

    def _local(self) -> list[LocalAgent]:
        return [agent for agent in self._agents if not agent.retired]

    def _next(self) -> tuple[list[Client], int] | None:
        """Return who sits down next: remote bots, and how many local agents."""
        players, local, patience = self._game.players, len(self._local()), self._settings.gather
        clients = {client.name: client for client in self.lobby.named if client.waits}
        if self.resting:
            return None
        if not self.lobby.named:  # agents among themselves, a table at a time
            rested = self._loop.time() - self._idle_since >= patience
            return ([], players) if local >= players and not self.tables and rested else None
        expected = sum(not client.asleep and not client.waits for client in self.lobby.clients.values())
        waiting = [Waiting(client.name, client.since, client.met, client.last) for client in clients.values()]
        found = find_company(waiting, players, local, expected, self._loop.time(), patience)
        return None if found is None else ([clients[name] for name in found.remote], found.local)

    def _open(self, clients: list[Client], local: int) -> None:
        number, self._begun = self._begun, self._begun + 1
        agents = self._local()[:local]
        for agent in agents:  # next time it is others' turn
            self._agents.remove(agent)
            self._agents.append(agent)
        seats = [
            Seat(client.name, self.rating(client.name), remote=client, known=not client.guest) for client in clients
        ]
        seats += [Seat(agent.name, self.rating(agent.name), local=agent) for agent in agents]
        order = seating(game_key(self._seed, number), len(seats))
        table = Table(
            self._wire,
            self._game,
            number,
            self._seed,
            [seats[i] for i in order],
            self._settings.answer,
            self._count_turn,
            self._rate,
            self._log,
        )
        names = frozenset(client.name for client in clients)
        for seat, i in enumerate(order):
            if i < len(clients):
                client = clients[i]
                client.table, client.seat, client.last = table, seat, names
                client.met.update(dict.fromkeys(names - {client.name}, number))
        self.tables.add(table)
        table.begin()

    def _count_turn(self) -> None:
        self.turns += 1

    def _rate(self, table: Table) -> None:
        """Rate a game that has ended; what it came to is told when it is stored."""
        names = [seat.name for seat in table.seats]
        totals = self._wire.totals_of(table.game, table.state)
        places = self.store.rate(names, totals, [seat.counts for seat in table.seats])
        seconds = self._loop.time() - table.began
        result = GameResult(table.number, table.seed, seconds, tuple(table.actions), places, tuple(table.incidents))
        self.store.keep(result).add_done_callback(lambda done: self._tell(table, result, done))

    def _tell(self, table: Table, result: GameResult, done: asyncio.Future[None]) -> None:
        """Tell everybody what a game has come to, and seat them again."""
        self.tables.discard(table)
        if done.exception() is not None:  # of which `_give_up` hears
            return
        ratings = [round(place.after) for place in result.places]
        table.tell(self._wire.final_message(table.game, table.state, [place.name for place in result.places], ratings))
        ranking = sorted(result.places, key=lambda place: place.place)
        told = ", ".join(
            f"{place.name} {place.total} ({round(place.after)}{'' if place.rated else ', not rated'})"
            for place in ranking
        )
        self._log(f"game {table.number + 1}: {told}")
        self.finished += 1
        self._idle_since = self._loop.time()
        self.lobby.forget(table)
        if self.finished == self._settings.games and not self.done.done():
            self.done.set_result(None)
        self._filling = True  # all of the table wait before any of them is seated
        for client in list(self.lobby.named):
            if client.table is table:
                self.lobby.take_back(client, table)
        self._filling = False
        self.fill()

    def _give_up(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def stop_opening(self) -> None:
        """Begin no more games."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def leave(self) -> int:
        """Leave the games in progress unfinished; return how many there were."""
        unfinished = [table for table in self.tables if not table.over]
        for table in unfinished:
            table.stop()
        return len(unfinished)
