"""The loop that drives a game, its hooks, and the walk without players."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from flawed.rules import SPEC

from dicegym.engine.game import Game
from dicegym.engine.seats import LEARNER_TURN, MATCH_TURN, permutation, seating
from dicegym.errors import AgentError, ParameterError
from dicegym.play.drive import Referee, play_game, walk
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn

FORFEIT = 99
"""No action of the game: a fault by its rules."""


def first_legal(turn: Turn) -> int:
    return int(np.flatnonzero(turn.mask)[0])


def fails(turn: Turn) -> int:
    raise AgentError("failing", "gave up")


class Notes(Referee):
    """Writes down what it is told."""

    def __init__(self, game: Game, *players: FunctionPlayer | RandomPlayer) -> None:
        self.notes: list[tuple[object, ...]] = []
        super().__init__(game, game.new_game(4), players)

    def ask(self, seat: int, turn: Turn) -> int:
        self.notes.append(("asks", seat))
        return super().ask(seat, turn)

    def handle_failure(self, seat: int, error: AgentError) -> int:
        self.notes.append(("failed", seat))
        return first_legal(Turn(self.game, self.state, seat))

    def note_answer(self, seat: int) -> None:
        self.notes.append(("answered", seat))

    def note_fault(self, seat: int, reason: str) -> None:
        self.notes.append(("erred", seat, reason))


def test_every_move_is_asked_for_and_answered() -> None:
    referee = Notes(Game(SPEC), RandomPlayer(), RandomPlayer())
    seats = list(referee.moves())
    assert referee.state["over"]
    assert referee.notes == [(what, seat) for seat in seats for what in ("asks", "answered")]
    assert list(referee.moves()) == []


def test_failures_and_faults_are_told_after_they_are_played() -> None:
    referee = Notes(Game(SPEC), FunctionPlayer(fails), FunctionPlayer(first_legal))
    next(moves := referee.moves())
    own = [note for note in referee.notes if note[1] == 0]
    while not own:
        next(moves)
        own = [note for note in referee.notes if note[1] == 0]
    assert own == [("asks", 0), ("failed", 0), ("answered", 0), ("erred", 0, "gave up")]
    wrong = Notes(Game(SPEC), FunctionPlayer(lambda turn: 7), FunctionPlayer(lambda turn: 7))
    seat = next(wrong.moves())
    assert wrong.notes == [("asks", seat), ("answered", seat), ("erred", seat, SPEC.faults[1])]


def test_among_friends_a_failure_costs_what_the_rules_say_or_ends_the_game() -> None:
    players = [FunctionPlayer(fails, "failing"), FunctionPlayer(fails, "failing")]
    with pytest.raises(AgentError, match="gave up"):
        play_game(Game(SPEC), players)
    forgiving = Game(dataclasses.replace(SPEC, forfeit=FORFEIT))
    with pytest.warns(RuntimeWarning, match="gave up; Flawed takes that for a fault"):
        next(Referee(forgiving, forgiving.new_game(1), players).moves())


def test_seats_and_players_must_match() -> None:
    with pytest.raises(ParameterError, match="1 players cannot play"):
        play_game(Game(SPEC), [RandomPlayer()])


def test_a_walk_shows_every_state_and_the_last_one() -> None:
    game = Game(SPEC)

    def choose(state: Any, time: int) -> int:
        return first_legal(Turn(game, state, 0))

    state = game.new_game(2)[0]
    turns = [int(seen["turn"]) for seen in walk(game, state, choose, 999)]
    assert state["over"]
    assert turns == list(range(len(turns)))
    fresh = game.new_game(2)[0]
    assert len(list(walk(game, fresh, choose, 3))) == 3
    assert fresh["turn"] == 3


def test_permutations_are_those_of_their_turn() -> None:
    assert LEARNER_TURN != MATCH_TURN
    assert sorted(permutation(5, 1, 2, 9)) == list(range(9))
    assert permutation(5, 1, 2, 9) != permutation(5, 1, 3, 9)
    assert seating(5, 4) == seating(5, 4)
    assert permutation(5, 0, 0, 0) == []
    assert permutation(5, 0, 0, 1) == [0]
