"""Clients, and one game of theirs: its seats, the player to move, and what the rules make of what clients send."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dicegym.engine.dice import private_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.server.admission import origin_of
from dicegym.server.game_results import ForcedTurn
from dicegym.server.local_agents import LocalAgent
from dicegym.server.wire import NOT_YOUR_TURN, Malformed, Message, Wire, encode

if TYPE_CHECKING:
    from dicegym.server.client_connections import Connection


class Client:
    """A client, from its connection on."""

    def __init__(self, wire: Wire, connection: Connection) -> None:
        self._wire = wire
        self.connection = connection
        self.tell = connection.send
        self.origin = origin_of(connection.address)
        self.name = ""
        self.guest = True  # until it has shown a secret
        self.original = False  # shown the table when it is to move, and nothing else, as the original server does
        self.table: Table | None = None
        self.seat = 0
        self.since = 0.0  # the time from which on it waits
        self.met: dict[str, int] = {}  # names of those it has met, with the number of the last common game
        self.last: frozenset[str] = frozenset()  # the names of all remote bots at its last table
        self.stirred = True  # False once the server has played a turn for it: it may be asleep
        self.moved = False  # whether it has ever made a move
        self.wrong = 0  # secrets
        self.deadline: asyncio.TimerHandle | None = None  # to log in

    @property
    def waits(self) -> bool:
        """Whether it is to be seated."""
        return bool(self.name) and self.table is None and not self.resting and self.connection.open

    @property
    def resting(self) -> bool:
        """Whether its last game has just ended."""
        return asyncio.get_running_loop().time() < self.since

    def refuse(self, code: str, text: str) -> None:
        """Send an ERROR, unless it is a client of the original."""
        if not self.original:
            self.tell(encode(self._wire.error_message(code, text)))


def find_company(
    waiting: Sequence[Client], players: int, local: int, expected: int, now: float, patience: float
) -> list[Client] | None:
    """Return the remote bots that play the next game, None if it is better to wait.

    The bot that waits longest plays next, against those it has met longest ago or never, then against those that wait
    longest. Local agents fill the seats that are left. A bot waits at most ``patience`` for more remote bots, or for
    others than in its last game, and not at all if no more are expected.

    There are ``local`` agents, and ``expected`` more remote bots that are connected and may soon wait too.
    """
    if not waiting:
        return None
    first, *others = sorted(waiting, key=lambda bot: bot.since)
    others.sort(key=lambda bot: (first.met.get(bot.name, -1), bot.since))
    remote = [first, *others[: players - 1]]
    free = players - len(remote)
    if free > local:
        return None
    if expected and now - first.since < patience and (free or {bot.name for bot in remote} == first.last):
        return None
    return remote


@dataclass(slots=True, eq=False)
class Seat:
    """Whom a table has in one seat; a remote bot that is gone leaves None."""

    name: str
    rating: int
    remote: Client | None = None
    local: LocalAgent | None = None
    known: bool = True
    """As an owner of a secret or an agent of the server, not as a guest."""
    moved: bool = False
    """Whether it has made a move of its own."""
    decisions: int = 1
    """The number of the next one."""

    @property
    def taken(self) -> bool:
        """Whether anybody is there to answer."""
        return self.local is not None or (self.remote is not None and self.remote.connection.open)

    @property
    def counts(self) -> bool:
        """Whether its game is rated: guests have to make a move of their own first."""
        return self.known or self.moved


class Table:
    """A game in progress; all methods return at once.

    The seats are in playing order, and each has ``seconds`` for an answer. ``changed`` is called after each command
    that changed something, ``ended`` when the game is over.

    Raises ParameterError if the rules do not say what the server does for a player that does not answer.
    """

    def __init__(
        self,
        wire: Wire,
        game: Game,
        number: int,
        seed: int,
        seats: Sequence[Seat],
        seconds: float,
        changed: Callable[[], None],
        ended: Callable[[Table], None],
        log: Callable[[str], None],
    ) -> None:
        if game.spec.forfeit is None:
            raise ParameterError(f"{game.spec.title} cannot be served: its rules have no forfeit for silent players")
        self.game = game
        self.number = number
        self.seed = seed
        self.seats = list(seats)
        self.actions: list[int] = []
        self._fault = 0  # of the last action
        self.incidents: list[ForcedTurn] = []
        self.over = False
        self._wire = wire
        self._forfeit = game.spec.forfeit
        self._step = game.spec.kernels.step
        states = game.new_game(seed, number)
        self.state = states[0]
        self.key = int(self.state["key"])
        self._player, self._ended = states["player"], states["over"]  # views: cheaper to read than the record
        self.mover = int(self._player[0])
        self._names = [seat.name for seat in seats]
        self._ratings = [seat.rating for seat in seats]
        self._seconds = seconds
        self._changed = changed
        self._when_ended = ended
        self._log = log
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._shown = b""

    def begin(self) -> None:
        """Show everybody the table."""
        self._timer = self._loop.call_later(self._seconds, self._look)
        self._advance()

    def stop(self) -> None:
        """Leave the game unfinished."""
        self.over = True
        self._tidy()

    def command(self, seat: int, message: object) -> bool:
        """Take what the bot in ``seat`` has sent; return whether it was a move."""
        if self.over or seat != self.mover:
            self._refuse(seat, NOT_YOUR_TURN, self._not_now(seat))
            return False
        try:
            action = self._wire.action_of(message)
        except self._wire.CommandError as error:
            return self._play(self._wire.UNREADABLE, error)
        return self._play(action)

    def unreadable(self, seat: int, wrong: Malformed) -> None:
        """Take note that the bot in ``seat`` has sent something that cannot be read as a message."""
        if self.over or seat != self.mover:
            self._refuse(seat, *wrong)
        else:
            self._play(self._wire.UNREADABLE, wrong)

    def leave_seat(self, seat: int) -> None:
        """Take note that the bot in ``seat`` is gone."""
        self.seats[seat].remote = None
        if not self.over and seat == self.mover:
            self._advance(self._play_for_mover("lost its connection"))

    def retake(self, seat: int, remote: Client) -> bool:
        """Give a seat that was left back to its bot, unless the server already plays for it to the end."""
        if self.over or self.seats[seat].remote is not None or self._wire.has_given_up(self.state, seat):
            return False
        self.seats[seat].remote = remote
        self._show(seat)
        return True

    def has_given_up(self, seat: int) -> bool:
        """Return whether the server plays the rest of the game for a seat."""
        return self._wire.has_given_up(self.state, seat)

    def take_answer(self, seat: int, answer: int | str) -> None:
        """Take the action of the local agent in ``seat``, or why it failed."""
        if self.over or seat != self.mover:
            return
        if isinstance(answer, str):
            self._advance(self._play_for_mover(answer))
        else:
            self._play(self._wire.UNREADABLE if answer == self._forfeit else answer)

    def tell(self, data: bytes) -> None:
        """Send a message to every remote bot except clients of the original, which hear of their own turns alone."""
        for seat in self.seats:
            if seat.remote is not None and not seat.remote.original:
                seat.remote.tell(data)

    def _show(self, seat: int) -> None:
        """Show the table to the remote bot in a seat, if there is one that is to see it now."""
        remote = self.seats[seat].remote
        if remote is None:
            return
        if not remote.original:
            remote.tell(self._shown)
        elif seat == self.mover and not self._ended[0]:
            remote.tell(encode(self._wire.as_original(self._message(self.state))))

    def _not_now(self, seat: int) -> str:
        if self.over:
            return "the game is over"
        if self._wire.has_given_up(self.state, seat):
            return "the server plays the rest of this game for you, as you let it play twice"
        return f"it is the turn of {self._names[self.mover]}"

    def _refuse(self, seat: int, code: str, text: str) -> None:
        if (remote := self.seats[seat].remote) is not None:
            remote.refuse(code, text)

    def _play(self, action: int, error: Any = None) -> bool:
        """Let the player to move do ``action``, an error if ``error`` says so; return whether it was a move."""
        mover = self.mover
        seat = self.seats[mover]
        between = self._do(action)
        fault = self._fault
        if fault:
            error = error or self._wire.fault_error(int(fault))
            self._refuse(mover, error.code, error.message)
            if encode(self._message(self.state)) == self._shown:
                if seat.local is not None:
                    self._ask(seat)
                elif seat.remote is not None and seat.remote.original:  # it is told by being asked again
                    self._show(mover)
                return False
            self._note(mover, f"made too many errors, the last: {error.message}")
        else:
            seat.moved = True
        seat.decisions += 1
        self._changed()
        self._advance(between)
        return not fault

    def _play_for_mover(self, reason: str) -> Sequence[Any]:
        """Play the turn of the player to move; return the tables that this led through."""
        mover = self.mover
        self._note(mover, reason)
        self.seats[mover].decisions += 1
        between = self._do(self._forfeit)
        self._changed()
        return between

    def _do(self, action: int) -> Sequence[Any]:
        """Let the rules carry out an action; return the tables that it led through."""
        between = self._wire.interludes(self.game, self.state, action)
        self.actions.append(action)
        self._fault = int(self._step(self.state, action))
        self.mover = int(self._player[0])
        return between

    def _note(self, mover: int, reason: str) -> None:
        seat = self.seats[mover]
        self.incidents.append(ForcedTurn(mover, seat.decisions, reason))
        if seat.remote is not None:
            seat.remote.stirred = False
        self._log(f"game {self.number + 1}: {seat.name} {reason} (its decision {seat.decisions}): the turn is played")

    def _message(self, state: Any) -> Message:
        return self._wire.standing_message(self.game, state, self._names, self._ratings)

    def _advance(self, between: Sequence[Any] = ()) -> None:
        """Show what has changed and wait for the next command; the server plays for absent players.

        ``between`` are tables that the last change led through: everybody sees the turns of those who have given up.
        """
        while True:
            for state in between:
                self.tell(encode(self._message(state)))
            if self._ended[0]:
                break
            self._shown = encode(self._message(self.state))
            self.tell(self._shown)
            seat = self.seats[self.mover]
            if seat.remote is not None and seat.remote.original:
                self._show(self.mover)
            if seat.local is not None:
                self._ask(seat)
            if seat.taken:
                self._deadline = self._loop.time() + self._seconds
                return
            between = self._play_for_mover("has no connection")
        self.over = True
        self._tidy()
        self._when_ended(self)

    def _ask(self, seat: Seat) -> None:
        if seat.local is not None:
            answered = functools.partial(self.take_answer, self.mover)
            seat.local.ask(self.number, self.mover, self.state.copy(), private_seed(self.key, self.mover), answered)

    def _look(self) -> None:
        """See whether the player to move has exceeded its time; local agents are timed by their process."""
        wait = self._deadline - self._loop.time()
        if wait <= 0:
            wait = self._seconds
            if self.seats[self.mover].local is None:
                self._advance(self._play_for_mover(f"gave no answer in {self._seconds:g} s"))
                if self.over:
                    return
        self._timer = self._loop.call_later(wait, self._look)

    def _tidy(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for seat in self.seats:
            if seat.local is not None:
                seat.local.close(self.number)
