"""Clients, and one of their games: its seats, the player to move, and how the rules apply to clients' messages."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dicegym.engine.dice import private_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.yatzy import protocol
from dicegym.games.yatzy.protocol import Message
from dicegym.server.game_results import ForcedTurn
from dicegym.server.local_agents import LocalAgent
from dicegym.server.wire import NOT_YOUR_TURN, Malformed, encode

if TYPE_CHECKING:
    from dicegym.server.client_connections import Connection


class Client:
    """A connected client."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.tell = connection.send
        self.name = ""
        self.guest = True  # logged in without a secret
        self.original = False  # a client of the original server: it receives only the table when it is to move
        self.table: Table | None = None
        self.seat = 0
        self.since = 0.0  # time at which it begins to wait for a game
        self.met: dict[str, int] = {}  # name of an earlier opponent -> number of their last game
        self.last: frozenset[str] = frozenset()  # the names of all remote bots at its last table
        self.stirred = True  # whether it has sent a message since the server last played its turn
        self.wrong = 0  # number of wrong secrets
        self.deadline: asyncio.TimerHandle | None = None  # of the login

    @property
    def waits(self) -> bool:
        """Whether it waits for a game."""
        return bool(self.name) and self.table is None and not self.resting and self.connection.open

    @property
    def resting(self) -> bool:
        """Whether it is in the pause after its last game."""
        return asyncio.get_running_loop().time() < self.since

    def stop_login(self) -> None:
        """End the time to log in."""
        if self.deadline is not None:
            self.deadline.cancel()

    def refuse(self, code: str, text: str) -> None:
        """Send an ERROR, except to a client of the original server."""
        if not self.original:
            self.tell(encode(protocol.error_message(code, text)))


def find_company(
    waiting: Sequence[Client], players: int, local: int, expected: int, now: float, patience: float
) -> list[Client] | None:
    """Return the remote bots of the next game; None if it is better to wait.

    The bot that has waited longest plays next. Its opponents are the bots that it met longest ago or never; among them,
    those that have waited longest. Local agents fill free seats. A bot waits at most ``patience`` for more remote bots,
    or for other opponents than in its last game, and not at all if no more bots are expected.

    ``local`` is the number of agents, ``expected`` that of other connected clients, which may soon wait too.
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
    """The player in one seat; ``remote`` becomes None when a remote bot leaves."""

    name: str
    rating: int
    remote: Client | None = None
    local: LocalAgent | None = None
    known: bool = True  # whether it is the owner of a secret or an agent of the server, not a guest
    moved: bool = False  # whether it has made a move itself
    decisions: int = 1  # number of its next decision, from 1

    @property
    def counts(self) -> bool:
        """Whether its game is rated; guests must make a move first."""
        return self.known or self.moved


class Table:
    """A game in progress; all methods return at once.

    Args:
        game: the game.
        number: index of the game in the server's run, from 0.
        seed: of the run's dice.
        seats: the players in playing order.
        seconds: to answer.
        changed: called after each command that changed the game.
        ended: called when the game is over.
        log: receives lines for the operator.

    Attributes:
        state: the game's record.
        mover: seat of the player to move.
        actions: all actions so far.
        incidents: the turns that the server played.
        over: whether the game has ended, finished or not.

    Raises:
        ParameterError: the rules have no action for a player that does not answer.
    """

    def __init__(
        self,
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
        self.game, self.number, self.seed, self.seats = game, number, seed, list(seats)
        self.actions: list[int] = []
        self.incidents: list[ForcedTurn] = []
        self.over = False
        self._seconds, self._changed, self._when_ended, self._log = seconds, changed, ended, log
        self._forfeit, self._step = game.spec.forfeit, game.spec.kernels.step
        states = game.new_game(seed, number)
        self.state = states[0]
        self._player, self._ended = states["player"], states["over"]  # views are faster to read than the record
        self.mover = int(self._player[0])
        self.key = int(self.state["key"])
        self._names, self._ratings = [seat.name for seat in seats], [seat.rating for seat in seats]
        self._loop = asyncio.get_running_loop()
        self.began = self._deadline = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._shown = b""

    def begin(self) -> None:
        """Show the table to all clients, and ask the first player."""
        self._timer = self._loop.call_later(self._seconds, self._check_time)
        self._show_turn()

    def stop(self) -> None:
        """End the game, finished or not."""
        self.over = True
        if self._timer is not None:
            self._timer.cancel()
        for seat in self.seats:
            if seat.local is not None:
                seat.local.close(self.number)

    def command(self, seat: int, message: Message | Malformed) -> bool:
        """Play a message of the bot in ``seat``, malformed input as an error; return whether it was a move."""
        error: Any = message if isinstance(message, Malformed) else None
        if self.over or seat != self.mover:
            self._refuse(seat, *(error or (NOT_YOUR_TURN, self._not_now(seat))))
            return False
        action = protocol.UNREADABLE
        if error is None:
            try:
                action = protocol.action_of(message)
            except protocol.CommandError as found:
                error = found
        return self._play(action, error=error)

    def take_answer(self, seat: int, answer: int | str) -> None:
        """Play the action of the local agent in ``seat``, or its turn if ``answer`` says why it failed."""
        if self.over or seat != self.mover:
            return
        if isinstance(answer, str):
            self._play(self._forfeit, answer)
        else:
            self._play(protocol.UNREADABLE if answer == self._forfeit else answer)

    def leave_seat(self, seat: int) -> None:
        """Note that the bot in ``seat`` has left."""
        self.seats[seat].remote = None
        if not self.over and seat == self.mover:
            self._play(self._forfeit, "lost its connection")

    def retake(self, seat: int, remote: Client) -> bool:
        """Return a seat to its bot, unless the server plays the rest of the game for it; return whether it did."""
        if self.over or self.seats[seat].remote is not None or self.has_given_up(seat):
            return False
        self.seats[seat].remote = remote
        self._show(seat)
        return True

    def has_given_up(self, seat: int) -> bool:
        """Return whether the server plays the rest of the game for a seat."""
        return protocol.has_given_up(self.state, seat)

    def tell(self, data: bytes) -> None:
        """Send a message to every remote bot except clients of the original, which see only their own turns."""
        for seat in self.seats:
            if seat.remote is not None and not seat.remote.original:
                seat.remote.tell(data)

    def _play(self, action: int, reason: str = "", error: Any = None) -> bool:
        """Play an action of the player to move, then the turns of players that are not there to answer.

        ``reason`` says why the server plays it. ``error`` describes a command that could not be read. An illegal action
        changes nothing until there are too many in a turn; then the rules play the turn. Return whether it was legal.
        """
        mover, seat = self.mover, self.seats[self.mover]
        between = protocol.interludes(self.game, self.state, action)  # turns of players who have given up
        self.actions.append(action)
        fault = int(self._step(self.state, action))
        self.mover = int(self._player[0])
        if fault and not reason:  # the server's own action counts as a fault of the player
            error = error or protocol.fault_error(fault)
            self._refuse(mover, error.code, error.message)
            if encode(self._message(self.state)) == self._shown:
                if seat.local is not None:
                    self._ask(seat.local)
                elif seat.remote is not None and seat.remote.original:  # it learns of the error by this
                    self._show(mover)
                return False
            reason = f"made too many errors, the last: {error.message}"
        if reason:
            self._note(mover, reason)
        else:
            seat.moved = True
        seat.decisions += 1
        self._changed()
        for state in between:
            self.tell(encode(self._message(state)))
        if self._ended[0]:
            self.stop()
            self._when_ended(self)
        else:
            self._show_turn()
        return not fault

    def _show_turn(self) -> None:
        """Show the table, and ask the player to move; play its turn if it is not there to answer."""
        self._shown = encode(self._message(self.state))
        for number in range(len(self.seats)):
            self._show(number)
        seat = self.seats[self.mover]
        self._deadline = self._loop.time() + self._seconds
        if seat.local is not None:
            self._ask(seat.local)
        elif seat.remote is None or not seat.remote.connection.open:
            self._play(self._forfeit, "has no connection")

    def _show(self, seat: int) -> None:
        """Show the table to the remote bot in a seat, if it should see the table now."""
        remote = self.seats[seat].remote
        if remote is None:
            return
        if not remote.original:
            remote.tell(self._shown)
        elif seat == self.mover and not self._ended[0]:
            remote.tell(encode(protocol.as_original(self._message(self.state))))

    def _ask(self, agent: LocalAgent) -> None:
        answered = functools.partial(self.take_answer, self.mover)
        agent.ask(self.number, self.mover, self.state.copy(), private_seed(self.key, self.mover), answered)

    def _check_time(self) -> None:
        """Check the time of the player to move; local agents are timed by their own process."""
        wait = self._deadline - self._loop.time()
        if wait <= 0:
            wait = self._seconds
            if self.seats[self.mover].local is None:
                self._play(self._forfeit, f"gave no answer in {self._seconds:g} s")
        if not self.over:
            self._timer = self._loop.call_later(wait, self._check_time)

    def _note(self, mover: int, reason: str) -> None:
        seat = self.seats[mover]
        self.incidents.append(ForcedTurn(mover, seat.decisions, reason))
        if seat.remote is not None:
            seat.remote.stirred = False
        self._log(f"game {self.number + 1}: {seat.name} {reason} (its decision {seat.decisions}): the turn is played")

    def _not_now(self, seat: int) -> str:
        if self.over:
            return "the game is over"
        if self.has_given_up(seat):
            return "the server plays the rest of this game for you, after playing two of your turns"
        return f"it is the turn of {self._names[self.mover]}"

    def _refuse(self, seat: int, code: str, text: str) -> None:
        if (remote := self.seats[seat].remote) is not None:
            remote.refuse(code, text)

    def _message(self, state: Any) -> Message:
        return protocol.standing_message(self.game, state, self._names, self._ratings)
