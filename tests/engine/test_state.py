"""`State` is the same game as `Game`'s functions play, whatever is asked of it and in whatever order."""

from __future__ import annotations

import copy
import pickle
import random
import re
from typing import Any

import numpy as np
import pytest
from variants import default_forms_always, each_game, each_variant

import dicegym
from dicegym.engine.game import Game
from dicegym.engine.state import ROWS, State
from dicegym.errors import ParameterError, StepError, UnknownNameError
from dicegym.games.hidden import keep_known


def same(state: State, game: Game, record: Any) -> None:
    mask = game.legal(record)
    assert (state.over, state.player) == (bool(record["over"]), int(record["player"]))
    assert state.legal_actions() == mask.nonzero()[0].tolist()
    assert (state.action_mask() == mask).all()
    assert state.returns() == game.returns(record).tolist()
    for seat in (None, *range(game.players)):
        expected = game.observe(record, int(record["player"]) if seat is None else seat)
        assert (state.observation(seat) == expected).all()
    assert state.record.tobytes() == record.tobytes()


@pytest.mark.parametrize("game", default_forms_always(), ids=repr)
def test_it_plays_what_the_games_functions_play(game: Game) -> None:
    choose = random.Random(5)
    state, record = game.new_state(7, 3), game.new_game(7, 3)[0]
    for _ in range(60):
        same(state, game, record)
        if state.over:
            break
        legal = state.legal_actions()
        action = choose.choice(legal) if choose.random() < 0.9 else choose.randrange(game.n_actions)
        assert state.step(action) == game.step(record, action)
    same(state, game, record)


@each_variant
def test_copies_branch_and_say_which_state_they_are(game: Game) -> None:
    """What was handed out is not changed later."""
    state = game.new_state(1)
    others = [state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), State.of(game, state.record)]
    assert all(other == state for other in others)
    legal, mask, observation = state.legal_actions(), state.action_mask(), state.observation()
    kept, action = (legal.copy(), mask.copy(), observation.copy()), legal[0]
    state.step(action)
    assert legal == kept[0]
    assert (mask == kept[1]).all()
    assert (observation == kept[2]).all()
    assert all(other != state for other in others)
    for other in others:
        other.step(action)
        assert other == state


def test_states_do_not_share_memory() -> None:
    """More states than a block has, some gone while others are played; a record stays without its state."""
    game = dicegym.game("hog")
    record = game.new_state(1).record
    states = {seed: game.new_state(seed) for seed in range(3 * ROWS)}
    for seed in range(0, 3 * ROWS, 2):
        del states[seed]
    states |= {seed: game.new_state(seed) for seed in range(3 * ROWS, 4 * ROWS)}
    records = {seed: game.new_game(seed)[0] for seed in states}
    for seed, state in states.items():
        state.step(seed % 11)
        game.step(records[seed], seed % 11)
    for seed, state in states.items():
        assert state.record.tobytes() == records[seed].tobytes()
    assert record.tobytes() == game.new_game(1)[0].tobytes()


@each_game
def test_a_fork_is_what_the_player_to_move_may_believe(name: str) -> None:
    game = dicegym.game(name)
    state = game.new_state(4)
    seat = state.player
    forks = [state.fork(seed) for seed in range(4)]
    assert forks[0] == state.fork(0)
    assert len({fork.record.tobytes() for fork in forks}) > 1
    for fork in forks:
        assert keep_known(game, fork.record, seat).tobytes() == keep_known(game, state.record, seat).tobytes()
        assert (fork.observation() == state.observation()).all()


@each_game
def test_rollouts_are_a_function_of_what_is_known_and_of_the_seed(name: str) -> None:
    game = dicegym.game(name)
    state = game.new_state(4)
    before = state.record.tobytes()
    found = state.rollouts(1_100, seed=2)
    assert (found.dtype, found.shape) == (np.float32, (1_100, game.players))
    assert (found == state.rollouts(1_100, seed=2)).all()
    assert (found == state.fork(9).rollouts(1_100, seed=2)).all()
    assert (found != state.rollouts(1_100, seed=3)).any()
    assert state.record.tobytes() == before
    if game.spec.zero_sum:
        assert np.abs(found.sum(axis=1)).max() < 1e-5


def test_rollouts_are_played_by_whoever_is_named() -> None:
    game = dicegym.game("hog", goal=30)
    state = game.new_state(1)

    def random_play(turn: dicegym.Turn) -> int:
        seed = int(turn.record["key"]) % 100_000 + int(turn.record["turns"].sum())
        return int(np.random.default_rng(seed).choice(np.flatnonzero(turn.mask)))

    def five(observation: np.ndarray, mask: np.ndarray) -> int:
        return 6  # the action that rolls five dice

    compiled, asked = state.rollouts(4_000)[:, 0], state.rollouts(400, policy=random_play)[:, 0]
    assert abs(compiled.mean() - asked.mean()) < 4 * np.hypot(compiled.std() / 4_000**0.5, asked.std() / 400**0.5)
    assert (state.rollouts(300, policy="random", seed=1) == state.rollouts(300, seed=1)).all()
    named = state.rollouts(300, policy="always_roll(5)", seed=1)
    assert (named == state.rollouts(300, policy=five, seed=1)).all()
    while not state.over:
        state.step(5)
    assert state.rollouts(3).tolist() == [state.returns()] * 3


def test_rollouts_of_what_cannot_be_are_refused() -> None:
    state = dicegym.game("hog").new_state(0)
    for wrong in ({"n": 0}, {"n": 2.5}):
        with pytest.raises(ParameterError, match="cannot be used as a number of"):
            state.rollouts(**wrong)
    with pytest.raises(UnknownNameError, match="there is no agent of Hog 'nobody'"):
        state.rollouts(2, policy="nobody")


def test_it_says_what_it_is() -> None:
    from dicegym.games.positions import position

    game = dicegym.game("hog", goal=20)
    state = game.new_state(3)
    assert position(state.id).state.tobytes() == state.record.tobytes()
    assert state.text() == game.scene(state.record).text()
    assert repr(state) == f"<State of {game!r}: player 0 to move>"


def test_wrong_use_is_refused() -> None:
    game = dicegym.game("hog", goal=10)
    state = game.new_state(0)
    for wrong in (1.5, "a", None, 1 << 64):
        for step in (state.step, lambda action: game.step(game.new_game()[0], action)):
            with pytest.raises(TypeError, match="is not a whole number"):
                step(wrong)  # type: ignore[arg-type]
    for seat in (-1, 2, 9, "a", 0.0):
        for ask in (lambda seat: game.observe(game.new_game()[0], seat), state.observation, state.text):
            with pytest.raises(ParameterError, match=f"seat={re.escape(repr(seat))} cannot be used as a seat of"):
                ask(seat)
    for seat in (np.int8(0), np.uint8(1), state.record["player"]):
        assert (state.observation(seat) == state.observation(int(seat))).all()
    with pytest.raises(ParameterError, match="episode=-1"):
        game.new_state(0, -1)
    assert game.new_state(-1) == game.new_state(2**64 - 1)
    assert state.step(np.int64(10)) == 0
    while not state.over:
        state.step(10)
    assert state.legal_actions() == []
    with pytest.raises(StepError, match="begin another with new_state"):
        state.step(1)
    with pytest.raises(ParameterError, match="the game is over"):
        state.fork(1)


@each_game
def test_a_list_of_actions_belongs_to_its_caller(name: str) -> None:
    choose = random.Random(2)
    state = dicegym.game(name).new_state(4)
    for _ in range(60):
        if state.over:
            break
        expected = state.action_mask().nonzero()[0].tolist()
        state.legal_actions().clear()
        assert state.legal_actions() == expected
        state.step(choose.choice(expected))
