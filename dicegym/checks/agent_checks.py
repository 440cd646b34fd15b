"""Checks that an agent keeps the promises of a player."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.checks.common import bytes_of, random_action, random_below, report_break
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ConformanceError
from dicegym.play.drive import Referee
from dicegym.play.player import Player, RandomPlayer, whole
from dicegym.play.turn import Act, Follower, Turn


class _CheckReferee(Referee):
    """Drives one game of ``player`` against random players, and raises at the first broken promise.

    Attributes:
        chosen: the actions of ``player`` so far.
    """

    def __init__(self, game: Game, player: Player, seat: int, seed: int) -> None:
        self.player, self.seat = player, seat
        self.chosen: list[int] = []
        players = [player if other == seat else RandomPlayer() for other in range(game.players)]
        super().__init__(game, game.new_game(seed), players)

    def fail(self, seen: str, remedy: str) -> ConformanceError:
        """Return the error: what was seen, and what to do."""
        return report_break(f"agent {self.player.name!r} in seat {self.seat} of {self.game!r}", seen, remedy)

    def sit(self, seat: int, seed: int) -> Act:
        try:
            act = self.players[seat].join(self.game, seat, seed)
        except Exception as error:
            seen = f"join raises {type(error).__name__}: {error}"
            raise self.fail(seen, "Make it play this game, or do not offer it for this game") from error
        if not callable(act):
            raise self.fail(f"join returns {act!r}", "Return a function from Turn to an action")
        return act

    def ask(self, seat: int, turn: Turn) -> int:
        if seat != self.seat:
            return super().ask(seat, turn)
        answer = self._called(self.acts[seat], turn, "while it is asked")
        try:
            action = whole(answer, self.player)
        except AgentError:
            seen = f"it answers {answer!r} of type {type(answer).__name__}"
            raise self.fail(seen, "Return an int of at most 64 bits") from None
        self.chosen.append(action)
        return action

    def tell(self, follower: Follower, turn: Turn) -> None:
        if turn.seat != self.seat:
            super().tell(follower, turn)
        else:
            self._called(follower.follow, turn, "while it follows the game")

    def note_fault(self, seat: int, reason: str) -> None:
        raise self.fail(f"it answers {self.chosen[-1]}: {reason}", "Choose among np.flatnonzero(turn.mask)")

    def _called(self, call: Callable[[Turn], Any], turn: Turn, when: str) -> Any:
        """Return ``call(turn)``, which must neither raise nor change the game."""
        before, blank = bytes_of(self.state), self.game.blank.tobytes()
        try:
            found = call(turn)
        except Exception as error:
            seen = f"it raises {type(error).__name__}: {error}, {when}"
            raise self.fail(seen, "Catch it, or correct the agent") from error
        if bytes_of(self.state) != before or self.game.blank.tobytes() != blank:
            remedy = "Work on turn.view, turn.observation and turn.mask, which are copies"
            raise self.fail(f"it changes the game {when}", remedy)
        return found


def check_agent(game: Game, player: Player, games: int = 4, seed: int = 0) -> None:
    """Check an agent in ``games`` games against random players from every seat.

    Raises:
        ConformanceError: it fails, answers with an illegal action or not with a whole number, changes the game, plays
            differently when a game is repeated or other games are played at the same time, or is wrongly declared pure.
            The message says what was seen and what to do.
    """

    def play(side_by_side: bool = False) -> list[list[int]]:
        """Play all games, one after the other or move by move in turn; return the agent's actions."""
        every = [_CheckReferee(game, player, seat, seed + i) for seat in range(game.players) for i in range(games)]
        for some in [every] if side_by_side else [[referee] for referee in every]:
            going = [referee.moves() for referee in some]
            while going:
                going = [moves for moves in going if next(moves, None) is not None]
        return [referee.chosen for referee in every]

    subject = f"agent {player.name!r} in {game!r}"
    first = play()
    if first != play():
        raise report_break(
            subject,
            "it plays the same games with the same seeds differently the second time",
            "Draw from a generator seeded by the argument of join, and keep no memory between games",
        )
    if first != play(side_by_side=True):
        raise report_break(
            subject,
            "it plays differently when its games are played side by side",
            "Keep the memory of a game in what join returns, not in the player",
        )
    if player.pure:
        _check_pure(game, player, seed, subject)


def _check_pure(game: Game, player: Player, seed: int, subject: str) -> None:
    """A pure player's answer depends on the state alone: not on order, seed, or being asked in rows."""
    states = game.new_states(64)
    blank_rows = np.arange(len(states))
    seeds = np.uint64(seed) + blank_rows.astype(np.uint64)
    loops.begin_rows(states, blank_rows, game.blank, seeds, np.zeros(len(states), np.uint64))
    for row in range(len(states)):
        for time in range(random_below(20, "pure", row)):
            before = states[row].copy()
            game.step(states[row], random_action(game, states[row], "pure", row, time))
            if states[row]["over"]:
                states[row] = before
                break
    seats = states["player"].astype(np.int64)
    one_by_one = [
        operator.index(player.join(game, int(seats[row]), 1000 + row)(Turn(game, states[row], int(seats[row]))))
        for row in range(len(states))
    ]
    rows = np.flip(blank_rows)
    together = np.asarray(player.act_rows(game, states, rows, seats[rows]))
    if together.shape != rows.shape or together.dtype.kind not in "iu":
        seen = f"act_rows answers {len(rows)} games with shape {together.shape} of {together.dtype}"
        raise report_break(subject, seen, "Return np.int64, one for each of rows")
    if together.tolist() != [one_by_one[row] for row in rows]:
        raise report_break(
            subject,
            "it is declared pure, but act_rows, other seeds or another order change its answers",
            "Set pure = False, or let the answer depend on the turn alone",
        )
