"""Does an agent keep the promises of a player?"""

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
    """Drives one game in which ``player`` has a seat and random players have the others; suffers nothing.

    Attributes:
        chosen: the actions of ``player`` so far.
    """

    def __init__(self, game: Game, player: Player, seat: int, seed: int) -> None:
        self.player, self.seat = player, seat
        self.chosen: list[int] = []
        players = [player if other == seat else RandomPlayer() for other in range(game.players)]
        super().__init__(game, game.new_game(seed), players)

    def fail(self, seen: str, why: str, remedy: str) -> ConformanceError:
        """Return the error: what was seen, why it matters, what to do."""
        return report_break(f"agent {self.player.name!r} in seat {self.seat} of {self.game!r}", seen, why, remedy)

    def sit(self, seat: int, seed: int) -> Act:
        try:
            act = self.players[seat].join(self.game, seat, seed)
        except Exception as error:
            raise self.fail(
                f"join raises {type(error).__name__}: {error}",
                "Nobody can play with it",
                "Let it play this game, or do not offer it for it",
            ) from error
        if not callable(act):
            raise self.fail(
                f"join returns {act!r}", "It is asked for each action", "Return a function from Turn to an action"
            )
        return act

    def ask(self, seat: int, turn: Turn) -> int:
        if seat != self.seat:
            return super().ask(seat, turn)
        answer = self._called(self.acts[seat], turn, "while it is asked")
        try:
            action = whole(answer, self.player)
        except AgentError:
            raise self.fail(
                f"it answers {answer!r} of type {type(answer).__name__}",
                "Actions are whole numbers of 64 bits",
                "Return an int",
            ) from None
        self.chosen.append(action)
        return action

    def tell(self, follower: Follower, turn: Turn) -> None:
        if turn.seat != self.seat:
            super().tell(follower, turn)
        else:
            self._called(follower.follow, turn, "while it is told of it")

    def note_fault(self, seat: int, reason: str) -> None:
        raise self.fail(
            f"it answers {self.chosen[-1]}: {reason}",
            "An illegal action costs what the rules say, up to the game",
            "Choose among np.flatnonzero(turn.mask)",
        )

    def _called(self, call: Callable[[Turn], Any], turn: Turn, when: str) -> Any:
        """Return ``call(turn)``, which must neither raise nor change anything."""
        before, blank = bytes_of(self.state), self.game.blank.tobytes()
        try:
            found = call(turn)
        except Exception as error:
            raise self.fail(
                f"it raises {type(error).__name__}: {error}, {when}",
                "The game cannot continue",
                "Catch it, or mend the agent",
            ) from error
        if bytes_of(self.state) != before or self.game.blank.tobytes() != blank:
            raise self.fail(
                f"it changes the game {when}",
                "Players change a game by their actions alone",
                "Work on turn.view, turn.observation and turn.mask, which are copies",
            )
        return found


def _play_in_turn(referees: list[_CheckReferee]) -> list[list[int]]:
    for referee in referees:
        referee.play()
    return [referee.chosen for referee in referees]


def _play_side_by_side(referees: list[_CheckReferee]) -> list[list[int]]:
    going = [referee.moves() for referee in referees]
    while going:
        going = [moves for moves in going if next(moves, None) is not None]
    return [referee.chosen for referee in referees]


def check_agent(game: Game, player: Player, games: int = 4, seed: int = 0) -> None:
    """Check an agent in ``games`` games against random players from every seat.

    Raises:
        ConformanceError: it fails, answers with something illegal or with no whole number, changes the game,
            plays the same game differently when it is played again or beside others, or calls itself pure
            and is not. The message says what was seen, why it matters, what to do.
    """

    def referees() -> list[_CheckReferee]:
        return [_CheckReferee(game, player, seat, seed + i) for seat in range(game.players) for i in range(games)]

    def fail(seen: str, why: str, remedy: str) -> ConformanceError:
        return report_break(f"agent {player.name!r} in {game!r}", seen, why, remedy)

    first = _play_in_turn(referees())
    if first != _play_in_turn(referees()):
        raise fail(
            "it plays the same games with the same seeds differently the second time",
            "Results must be repeatable",
            "Draw from a generator made of the seed given to join, and keep no memory from game to game",
        )
    if first != _play_side_by_side(referees()):
        raise fail(
            "it plays differently when its games are played side by side",
            "Tournaments and environments hold many games at once",
            "Keep the memory of a game in what join returns, not in the player",
        )
    if player.pure:
        _check_pure(game, player, seed, fail)


def _check_pure(game: Game, player: Player, seed: int, fail: Callable[[str, str, str], ConformanceError]) -> None:
    """A pure player answers each state by itself: in any order, for any seed, in rows as one by one."""
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
        raise fail(
            f"act_rows answers {len(rows)} games with shape {together.shape} of {together.dtype}",
            "Each game needs one action",
            "Return np.int64, one for each of rows",
        )
    if together.tolist() != [one_by_one[row] for row in rows]:
        raise fail(
            "it calls itself pure, but act_rows, other seeds or another order change its answers",
            "Pure players are asked for many games at once, in any order",
            "Set pure = False, or let the answer depend on the turn alone",
        )
