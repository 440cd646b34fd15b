"""The games of a server: opens tables for those who wait, rates what is played, and stores it before telling it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.server.agents import LocalAgent
from dicegym.server.ledger import UNKNOWN, Ledger
from dicegym.server.lobby import Client, Lobby
from dicegym.server.results import GameResult
from dicegym.server.seating import Waiting, company
from dicegym.server.table import Seat, Table
from dicegym.server.wire import Wire


class Matchmaker:
    """Opens a table whenever one can be filled.

    Args:
        wire: the messages.
        game: the game, with as many players as a table has.
        seed: of the run: its game number i is ``game.new_game(seed, i)``.
        agents: the local agents.
        ledger: ratings and results.
        games: after so many finished games no more is begun; 0: there is no end.
        answer: seconds to answer.
        gather: seconds for which a bot waits for others to come.
        look: seconds after which to look again whether a table can be filled.
        always: whether local agents play each other while no remote bot is there; else the server rests.
        log: takes lines for the operator.

    Attributes:
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
        ledger: Ledger,
        games: int,
        answer: float,
        gather: float,
        look: float,
        always: bool,
        log: Callable[[str], None],
    ) -> None:
        self.tables: set[Table] = set()
        self.turns = 0
        self.finished = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ledger = ledger
        ledger.failed = self._give_up
        self._wire = wire
        self._game = game
        self._seed = seed
        self._agents = list(agents)
        self._games = games
        self._answer = answer
        self._gather = gather
        self._look = look
        self._always = always
        self._log = log
        self._rested: bool | None = None  # what the operator was told last
        self._begun = 0
        self._closed = False
        self._filling = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._idle_since = self._loop.time()

    def rating(self, name: str) -> int:
        """Return the rating of a name as it is shown, a whole number."""
        return round(self.ledger.ratings.get(name, UNKNOWN).rating)

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""
        return self.ledger.spelling(name)

    @property
    def resting(self) -> bool:
        """Whether no game will begin before a remote bot comes."""
        return not self._always and not self.lobby.named

    def fill(self) -> None:
        """Open tables for those who wait, as many as can be filled."""
        self._tell_of_rest()
        if self._filling:  # opening a table can disconnect somebody
            return
        self._filling = True
        try:
            while self._may_begin() and (found := self._next()) is not None:
                self._open(*found)
        finally:
            self._filling = False
        if self._timer is None and self._may_begin() and self._somebody():
            self._timer = self._loop.call_later(self._look, self._look_again)

    def _tell_of_rest(self) -> None:
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
        return not self._closed and (not self._games or self._begun < self._games)

    def _somebody(self) -> bool:
        """Return whether waiting alone may fill a table."""
        return any(client.waits or client.resting for client in self.lobby.named) or (
            self._always and len(self._local()) >= self._game.players
        )

    def _local(self) -> list[LocalAgent]:
        return [agent for agent in self._agents if not agent.retired]

    def _next(self) -> tuple[list[Client], int] | None:
        """Return who sits down next: remote bots, and how many local agents."""
        players, local = self._game.players, len(self._local())
        clients = {client.name: client for client in self.lobby.named if client.waits}
        if self.resting:
            return None
        if not self.lobby.named:  # agents among themselves, a table at a time
            rested = self._loop.time() - self._idle_since >= self._gather
            return ([], players) if local >= players and not self.tables and rested else None
        expected = sum(not client.asleep and not client.waits for client in self.lobby.clients.values())
        waiting = [Waiting(client.name, client.since, client.met, client.last) for client in clients.values()]
        found = company(waiting, players, local, expected, self._loop.time(), self._gather)
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
            self._answer,
            self._turned,
            self._ended,
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

    def _turned(self) -> None:
        self.turns += 1

    def _ended(self, table: Table) -> None:
        """Rate a game; what it came to is told when it is stored."""
        names = [seat.name for seat in table.seats]
        totals = self._wire.totals_of(table.game, table.state)
        places = self.ledger.rate(names, totals, [seat.counts for seat in table.seats])
        seconds = self._loop.time() - table.began
        result = GameResult(table.number, table.seed, seconds, tuple(table.actions), places, tuple(table.incidents))
        self.ledger.write(result).add_done_callback(lambda done: self._stored(table, result, done))

    def _stored(self, table: Table, result: GameResult, done: asyncio.Future[None]) -> None:
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
        if self.finished == self._games and not self.done.done():
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
