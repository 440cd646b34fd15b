"""What rewards sum to, in every form of every environment; and learning can begin against the default opponents."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium as gym
import numpy as np
import pytest
from variants import covering, pick

import dicegym
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.options import Reward
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError
from dicegym.registry import ENVIRONMENTS, Environment

WITH_OTHERS = [environment for environment in ENVIRONMENTS if environment.multi]
each_environment = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.id)
each_with_others = pytest.mark.parametrize("environment", WITH_OTHERS, ids=lambda environment: environment.id)
REWARDS = get_args(Reward)
each_reward = pytest.mark.parametrize("reward", REWARDS)
each_reward_of_each = pytest.mark.parametrize(
    ("environment", "reward"), covering(WITH_OTHERS, REWARDS), ids=lambda value: getattr(value, "id", value)
)
BEGINNERS_LUCK = 0.05
"""What random play is to win against the default opponents at least: PPO, which begins so, has something to go by."""


def table(environment: Environment) -> Game:
    return dicegym.game(environment.game, **environment.settings)


def worth(game: Game, state: Any, reward: str) -> np.ndarray:
    if reward != "first":
        return game.returns(state) if reward == "win" else game.margin(state)
    leaders = np.flatnonzero(game.returns(state) == game.returns(state).max())
    shares = np.zeros(game.players)
    shares[leaders] = 1 / len(leaders)
    return (game.players * shares - 1) / (game.players - 1) if state["over"] else 0 * shares


@each_reward_of_each
def test_rewards_of_an_episode_sum_to_the_result_or_the_lead(environment: Environment, reward: str) -> None:
    env: Any = gym.make(environment.full_id, reward=reward).unwrapped
    amounts = 0
    for seed in range(3):
        _, info = env.reset(seed=seed)
        total, over, time = 0.0, False, 0
        while not over:
            _, gained, over, _, info = env.step(pick(info["action_mask"], seed, time))
            total += gained
            amounts += gained != 0
            time += 1
        assert total == pytest.approx(worth(env.game, env.state, reward)[env.seat], abs=1e-5)
        assert (info["returns"] == env.game.returns(env.state)).all()
    assert amounts


@each_reward_of_each
def test_every_seat_is_rewarded_by_its_lead_and_leads_cancel_out(environment: Environment, reward: str) -> None:
    """What `last` tells each agent sums to the same as what each step pays."""
    env = TurnEnv(environment.game, reward=reward, **environment.settings)
    env.reset(seed=2)
    told, paid, time = np.zeros(env.game.players), np.zeros(env.game.players), 0
    for agent in env.agent_iter():
        observation, gained, over, *_ = env.last()
        told[env.possible_agents.index(agent)] += gained
        env.step(None if over else pick(observation["action_mask"] > 0, 3, time))
        if not over:
            rewards = np.array([env.rewards[agent] for agent in env.possible_agents])
            assert reward == "win" or abs(rewards.sum()) < 1e-4
            paid += rewards
            time += 1
    assert told == pytest.approx(worth(env.game, env.state_record, reward), abs=1e-5)
    assert paid == pytest.approx(told)


@each_reward
def test_the_parallel_environment_rewards_likewise(reward: str) -> None:
    env = parallel_env("lucky", reward=reward, rounds=6)
    assert isinstance(env, SimultaneousEnv)
    env.reset(seed=2)
    total = np.zeros(env.game.players)
    orders = np.zeros(22, np.int64)
    orders[0] = 1
    while env.agents:
        _, rewards, *_ = env.step(dict.fromkeys(env.agents, orders) | {env.agents[0]: orders * 2})
        total += [rewards[agent] for agent in env.possible_agents]
    assert total == pytest.approx(worth(env.game, env.state_record, reward), abs=1e-5)
    assert total.any()


@each_with_others
def test_whoever_has_the_higher_return_is_further_ahead(environment: Environment) -> None:
    """The sum of rewards tells the result, whichever are chosen; after illegal actions too."""
    game = table(environment)
    for episode in range(6):
        state, time = game.new_game(4, episode)[0], 0
        while not state["over"]:
            slips = episode % 3 == 2 and time % 17 == 16
            game.step(state, game.n_actions + 500 if slips else pick(game.legal(state), episode, time))
            time += 1
        gained, leads = game.returns(state), game.margin(state)
        assert (np.argsort(gained, kind="stable") == np.argsort(leads.round(5), kind="stable")).all()
        assert leads.sum() == pytest.approx(0, abs=1e-5)
        if game.players == 2:
            assert game.first_places(state) == pytest.approx(np.sign(gained))


def test_margins_are_those_of_the_rules_pages() -> None:
    hog = dicegym.game("hog", goal=50).new_game()[0]
    hog["scores"] = 30, 12
    assert dicegym.game("hog").margin(hog) == pytest.approx([18 / 50, -18 / 50])
    hog["over"], hog["winner"] = True, 1  # below the goal: who leads was disqualified
    assert dicegym.game("hog").margin(hog).tolist() == [-1, 1]
    dice = dicegym.game("liarsdice", players=3, dice=4)
    state = dice.new_game()[0]
    state["left"][:3] = 2, 0, 0
    assert dice.margin(state) == pytest.approx([2 / 4, -1 / 4, -1 / 4])
    lucky = dicegym.game("lucky", players=3, lead=100)
    state = lucky.new_game()[0]
    state["money"][:3] = 80, 30, 1000
    assert lucky.margin(state) == pytest.approx([(0.5 - 1) / 2, (-0.5 - 1) / 2, 1])
    yatzy = dicegym.game("yatzy", players=3)
    state = yatzy.new_game()[0]
    state["totals"][:3], state["upper"][:3] = (120, 60, 100), (63, 10, 20)  # a bonus of 50 for the first
    assert yatzy.margin(state) == pytest.approx([0.9, -0.75, -0.15])


def test_the_first_place_is_shared_by_whoever_ties_and_paid_for_by_all_others() -> None:
    lucky = dicegym.game("lucky", players=4)
    state = lucky.new_game()[0]
    state["money"][:4] = 80, 30, 80, 10
    assert lucky.first_places(state).tolist() == [0, 0, 0, 0]
    state["over"] = True
    assert lucky.first_places(state) == pytest.approx([1 / 3, -1 / 3, 1 / 3, -1 / 3])
    state["money"][0] = 81
    assert lucky.first_places(state) == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])


@pytest.mark.parametrize(("reward", "says"), [("first", "is always first"), ("margin", "is ahead of nobody")])
def test_who_plays_alone_has_neither_lead_nor_first_place(reward: str, says: str) -> None:
    alone = dicegym.game("yatzy", players=1)
    assert not alone.has_margin
    assert alone.first_places(alone.new_game()[0]).tolist() == [0]
    with pytest.raises(ParameterError, match=rf"single player {says}\. Leave it out, or write reward='win'"):
        gym.make("dicegym/YatzySolo-v0", reward=reward)


@pytest.mark.parametrize("cls", [SingleAgentEnv, BatchEnv, TurnEnv, SimultaneousEnv], ids=lambda cls: cls.__name__)
def test_games_without_a_margin_say_so(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Game, "has_margin", False)
    with pytest.raises(ParameterError, match=r"^reward='margin' cannot work: the rules of Lucky & Co have none"):
        cls("lucky", reward="margin")


@each_with_others
def test_random_play_sometimes_wins_against_the_default_opponents(environment: Environment) -> None:
    env: Any = gym.make_vec(environment.full_id, num_envs=256, autoreset_mode="SameStep")
    _, info = env.reset(seed=1)
    actions, wins, played, time = np.zeros(256, np.int64), 0, 0, 0
    while played < 1500:
        loops.random_legal(info["action_mask"], np.uint64(1), time, 0, actions)
        *_, terminated, _, info = env.step(actions)
        time += 1
        if terminated.any():
            final, rows = info["final_info"], np.flatnonzero(terminated)
            returns = final["returns"][rows]
            wins += int((returns[np.arange(len(rows)), final["seat"][rows]] == returns.max(axis=1)).sum())
            played += len(rows)
    assert BEGINNERS_LUCK < wins / played < 0.6
