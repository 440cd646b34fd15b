"""The batch environment of every registered game."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import vector as wrappers

from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError, StepError
from dicegym.play.player import FunctionPlayer
from dicegym.registry import ENVIRONMENTS

ENV_IDS = [environment.full_id for environment in ENVIRONMENTS]
each_environment = pytest.mark.parametrize("env_id", ENV_IDS)


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action of each row; 0 where nothing is legal."""
    return np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)


PURE = FunctionPlayer(lambda turn: int(np.flatnonzero(turn.mask)[turn.mask.sum() // 2]), "middle", pure=True)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_what_is_handed_out_without_copies_is_the_same_and_copies_stay_as_they_were(mode: str) -> None:
    settings = {"num_envs": 64, "autoreset_mode": mode, "max_episode_steps": 9, "on_illegal": "rule"}
    own, copied = (gym.make_vec("dicegym/YatzySolo-v0", copy=copies, **settings) for copies in (False, True))
    told: list[tuple[Any, ...]] = [env.reset(seed=3) for env in (own, copied)]
    kept: list[tuple[Any, Any]] = []
    for time in range(60):
        assert data_equivalence(*told)
        kept.append((told[1], copy.deepcopy(told[1])))
        actions = own.random_actions(time).copy()
        actions[time % 64] = 224 if time % 3 else 999  # now and then something illegal, also as an episode ends
        before, told = told, [env.step(actions) for env in (own, copied)]
        assert (told[0][0] is before[0][0], told[1][0] is before[1][0]) == (True, False)
    assert any("final_info" in step[-1] for step, _ in kept) or mode == "NextStep"
    assert any(step[-1]["fault"].any() for step, _ in kept)
    assert all(data_equivalence(step, then) for step, then in kept)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasiums_own_vector_wrappers_work(mode: str) -> None:
    env = gym.make_vec("dicegym/Hog-v0", num_envs=4, autoreset_mode=mode, opponent=PURE)
    env = wrappers.ClipReward(wrappers.NormalizeReward(wrappers.RecordEpisodeStatistics(env)), -5, 5)
    if mode == "NextStep":  # Gymnasium's observation wrappers refuse same-step mode themselves
        env = wrappers.NormalizeObservation(wrappers.RescaleObservation(env, np.float32(-1), np.float32(1)))
    _, info = env.reset(seed=0)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(150):
        *_, terminated, _, info = env.step(choose(info["action_mask"], rng))
        told = info.get("final_info", info)
        for row in np.flatnonzero(terminated):
            assert info["episode"]["r"][row] == pytest.approx(told["returns"][row][told["seat"][row]])
            ended += 1
    assert ended > 5


def test_misuse_is_refused() -> None:
    with pytest.raises(ParameterError, match="num_envs=0"):
        BatchEnv("hog", 0)
    with pytest.raises(ParameterError, match="autoreset_mode='Never'"):
        BatchEnv("hog", 2, autoreset_mode="Never")
    env = BatchEnv("hog", 2, autoreset_mode="Disabled")
    with pytest.raises(StepError, match="reset"):
        env.step(np.array([1, 1]))
    with pytest.raises(ParameterError, match="3 seeds"):
        env.reset(seed=[1, 2, 3])
    env.reset(seed=[1, None])
    env.step(np.array([12, 5]))
    with pytest.raises(StepError, match=r"games \[0\] have ended"):
        env.step(np.array([5, 5]))
    with pytest.raises(ParameterError, match="reset_mask"):
        env.reset(options={"reset_mask": [True, False]})
    with pytest.raises(ParameterError, match="reset knows"):
        env.reset(options={"mask": 1})
    for cap in (0, -3, 2.5, "x"):
        with pytest.raises(ParameterError, match="max_episode_steps"):
            BatchEnv("hog", 2, max_episode_steps=cap)
    rows = env.state_dict()["rows"]
    for seed in ("x", 1.5, True, [1, "x"], [1, True], [1, -1], -1):
        with pytest.raises(ParameterError, match="seed="):
            env.reset(seed=seed)
        assert (env.state_dict()["rows"] == rows).all()
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(np.array([5, 5]))


@each_environment
def test_state_dict_goes_on_where_it_was_taken(env_id: str) -> None:
    env, other = (gym.make_vec(env_id, num_envs=6, opponent=PURE, autoreset_mode="SameStep") for _ in range(2))
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(25):
        _, _, _, _, info = env.step(choose(info["action_mask"], rng))
    other.load_state_dict(env.state_dict())
    for _ in range(25):
        actions = choose(info["action_mask"], rng)
        seen, rewards, terminated, _, info = env.step(actions)
        seen_2, rewards_2, terminated_2, _, _ = other.step(actions)
        assert (seen == seen_2).all()
        assert (rewards == rewards_2).all()
        assert (terminated == terminated_2).all()


@pytest.mark.parametrize("given", [("hog", 1), ("hog", 3), ("yatzy", 2), ("hog", 2, 50), ()], ids=str)
def test_the_state_of_another_batch_is_refused(given: tuple[Any, ...]) -> None:
    env = BatchEnv("hog", 2, opponent="bacon")
    env.reset(seed=0)
    before = env.states.tobytes()
    other = {} if not given else BatchEnv(*given[:2], **({"goal": given[2]} if given[2:] else {})).state_dict()
    with pytest.raises(ParameterError, match=r"does not fit|cannot be read as a state of Hog"):
        env.load_state_dict(other)
    assert env.states.tobytes() == before


def test_state_dict_keeps_games_begun_under_another_pool() -> None:
    """Who sits where is kept, not drawn again from the pool of now; the next episodes draw from that."""
    n = 64
    env = BatchEnv("hog", n, opponent={"always_roll": 1, "swap": 1}, autoreset_mode="SameStep")
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.full(n, 6))
    other = BatchEnv("hog", n, opponent="bacon", autoreset_mode="SameStep")
    other.set_opponent("streak")  # that sits down, and is gone with its games
    other.reset(seed=0)
    other.set_opponent("bacon")
    other.load_state_dict(env.state_dict())
    assert not other._opponents._acts

    def opponents(env: BatchEnv) -> np.ndarray:
        return np.array([env._opponents._players[index].name for index in env._opponents.who.max(axis=1)])

    first = np.ones(n, bool)  # games that go on since the state was taken
    for _ in range(60):
        assert set(opponents(env)) == {"always_roll", "swap"}
        assert (opponents(other)[first] == opponents(env)[first]).all()
        assert (opponents(other)[~first] == "bacon").all()
        _, rewards, over, *_ = env.step(np.full(n, 6))
        _, other_rewards, other_over, *_ = other.step(np.full(n, 6))
        assert (rewards[first] == other_rewards[first]).all()
        assert (over[first] == other_over[first]).all()
        first &= ~over
    assert not first.any()


def test_new_opponents_come_with_the_next_episode() -> None:
    asked = []
    env = BatchEnv("hog", 3, opponent="streak", seat=0, autoreset_mode="SameStep")
    env.reset(seed=0)
    env.set_opponent(FunctionPlayer(lambda turn: asked.append(1) or 5, "new"))
    env.step(np.array([5, 5, 5]))
    assert not asked
    env.step(np.array([12, 5, 5]))  # the first game ends and begins anew
    env.step(np.array([5, 5, 5]))
    assert len(asked) == 1
    env.set_opponent("bacon")
    for _ in range(2):
        env.step(np.full(3, 12))  # ends every game
    env.set_opponent("bacon")
    assert not env._opponents._acts  # seated bots are forgotten with their games
    assert {player.name for player in env._opponents._players} == {"bacon"}
