"""What a batch does after failures and half-begun resets, and who is told of what in evaluations."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import dicegym
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.envs.opponents import Opponents
from dicegym.envs.vector import BatchEnv
from dicegym.errors import AgentError, ParameterError, StepError
from dicegym.play.drive import play_game
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import opponent


def failing_once() -> Player:
    calls = []

    def act(turn: Turn) -> int:
        calls.append(1)
        if len(calls) == 4:
            raise AgentError("fragile", "fell over")
        return 6

    return FunctionPlayer(act, "fragile")


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_after_a_failure_games_are_only_begun_anew_together(mode: AutoresetMode) -> None:
    env = BatchEnv("hog", 3, opponent=failing_once(), seat=0, autoreset_mode=mode)
    env.reset(seed=0)
    env.step(np.full(3, 5))
    with pytest.raises(AgentError, match="fragile"):
        env.step(np.full(3, 5))
    with pytest.raises(StepError, match="without a mask"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    env.reset()
    env.step(np.full(3, 5))
    assert (env._batch.states["player"] == 0).all()


def test_same_step_mode_begins_all_games_with_the_first_reset() -> None:
    env = BatchEnv("hog", 2, autoreset_mode="SameStep")
    with pytest.raises(StepError, match="without a mask"):
        env.reset(seed=0, options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    env.reset(options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_refused_actions_are_told_as_faults(mode: AutoresetMode) -> None:
    env = BatchEnv("hog", 2, on_illegal="terminate", autoreset_mode=mode)
    env.reset(seed=0)
    *_, info = env.step(np.array([5, -1]))
    told = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
    assert told["fault"].tolist() == ["", "illegal action"]
    assert told["_fault"].tolist() == ([False, True] if told is not info else [True, True])


class Follower(Player):
    """Plays the first legal action and notes every showdown that it is told of."""

    name = "follower"

    def __init__(self) -> None:
        self.told = []

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        return Noting(self.told, seed)


class Noting:
    """One seat of a `Follower`."""

    def __init__(self, told: list[tuple[int, bytes]], seed: int) -> None:
        self.told, self.seed = told, seed

    def __call__(self, turn: Turn) -> int:
        """Return the last of the first few legal actions."""
        return int(np.flatnonzero(turn.mask)[0])

    def follow(self, turn: Turn) -> None:
        """Note what is seen."""
        self.told.append((self.seed, turn.observation.tobytes()))


@pytest.mark.parametrize("name", ["honest", "bluffer", "bayes"])
def test_followers_among_compiled_bots_are_told_as_in_a_single_game(name: str) -> None:
    game = dicegym.game("liarsdice", players=4)
    n, told, follower = 12, [], Follower()
    bot = opponent(game, name)
    states = game.new_states(n)
    loops.begin_rows(states, np.arange(n), game.blank, np.full(n, 5, np.uint64), np.arange(n, dtype=np.uint64))
    table = Opponents(game, states)
    for row in range(n):
        table.sit(row, int(states["key"][row]), {0: bot, 1: bot, 2: follower, 3: bot})
    table.play_out()
    for row in range(n):
        alone = Follower()
        state = play_game(game, [bot, bot, alone, bot], 5, row)
        assert state.tobytes() == states[row].tobytes()
        told += alone.told
    assert sorted(told) == sorted(follower.told)
    assert told


def test_a_state_goes_on_after_a_failure_unless_it_was_taken_then() -> None:
    steady = FunctionPlayer(lambda turn: 6, "steady")
    env, other = (BatchEnv("hog", 3, opponent=one, seat=0) for one in (failing_once(), steady))
    for one in (env, other):
        one.reset(seed=0)
    before = env.state_dict()
    env.step(np.full(3, 5))
    with pytest.raises(AgentError, match="fragile"):
        env.step(np.full(3, 5))
    broken = env.state_dict()
    with pytest.raises(ParameterError, match="with rows of"):
        env.load_state_dict(before | {"rows": before["rows"][:2]})
    assert env.states.tobytes() == broken["states"].tobytes()
    env.load_state_dict(before)
    for _ in range(3):
        assert (env.step(np.full(3, 5))[0] == other.step(np.full(3, 5))[0]).all()
    env.load_state_dict(broken)
    with pytest.raises(StepError, match="call reset"):
        env.step(np.full(3, 5))
