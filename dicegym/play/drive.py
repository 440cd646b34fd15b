"""The loop that asks players for actions and plays them, from the beginning of a game to its end.

`play_game` plays a game between trusted players. Other kinds of games subclass `Referee`: matches between untrusted
bots (`dicegym.arena.match`), smoke games (`dicegym.bots.smoke_games`), the check of an agent (`dicegym.checks`).
Environments and servers do not use it: there others decide when the next action comes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dicegym.engine.dice import private_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.play.player import Player, answer, forfeit_for, sit_down, whole
from dicegym.play.turn import Act, Follower, Turn, explain_fault, follows


class Audience:
    """The followers of one game, which are notified whenever its public event changes; most games have none.

    Args:
        game: the game.
        state: its record, which changes during the game.
        acts: the seated player in each seat.
        order: see `Turn`.
    """

    def __init__(self, game: Game, state: Any, acts: Mapping[int, Act], order: Sequence[int] | None = None) -> None:
        self._public_event = game.spec.public_event
        self._state = state
        self._followers = [
            (act, Turn(game, state, seat, order)) for seat, act in acts.items() if self._public_event and follows(act)
        ]
        self._seen = self._now() if self._followers else 0

    def __bool__(self) -> bool:
        """Return whether there are followers."""
        return bool(self._followers)

    def _now(self) -> int:
        return int(self._state[self._public_event])

    def due(self) -> list[tuple[Follower, Turn]]:
        """Return the followers and their turns if the public event has changed since the last call."""
        if not self._followers or (now := self._now()) == self._seen:
            return []
        self._seen = now
        return self._followers

    def tell(self) -> None:
        """Notify the followers that are due; ignore their failures."""
        for follower, turn in self.due():
            with contextlib.suppress(AgentError):
                follower.follow(turn)


class Referee:
    """Seats players at one game and drives it; subclasses override the hooks.

    Args:
        game: the game.
        states: its record, as an array of one (`Game.new_game`).
        players: ``players[s]`` sits in seat s.
        order: see `Turn`.

    Attributes:
        state: the record, which changes during the game.
        actions: the actions so far, of all seats in order; the same actions give the same record.
        acts: the seated player in each seat.

    Raises:
        ParameterError: the number of players is not that of the seats.
        AgentError: a player cannot sit down, and the rules have no ``forfeit``.
    """

    def __init__(
        self, game: Game, states: np.ndarray, players: Sequence[Player], order: Sequence[int] | None = None
    ) -> None:
        if len(players) != game.players:
            raise ParameterError(f"{len(players)} players cannot play {game!r}: give {game.players}")
        self.game = game
        self.states = states
        self.state: Any = states[0]
        self.actions: list[int] = []
        self.players = players
        key = int(self.state["key"])
        self.acts = [self.sit(seat, private_seed(key, seat)) for seat in range(len(players))]
        self._turns = [Turn(game, self.state, seat, order) for seat in range(len(players))]
        self._audience = Audience(game, self.state, dict(enumerate(self.acts)), order)

    def sit(self, seat: int, seed: int) -> Act:
        """Seat the player of a seat, with a seed for its randomness; return its `Act`."""
        return sit_down(self.players[seat], self.game, seat, seed)

    def ask(self, seat: int, turn: Turn) -> int:
        """Return the action that the player in ``seat`` chooses. Raises AgentError if it fails."""
        return whole(self.acts[seat](turn), self.players[seat])

    def handle_failure(self, seat: int, error: AgentError) -> int:
        """Return the rules' action for a failure, with a warning; raise ``error`` if they have none."""
        return forfeit_for(error, self.game)

    def note_answer(self, seat: int) -> None:
        """Hook: the player in ``seat`` has answered or failed; nothing is played yet."""

    def note_fault(self, seat: int, reason: str) -> None:
        """Hook: the player in ``seat`` failed, or its action is a fault; it has been played."""

    def tell(self, follower: Follower, turn: Turn) -> None:
        """Notify a follower; ignore its failure."""
        with contextlib.suppress(AgentError):
            follower.follow(turn)

    def moves(self) -> Iterator[int]:
        """Play to the end; after each decision yield the seat that has moved."""
        state, over, mover = self.state, self.states["over"], self.states["player"]  # views: cheaper than the record
        step, faults = self.game.spec.kernels.step, self.game.spec.faults
        acts, turns, keep = self.acts, self._turns, self.actions.append
        ask, note_answer, due = self.ask, self.note_answer, self._audience.due if self._audience else None
        while not over.item():
            seat = mover.item()
            reason = ""
            try:
                action = ask(seat, turns[seat])
            except AgentError as error:
                action, reason = self.handle_failure(seat, error), error.reason
            note_answer(seat)
            fault = step(state, action)
            keep(action)
            if fault or reason:
                self.note_fault(seat, reason or explain_fault(acts[seat], faults[fault]))
            if due is not None:
                for follower, turn in due():
                    self.tell(follower, turn)
            yield seat

    def play(self) -> Any:
        """Play to the end; return the record."""
        for _ in self.moves():
            pass
        return self.state


def play_game(game: Game, players: Sequence[Player], seed: int = 0, episode: int = 0) -> Any:
    """Play one game to its end; return its record. ``players[s]`` sits in seat s.

    Raises AgentError if a player fails and the rules have no ``forfeit``, ParameterError for a wrong number of players.
    """
    return Referee(game, game.new_game(seed, episode), players).play()


def walk(game: Game, state: Any, choose: Callable[[Any, int], int], most: int) -> Iterator[Any]:
    """Yield a record before each decision and at the game's end, at most ``most`` times; it changes in between.

    ``choose(state, time)`` is the action of decision number ``time``, from 0. The caller must not change the record.
    """
    for time in range(most):
        yield state
        if state["over"]:
            return
        game.step(state, choose(state, time))


def join_table(game: Game, players: Mapping[int, Player], key: int) -> dict[int, Act]:
    """Seat ``players`` (seat -> player) in the game with this key; return their `Act` by seat.

    Answers are ints. A failure becomes the rules' ``forfeit``, with a warning; without one AgentError is raised.
    """
    return {
        seat: _answering(sit_down(player, game, seat, private_seed(key, seat)), player)
        for seat, player in players.items()
    }


def _answering(act: Act, player: Player) -> Act:
    """Return a seated player that answers as `answer` does, and follows the game if ``act`` does."""

    def ask(turn: Turn) -> int:
        return answer(act, turn, player)

    if follows(act):
        vars(ask)["follow"] = act.follow
    return ask
