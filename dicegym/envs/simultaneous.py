"""The parallel environment (PettingZoo) for games in which all players choose at once: a step is a round."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from operator import getitem, le
from typing import Any

import gymnasium as gym
import numpy as np
from pettingzoo import ParallelEnv

from dicegym.engine.game import Game
from dicegym.engine.spec import JointAction
from dicegym.engine.state import FAULT, LOOK, OBSERVE, OVER, SEAT, STEP
from dicegym.envs.every_seat import EverySeat
from dicegym.envs.options import ILLEGAL_ACTION, NO_FAULT, fill_docstring, read_start, set_game
from dicegym.errors import IllegalActionError, ParameterError, StepError, one_line

Infos = dict[str, dict[str, Any]]
Outcome = tuple[dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], Infos]
"""Observations, rewards, terminations, truncations and infos by agent."""


def _masks_of(size: int) -> list[np.ndarray]:
    """Return all masks of one thing (read-only int8[size]), by the largest legal number; the last allows nothing.

    Making them anew would take longer than the rest of a round.
    """
    masks = np.tri(size + 1, size, -1, np.int8)[[*range(1, size + 1), 0]]
    masks.flags.writeable = False
    return list(masks)


@fill_docstring
class SimultaneousEnv(EverySeat, ParallelEnv[str, np.ndarray, np.ndarray]):
    """Play all seats of a game of simultaneous choices (``game.spec.joint_action``), round by round.

    An action is the whole choice of a round: ``MultiDiscrete``, a number for each thing that can be chosen. The
    observation is float32[game.observation_size], what the agent knows at the beginning of the round. Infos hold
    ``"action_mask"``, ``"fault"``, what was wrong with the last choice (``""``: nothing), and ``"returns"``
    float32[players], the game's result so far. The mask is a tuple of read-only int8 arrays: for each thing, the
    numbers that are legal if nothing else is chosen. It is all zero once the game is over or truncated.

    Args:
        game: a game's name or a `dicegym.Game`; all its players choose at once.
        <on_illegal>
        <reward>
        max_cycles: truncate after this many rounds; None: never. A game that ends with the last of them is both
            terminated and truncated, as with ``gymnasium.wrappers.TimeLimit``.
        <render_mode>
            It shows the whole table.
        <parameters>

    Raises:
        <raises>

    Example:
        >>> from dicegym.envs import SimultaneousEnv
        >>> env = SimultaneousEnv("lucky", players=2)
        >>> observations, infos = env.reset(seed=0)
        >>> orders = {agent: env.action_space(agent).sample() * 0 for agent in env.agents}
        >>> observations, rewards, terminated, truncated, infos = env.step(orders)
        >>> sorted(observations)
        ['player_0', 'player_1']
    """

    def __init__(
        self,
        game: str | Game,
        on_illegal: str = "rule",
        illegal_reward: float = -1.0,
        reward: str = "win",
        max_cycles: int | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        game = set_game(SimultaneousEnv, game, parameters)
        if game.spec.joint_action is None:
            raise ParameterError(f"{game!r} is not a game of simultaneous choices: use dicegym.envs.multi.parallel_env")
        self._joint_action: JointAction = game.spec.joint_action
        self._set_up(game, on_illegal, illegal_reward, reward, max_cycles, render_mode, is_parallelizable=True)
        numbers = np.array(self._joint_action.most, np.int64) + 1
        for agent in self.possible_agents:
            self.observation_spaces[agent] = gym.spaces.Box(0.0, 1.0, (game.observation_size,), np.float32)
            self.action_spaces[agent] = gym.spaces.MultiDiscrete(numbers)
        self._masks = [_masks_of(int(number)) for number in numbers]
        self._names = frozenset(self.possible_agents)
        self._rounds = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue with a copy; NumPy's copies of the shared masks would be writable."""
        super().__setstate__(state)
        for mask in itertools.chain.from_iterable(self._masks):
            mask.flags.writeable = False

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], Infos]:
        """Begin the next game of the seed, or the first one of a new seed.

        ``options`` are those of `dicegym.envs.multi.TurnEnv.reset`. A state must be the beginning of a round.

        Returns (observations, infos) by agent. Raises ParameterError for invalid options.
        """
        episode, state = read_start(self.game, options)
        if state is not None and not self._joint_action.is_open(state[0]):
            raise ParameterError(
                f"this state is in the middle of a round: seat {state['player'][0]} is to choose, and a step takes "
                "the choices of all seats. Give a state in which a round begins, or step seat by seat with env()"
            )
        self._begin(seed, episode, state)
        self._rounds = 0
        if self.render_mode == "human":
            self.render()
        return self._observations(), self._infos({})

    def _observations(self) -> dict[str, np.ndarray]:
        ask, copy, found = self._row.ask, self._copy_observation, {}
        for seat, agent in enumerate(self.possible_agents):
            ask(OBSERVE, 0, seat, 0)
            found[agent] = copy()
        return found

    def _infos(self, faults: Mapping[int, str]) -> Infos:
        infos: Infos = {}
        masks, copy = self._masks, self._returns.copy
        limits = self._joint_action.limits(self._state) if self.agents else [[-1] * len(masks)] * self.game.players
        for seat, agent in enumerate(self.possible_agents):
            infos[agent] = {
                "action_mask": tuple(map(getitem, masks, limits[seat])),  # the last one for -1
                "fault": faults.get(seat, NO_FAULT),
                "returns": copy(),
            }
        return infos

    def step(self, actions: Mapping[str, Any]) -> Outcome:
        """Play one round: ``actions`` holds a choice for every agent.

        Returns (observations, rewards, terminations, truncations, infos) by agent.

        Raises:
            StepError: before `reset`, or when no agent is left.
            ParameterError: an agent's choice is missing, or not in its action space.
            IllegalActionError: with ``on_illegal="raise"``.
        """
        if not self.agents:
            raise StepError("step() was called with no game going on: call reset() first")
        if not isinstance(actions, Mapping):
            raise ParameterError(
                f"actions={one_line(actions, 60)} is not a dict: give the choice of each agent by its name"
            )
        if actions.keys() != self._names and (strangers := sorted(set(actions) - self._names, key=str)):
            raise ParameterError(f"{strangers[0]!r} is not an agent here: give choices of {', '.join(self.agents)}")
        choices = [self._choice(agent, actions) for agent in self.possible_agents]
        before = None if self.on_illegal == "rule" else self._row.records.copy()
        faults = self._play(choices)
        if faults and before is not None:
            self._row.records[:] = before
            self._told = self._row.ask(LOOK, 0, 0, self._paid_by)
            return self._illegal(faults)
        rewards = dict(zip(self.possible_agents, self._new_rewards(), strict=True))
        words = {seat: self.game.spec.faults[fault] for seat, fault in faults.items()}
        return self._report(words, rewards, self._told & OVER != 0)

    def _choice(self, agent: str, actions: Mapping[str, Any]) -> list[int]:
        """Return the numbers that an agent chose. Raises ParameterError."""
        most = self._joint_action.most
        if agent not in actions:
            raise ParameterError(f"the choice of {agent} is missing: {self._form(agent)}")
        numbers = actions[agent]
        try:
            numbers = numbers if type(numbers) is np.ndarray else np.asarray(numbers)
        except ValueError:
            raise ParameterError(f"the choice of {agent} is not a row of numbers: {self._form(agent)}") from None
        if numbers.shape != (len(most),) or numbers.dtype.kind not in "iu":
            raise ParameterError(
                f"the choice of {agent} with shape {numbers.shape} and dtype {numbers.dtype} cannot be read: "
                f"{self._form(agent)}"
            )
        chosen: list[int] = numbers.tolist()
        if min(chosen) >= 0 and all(map(le, chosen, most)):
            return chosen
        for thing, (number, limit) in enumerate(zip(chosen, most, strict=True)):
            if not 0 <= number <= limit:
                raise ParameterError(f"the choice of {agent} has {number} at index {thing}: give 0 to {limit}")
        return chosen

    def _form(self, agent: str) -> str:
        most = self._joint_action.most
        return f"give {len(most)} whole numbers, each from 0 to below that of action_space({agent!r}).nvec"

    def _play(self, choices: list[list[int]]) -> dict[int, int]:
        """Play the choices of this round; return the faults by seat."""
        ask, paid_by, told = self._row.ask, self._paid_by, self._told
        faults: dict[int, int] = {}
        asked: set[int] = set()
        while not told & OVER and (seat := told & SEAT) not in asked:
            asked.add(seat)
            for action in self._joint_action.actions(choices[seat]):
                told = ask(STEP, 0, action, paid_by)
                if fault := told >> FAULT:
                    faults[seat] = fault
                if told & OVER or told & SEAT != seat:  # an illegal choice may be complete before its last action
                    break
        self._told = told
        return faults

    def _illegal(self, faults: Mapping[int, int]) -> Outcome:
        """Raise, or end the game, after illegal choices, which are not played."""
        if self.on_illegal == "raise":
            seat = min(faults)
            raise IllegalActionError(
                f"the choice of {self.possible_agents[seat]} is not legal now: {self.game.spec.faults[faults[seat]]}"
            )
        rewards = dict.fromkeys(self.possible_agents, 0.0)
        rewards |= {self.possible_agents[seat]: self.illegal_reward for seat in faults}
        return self._report(dict.fromkeys(faults, ILLEGAL_ACTION), rewards, True)

    def _report(self, faults: Mapping[int, str], rewards: dict[str, float], over: bool) -> Outcome:
        self._rounds += 1
        capped = self._rounds == self.max_cycles
        terminations = dict.fromkeys(self.possible_agents, over)
        truncations = dict.fromkeys(self.possible_agents, capped)
        if over or capped:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return self._observations(), rewards, terminations, truncations, self._infos(faults)
