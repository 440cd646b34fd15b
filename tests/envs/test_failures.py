"""What an environment does after illegal actions, failures of opponents and half-begun resets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import dicegym
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.envs.opponents import Opponents
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import AgentError, IllegalActionError, ParameterError, StepError
from dicegym.play.drive import play_game
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import opponent

each_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def failing(calls: int) -> Player:
    """A player that fails when it is asked for the last of so many times, once."""
    left = iter(range(calls))

    def act(turn: Turn) -> int:
        if next(left, None) == calls - 1:
            raise AgentError("fragile", "fell over")
        return 6

    return FunctionPlayer(act, "fragile")


@each_mode
def test_after_a_failure_games_are_only_begun_anew_together(mode: AutoresetMode) -> None:
    env = BatchEnv("hog", 3, opponent=failing(4), seat=0, autoreset_mode=mode)
    env.reset(seed=0)
    env.step(np.full(3, 5))
    with pytest.raises(AgentError, match="fragile"):
        env.step(np.full(3, 5))
    with pytest.raises(StepError, match="reset"):
        env.step(np.full(3, 5))
    with pytest.raises(StepError, match="reset_mask needs"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    env.reset()
    env.step(np.full(3, 5))
    assert (env._batch.states["player"] == 0).all()


def test_a_single_game_is_begun_anew_after_a_failure() -> None:
    env = SingleAgentEnv("hog", opponent=failing(1), seat=0)
    env.reset(seed=0)
    with pytest.raises(AgentError, match="fragile"):
        env.step(3)
    with pytest.raises(StepError):
        env.step(3)
    env.reset()
    env.step(3)


FORMS: dict[str, Callable[[FunctionPlayer], tuple[Any, Any]]] = {
    "single": lambda player: (SingleAgentEnv("hog", opponent=player, seat=0), 3),
    "batch": lambda player: (BatchEnv("hog", 2, opponent=player, seat=0), np.array([5, 5])),
}


@pytest.mark.parametrize("answer", [None, "a", [3], 3.5, 2**70], ids=str)
@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_an_opponent_that_answers_nonsense_is_named(form: str, pure: bool, answer: Any) -> None:
    env, action = FORMS[form](FunctionPlayer(lambda turn: answer, "odd", pure))
    env.reset(seed=0)
    with pytest.raises(AgentError, match="'odd': chose"):
        env.step(action)


def test_resets_of_some_games_alone() -> None:
    env = BatchEnv("hog", 2, autoreset_mode="SameStep")
    with pytest.raises(StepError, match="reset_mask needs"):
        env.reset(seed=0, options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    env.reset(options={"reset_mask": np.array([True, False])})
    env, whole = (BatchEnv("hog", 2, autoreset_mode="Disabled") for _ in range(2))
    whole.reset(seed=3)
    env.reset(seed=3, options={"reset_mask": np.array([True, False])})  # gives all games their seeds
    env.reset(options={"reset_mask": np.array([False, True])})
    assert (env.state_dict()["states"]["key"] == whole.state_dict()["states"]["key"]).all()


@each_mode
@pytest.mark.parametrize(
    ("settings", "action", "fault", "reward"),
    [
        ({}, 12, "a number of dice outside -1..10", -1),
        ({"on_illegal": "terminate", "illegal_reward": -4}, -1, "illegal action", -4),
    ],
    ids=["rule", "terminate"],
)
def test_illegal_actions_are_told_as_faults(
    mode: AutoresetMode, settings: dict[str, Any], action: int, fault: str, reward: int
) -> None:
    env = BatchEnv("hog", 2, opponent="always_roll(5)", seat=0, autoreset_mode=mode, **settings)
    env.reset(seed=0)
    _, rewards, terminated, _, info = env.step(np.array([5, action]))
    assert (rewards.tolist(), terminated.tolist()) == ([0, reward], [False, True])
    told = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
    assert told["fault"].tolist() == ["", fault]
    assert told["_fault"].tolist() == told["_returns"].tolist() == [told is info, True]
    assert told["returns"][1].tolist() == ([-1, 1] if not settings else [0, 0])
    if mode == AutoresetMode.SAME_STEP:
        _, rewards, terminated, _, info = env.step(np.array([5, 5]))
        assert (rewards.tolist(), terminated.tolist()) == ([0, 0], [False, False])
        assert info["action_mask"].all()


def test_an_illegal_action_that_is_an_error_steps_no_game() -> None:
    env = BatchEnv("hog", 2, on_illegal="raise")
    env.reset(seed=0)
    before = env.states.tobytes()
    with pytest.raises(IllegalActionError, match="game 1: action 12"):
        env.step(np.array([5, 12]))
    assert env.states.tobytes() == before
    env.step(np.array([5, 5]))


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
    env, other = (BatchEnv("hog", 3, opponent=one, seat=0) for one in (failing(4), steady))
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
