"""The Gymnasium environment of every registered game."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import dicegym
from dicegym.engine.dice import game_key, private_seed
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import AgentError, IllegalActionError, ParameterError, StepError, UnknownNameError
from dicegym.games.positions import position_id
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.registry import ENVIRONMENTS

PLAIN = os.environ | {"NUMBA_DISABLE_JIT": "1"}
"""For processes in which compiled rules are not the matter: loading them takes longer than all else."""
each_environment = pytest.mark.parametrize("env_id", [environment.full_id for environment in ENVIRONMENTS])


@each_environment
def test_gymnasium_checker_passes_without_a_warning(env_id: str) -> None:
    env = gym.make(env_id, render_mode="ansi", disable_env_checker=True).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gymnasium_check(env)


def test_gymnasiums_checker_passes_where_nothing_draws_pictures() -> None:
    """As on an install without extras: what cannot be drawn is no render mode there."""
    program = """
import sys
sys.modules["PIL"] = sys.modules["resvg_py"] = sys.modules["pygame"] = None
import dicegym, gymnasium as gym
from gymnasium.utils.env_checker import check_env
env = gym.make("dicegym/Hog-v0")
assert env.metadata["render_modes"] == ["ansi", "human"], env.metadata
check_env(env.unwrapped)
"""
    done = subprocess.run([sys.executable, "-c", program], env=PLAIN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@each_environment
def test_stable_baselines3_checker_passes_without_a_warning(env_id: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gym.make(env_id).unwrapped, warn=True)


@each_environment
def test_environment_plays_the_engines_game(env_id: str) -> None:
    """Seat, opponents' answers and dice are those that the engine gives under the game's key."""
    env = gym.make(env_id, opponent=RandomPlayer()).unwrapped
    rng = np.random.default_rng(1)
    for episode in range(4):
        observation, info = env.reset(seed=77 if episode == 0 else None)
        game, key = env.game, game_key(77, episode)
        states = game.new_game(77, episode)
        others = {s: RandomPlayer().join(game, s, private_seed(key, s)) for s in range(game.players)}
        over = False
        while True:
            while not states[0]["over"] and states[0]["player"] != info["seat"]:
                seat = int(states[0]["player"])
                game.step(states[0], others[seat](Turn(game, states[0], seat)))
            assert states.tobytes() == env._states.tobytes()
            assert (observation == game.observe(states[0], info["seat"])).all()
            assert (info["action_mask"] == game.legal(states[0])).all()
            if over:
                break
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            game.step(states[0], action)
            observation, _, over, _, info = env.step(action)
    env.reset(options={"episode": 2})
    assert env.state["key"] == game_key(77, 2)
    keys = set()
    for _ in range(3):  # without a seed they differ
        other = gym.make(env_id).unwrapped
        other.reset()
        keys.add(int(other.state["key"]))
    assert len(keys) == 3


def test_seat_is_fixed_drawn_or_alternates() -> None:
    def seats(**options: Any) -> list[int]:
        env = gym.make("dicegym/Hog-v0", **options)
        return [env.reset(seed=1 if n == 0 else None)[1]["seat"] for n in range(40)]

    assert seats(seat=1) == [1] * 40
    assert seats(seat="alternate") == [0, 1] * 20
    drawn = seats(seat="random")
    assert 8 < sum(drawn) < 32
    env = gym.make("dicegym/Hog-v0", seat=1)
    assert env.reset(seed=1, options={"seat": 0})[1]["seat"] == 0


def test_opponent_by_name_call_path_and_default(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def final_strategy(score, opponent_score):\n    return 3\n")
    for opponent, chosen in ((None, 5), ("always_roll(8)", 8), (str(file), 3)):
        env = gym.make("dicegym/Hog-v0", opponent=opponent, seat=1).unwrapped
        env.reset(seed=0)
        assert env.state["chosen"][0] == chosen


def test_illegal_actions_by_the_rule_raised_or_terminating() -> None:
    env = gym.make("dicegym/Hog-v0", seat=0, disable_env_checker=True)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(12)
    assert (reward, terminated, info["fault"]) == (-1.0, True, "a number of dice outside -1..10")

    env = gym.make("dicegym/Hog-v0", seat=0, on_illegal="raise", disable_env_checker=True)
    env.reset(seed=0)
    before = env.unwrapped.state.tobytes()
    with pytest.raises(IllegalActionError, match=r"action 12 is not legal now: give one of 0, 1, .*11"):
        env.step(12)
    assert env.unwrapped.state.tobytes() == before
    env.step(3)

    env = SingleAgentEnv("hog", seat=0, on_illegal="terminate", illegal_reward=-7)
    with pytest.raises(StepError, match="reset"):
        env.step(3)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(-1)
    assert (reward, terminated, info["fault"]) == (-7.0, True, "illegal action")
    with pytest.raises(StepError, match="reset"):
        env.step(3)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"goal": 5}, ParameterError, "goal=5"),
        ({"goal": "100"}, ParameterError, "goal='100'"),
        ({"players": 3}, ParameterError, "players=3"),
        ({"seat": "first"}, ParameterError, "seat='first'"),
        ({"opponent": "always_rol(5)"}, UnknownNameError, "Did you mean 'always_roll'"),
        ({"opponent": {}}, ParameterError, "empty pool"),
        ({"opponent": {"always_roll(5)": -1}}, ParameterError, "weight of 'always_roll(5)'=-1"),
        ({"opponent": "no/such.py"}, AgentError, "no/such.py"),
    ],
)
def test_wrong_arguments_say_what_why_and_what_to_do(options: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error) as caught:
        SingleAgentEnv("hog", **options)
    assert match in str(caught.value)


def test_unknown_reset_option_is_refused() -> None:
    for options, match in (({"seats": 1}, "'seats'"), (5, "options=5"), ({"episode": "x"}, "episode='x'")):
        with pytest.raises(ParameterError, match=match):
            SingleAgentEnv("hog").reset(options=options)


@each_environment
def test_a_game_begins_in_a_state_and_goes_on_as_from_there(env_id: str) -> None:
    env = gym.make(env_id, opponent=first_of_all).unwrapped
    rng = np.random.default_rng(2)
    _, info = env.reset(seed=2)
    for _ in range(2):
        observation, _, terminated, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])[:20]))
        assert not terminated
    other = gym.make(env_id, opponent=first_of_all, seat="alternate").unwrapped
    for state in (env.state, env.state.reshape(1), position_id(env.game, env.state)):
        seen, told = other.reset(seed=9, options={"state": state})
        assert np.array_equal(seen, observation)
        assert told["seat"] == env.seat
        assert np.array_equal(told["action_mask"], info["action_mask"])
    before, gained, over = env.game.returns(env.state)[env.seat], 0.0, False
    for _ in range(400):
        action = rng.choice(np.flatnonzero(told["action_mask"]))
        seen, reward, over, _, told = other.step(action)
        assert np.array_equal(seen, env.step(action)[0])
        gained += reward
        if over:
            break
    assert gained == pytest.approx(other.game.returns(other.state)[other.seat] - before, abs=1e-5)
    seen, _ = other.reset()
    assert np.array_equal(seen, gym.make(env_id, opponent=first_of_all, seat="alternate").reset(seed=9)[0])


def first_of_all(turn: Turn) -> int:
    return int(turn.mask.argmax())


def test_the_learner_takes_its_own_seat_in_a_state_if_it_has_one() -> None:
    state = SingleAgentEnv("hog").game.new_game(3)[0]  # seat 0 is to move
    for settings, options, seat in (
        ({"seat": 1}, {}, 1),
        ({}, {"seat": 1}, 1),
        ({"seat": 1}, {"seat": 0}, 0),
        ({}, {}, 0),
    ):
        env = SingleAgentEnv("hog", opponent="always_roll(5)", **settings)
        _, info = env.reset(options={"state": state, **options})
        assert (info["seat"], int(env.state["player"])) == (seat, seat)
        assert env.state["scores"].any() == (seat == 1)


def ended(name: str) -> Any:
    game = dicegym.game(name)
    state = game.new_game()[0]
    while not state["over"]:
        game.step(state, int(game.legal(state).argmax()) + 4)
    return state


HOG = dicegym.game("hog")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("hog-", "cannot be read as a state"),
        (position_id(HOG, HOG.new_game()[0])[:-1], "cut or mistyped"),
        (position_id(HOG, HOG.new_game()[0], 0), r"only what seat 0 may know: let dicegym\.values\.fork"),
        (position_id(dicegym.game("hog", goal=50), dicegym.game("hog", goal=50).new_game()[0]), "goal=50"),
        (position_id(dicegym.game("yatzy"), dicegym.game("yatzy").new_game()[0]), "it is a state of yatzy"),
        (dicegym.game("yatzy").new_game()[0], "cannot be read as a state of Hog: give game.new_state"),
        (dicegym.game("hog", goal=50).new_game()[0], "a record whose goal is 50"),
        (HOG.new_game().repeat(2), "cannot be read as a state of Hog"),
        (7, "state=7 cannot be read as a state of Hog"),
        (ended("hog"), "the game is over in this state"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_state_that_no_game_can_begin_in_is_refused(given: Any, match: str) -> None:
    env = SingleAgentEnv("hog", opponent="always_roll(5)", seat=0)
    env.reset(seed=1)
    before = env.state.tobytes()
    with pytest.raises(ParameterError, match=match):
        env.reset(options={"state": given})
    assert env.state.tobytes() == before
    env.step(5)  # the game before goes on


def test_a_state_that_nobody_can_have_played_to_is_refused() -> None:
    state = HOG.new_game()[0]
    state["scores"] = (30_000, 3)
    with pytest.raises(ParameterError, match=r"invalid record of Hog: scores is \[30000, 3\]"):
        SingleAgentEnv("hog").reset(options={"state": state})
    with pytest.raises(ParameterError, match="'state' and 'episode'"):
        SingleAgentEnv("hog").reset(options={"state": HOG.new_game()[0], "episode": 3})


def test_games_that_end_before_the_learner_is_asked_are_skipped_and_bounded() -> None:
    hopeless = FunctionPlayer(lambda turn: 99, "hopeless")
    env = SingleAgentEnv("hog", opponent=hopeless, seat="random")
    env.reset(seed=0)
    assert env.seat == 0  # in seat 1 the game would be over already
    with pytest.raises(StepError, match="100 games in a row"):
        SingleAgentEnv("hog", opponent=hopeless, seat=1).reset(seed=0)


@each_environment
def test_rendering_shows_dice_and_every_seat(env_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = gym.make(env_id, render_mode="ansi")
    text.reset(seed=1)
    screens = []
    for time in range(20):  # dice may have to be bought before they can be rolled
        legal = np.flatnonzero(text.unwrapped.action_masks())
        if not len(legal):
            break
        text.step(int(legal[-1 - time % 2 % len(legal)]))
        screens.append(text.render())
    game = text.unwrapped.game
    assert all(game.spec.title in screen for screen in screens)
    assert any(face in screen for face in "⚀⚁⚂⚃⚄⚅" for screen in screens)

    picture = gym.make(env_id, render_mode="rgb_array")
    kept, info = picture.reset(seed=1)
    before, mask, first = kept.copy(), info["action_mask"].copy(), picture.render()
    assert (first.dtype, first.ndim, first.shape[2]) == (np.uint8, 3, 3)
    picture.step(int(np.flatnonzero(mask)[-1]))
    assert (picture.render() != first).any()
    assert (kept == before).all()  # what was told is the caller's own
    assert (info["action_mask"] == mask).all()
    picture.unwrapped.action_masks()[:] = False
    assert picture.unwrapped.action_masks().any()

    human = gym.make(env_id, render_mode="human")
    human.reset(seed=1)
    assert game.spec.title in capsys.readouterr().out


def test_a_picture_without_what_draws_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    env = SingleAgentEnv("hog", render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(dicegym.errors.DependencyError, match=r"\.\[render\]"):
        env.render()


@each_environment
def test_spec_survives_json_and_pickle(env_id: str) -> None:
    env = gym.make(env_id)
    copy = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert copy.unwrapped.game == env.unwrapped.game


def test_memory_adds_what_the_player_can_remember() -> None:
    plain = gym.make("dicegym/Hog-v0")
    more = gym.make("dicegym/Hog-v0", memory=True, opponent="always_roll(1)", seat=0)
    extra = more.observation_space.shape[0] - plain.observation_space.shape[0]
    observation, _ = more.reset(seed=0)
    assert extra == 6
    assert observation[-6:].tolist() == [1, 0, 0, 0, 1, 0]
    assert more.step(0)[0][-2:].tolist() == [0, 1]
