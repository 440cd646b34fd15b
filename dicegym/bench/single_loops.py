"""Loops over one game: random legal actions in every form that a single environment has.

Each function returns a loop. Those of other libraries (`dicegym.bench.peers`) use the same ones where the interface
is the same.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import dicegym
from dicegym.bench.timing import AT_A_TIME, Work, random_numbers
from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.registry import Environment


def one_state(environment: Environment) -> Work:
    """Every seat of one game by `dicegym.Game` itself, from Python and without an environment; counts decisions."""
    game = dicegym.game(environment.game, **environment.settings)
    drawn, episodes = random_numbers(), iter(range(1 << 62))
    state = game.new_game(0, next(episodes))[0]

    def work() -> int:
        nonlocal state
        for _ in range(AT_A_TIME):
            game.observe(state, int(state["player"]))
            legal = game.legal(state).nonzero()[0]
            game.step(state, int(legal[next(drawn) % len(legal)]))
            if state["over"]:
                state = game.new_game(0, next(episodes))[0]
        return AT_A_TIME

    return work


def make(env_id: str, masked: bool = True) -> Work:
    """One seat of one game by ``gymnasium.make``; counts the learner's steps."""
    env = gym.make(env_id)
    _, info = env.reset(seed=0)
    drawn = random_numbers()

    def work() -> int:
        nonlocal info
        for _ in range(AT_A_TIME):
            choice = next(drawn)
            if masked:
                legal = info["action_mask"].nonzero()[0]
                action = legal[choice % len(legal)]
            else:
                action = choice % 2
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return AT_A_TIME

    return work


def aec(env: Any) -> Work:
    """Every seat of one game in turn by PettingZoo's `AECEnv`; counts decisions."""
    env.reset(seed=0)
    drawn = random_numbers()

    def work() -> int:
        decisions = 0
        while decisions < AT_A_TIME:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[next(drawn) % len(legal)])
            decisions += 1
        return decisions

    return work


def our_aec(environment: Environment) -> Work:
    """`aec` of an environment of ours."""
    return aec(TurnEnv(environment.game, **environment.settings))


def parallel(environment: Environment) -> Work:
    """Every seat of one game by PettingZoo's `ParallelEnv`; counts decisions.

    Where all choose at once, a decision is a whole choice of one agent; elsewhere only the agent to move has any.
    """
    game = dicegym.game(environment.game, **environment.settings)
    env, at_once = parallel_env(game), game.spec.joint_action is not None
    told = env.reset(seed=0)
    drawn = random_numbers()

    def one_thing(agent: str) -> np.ndarray:
        """Choose something of one thing alone, which the mask says is legal."""
        limits = told[1][agent]["action_mask"]
        choice = np.zeros(len(limits), np.int64)
        thing = next(drawn) % len(limits)
        choice[thing] = next(drawn) % int(limits[thing].sum())
        return choice

    def work() -> int:
        nonlocal told
        decisions = 0
        while decisions < AT_A_TIME:
            actions: dict[str, Any] = {}
            if at_once:
                actions = {agent: one_thing(agent) for agent in env.agents}
                decisions += len(actions)
            else:
                for agent in env.agents:
                    legal = told[0][agent]["action_mask"].nonzero()[0]
                    actions[agent] = legal[next(drawn) % len(legal)] if len(legal) else 0
                decisions += 1
            stepped = env.step(actions)
            told = stepped[0], stepped[-1]
            if not env.agents:
                told = env.reset()
        return decisions

    return work
