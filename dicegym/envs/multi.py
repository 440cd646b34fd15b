"""The multi-agent environment (PettingZoo, agent environment cycle): the caller plays every seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from dicegym.engine.game import Game
from dicegym.engine.state import FAULT, GAINED, OBSERVE, OBSERVED, OVER, SEAT, STEP
from dicegym.envs.every_seat import EverySeat
from dicegym.envs.options import (
    ILLEGAL_ACTION,
    NO_FAULT,
    check_cap,
    fill_docstring,
    illegal,
    read_action,
    read_start,
    set_game,
)
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.errors import ParameterError, StepError, one_line
from dicegym.games import game as make_game


@fill_docstring
class TurnEnv(EverySeat, AECEnv[str, Any, Any]):
    """Play all seats of a game in turn.

    Observations are dicts: ``"observation"`` float32[game.observation_size] and ``"action_mask"``
    int8[game.n_actions]. The mask is all zero for agents that are not to move, and for everybody once the game is over
    or truncated. A reward is what the seat gained by the last decision; `last` returns the sum since the agent's last
    turn.

    ``infos`` have the same keys at every step: ``"fault"``, what was wrong with the agent's last action (``""``:
    nothing), and ``"returns"`` float32[players], the game's result so far.

    Args:
        game: a game's name (the registry fills it in) or a `dicegym.Game`.
        flat: observations are plain arrays float32[game.observation_size]; masks are in
            ``infos[agent]["action_mask"]``.
        <on_illegal>
        <reward>
        max_cycles: truncate when the agent to move has had this many turns; None: never. A turn is a decision or,
            where all players choose at once, a whole choice: there it counts rounds, as for `SimultaneousEnv`.
        max_steps: truncate after this many decisions of all agents; None: never. A game that ends with the last
            turn or decision is both terminated and truncated, as with ``gymnasium.wrappers.TimeLimit``.
        <render_mode>
            It shows the whole table.
        <parameters>

    Raises:
        <raises>

    Example:
        >>> from dicegym.envs import TurnEnv
        >>> env = TurnEnv("liarsdice", players=3)
        >>> env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.last()
        >>> env.step(int(observation["action_mask"].argmax()))
        >>> env.agents
        ['player_0', 'player_1', 'player_2']
    """

    def __init__(
        self,
        game: str | Game,
        flat: bool = False,
        on_illegal: str = "rule",
        illegal_reward: float = -1.0,
        reward: str = "win",
        max_cycles: int | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        game = set_game(TurnEnv, game, parameters)
        self.flat = flat
        self._set_up(game, on_illegal, illegal_reward, reward, max_cycles, render_mode, is_parallelizable=False)
        self.max_steps = check_cap("max_steps", max_steps)
        self._watched = self._paid_by | OBSERVED
        self._has_caps = max_cycles is not None or max_steps is not None
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        size, n_actions = self.game.observation_size, self.game.n_actions
        for agent in self.possible_agents:
            plain = gym.spaces.Box(0.0, 1.0, (size,), np.float32)
            mask = gym.spaces.Box(0, 1, (n_actions,), np.int8)
            both = gym.spaces.Dict({"observation": plain, "action_mask": mask})
            self.observation_spaces[agent] = plain if flat else both
        self.action_spaces = {agent: gym.spaces.Discrete(n_actions) for agent in self.possible_agents}
        self._zeros = [0.0] * game.players

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the next game of the seed, or the first one of a new seed.

        ``options={"episode": 5}`` begins that game of the seed. ``options={"state": s}`` begins in a state instead: its
        id, or a record such as `state_record`. Rewards count from there, and the dice are those of the state. To plan,
        give what `dicegym.values.fork` returns. Other options are ignored.

        Raises ParameterError for invalid options.
        """
        self._begin(seed, *read_start(self.game, options))
        self._had = [0] * self.game.players  # turns by seat
        self._steps = 0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"fault": NO_FAULT} for agent in self.agents}
        self._paid = self._seen = False
        self._mover = self._told & SEAT
        self.agent_selection = self.possible_agents[self._mover]
        self._tell()
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return (observation, reward since its last turn, terminated, truncated, info) of the agent to move.

        Raises StepError before `reset`, and when no agent is left.
        """
        if self._seed is None or not self.agents:
            raise StepError("last() was called with no game going on: call reset() first")
        agent = self.agent_selection
        reward, info = self._cumulative_rewards[agent], self.infos[agent].copy()
        seen = self.observe(agent) if observe else None
        return seen, reward, self.terminations[agent], self.truncations[agent], info

    def observe(self, agent: str) -> Any:
        """Return what ``agent`` knows, as new arrays; see the class for the form.

        Raises ParameterError for an unknown agent, StepError before `reset`.
        """
        seat = self._seat_of.get(agent)
        if seat is None:
            raise ParameterError(f"unknown agent {agent!r}: give one of {', '.join(self.possible_agents)}")
        if self._seed is None:
            raise StepError("observe() was called with no game going on: call reset() first")
        if seat != self._mover or not self._seen:
            self._row.ask(OBSERVE, 0, seat, 0)
            self._seen = seat == self._mover
        observation = self._copy_observation()
        return observation if self.flat else {"observation": observation, "action_mask": self._mask_of(agent)}

    def observe_all(self) -> dict[str, Any]:
        """Return the observation of each agent that is left, by agent."""
        if self.flat or len(self.agents) < self.game.players:
            return {agent: self.observe(agent) for agent in self.agents}
        ask, copy, size, mover = self._row.ask, self._copy_observation, self.game.n_actions, self._mover
        movers = self.observe(self.possible_agents[mover])  # first: the last step has written it already
        found = {}
        for seat, agent in enumerate(self.possible_agents):
            if seat == mover:
                found[agent] = movers
            else:
                ask(OBSERVE, 0, seat, 0)
                found[agent] = {"observation": copy(), "action_mask": np.zeros(size, np.int8)}
        self._seen = self.game.players == 1
        return found

    def _mask_of(self, agent: str) -> np.ndarray:
        """Return the mask of an agent, int8[n_actions]."""
        if agent != self.agent_selection or self.terminations.get(agent, True) or self.truncations[agent]:
            return np.zeros(self.game.n_actions, np.int8)
        mask: np.ndarray = self._copy_mask()
        return mask

    def _tell(self) -> None:
        """Put the returns into ``infos``, and the masks if observations are flat."""
        returns = self._returns
        for info in self.infos.values():
            info["returns"] = returns.copy()
        if self.flat:
            for agent, info in self.infos.items():
                info["action_mask"] = self._mask_of(agent)

    def step(self, action: Any) -> None:
        """Play ``action`` for the agent in ``agent_selection`` (None once its game is over).

        Raises:
            StepError: before `reset`, or when no agent is left.
            IllegalActionError: with ``on_illegal="raise"``; also for anything but a whole number.
        """
        if not self.agents:
            raise StepError("step() was called with no game going on: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = read_action(action, self.game.n_actions)
        refused = self.on_illegal != "rule" and not (0 <= number < self.game.n_actions and self._row.mask[number])
        if refused and self.on_illegal == "raise":
            raise illegal(number, self._row.mask, f" for {agent}")
        self._cumulative_rewards[agent] = 0.0
        seat, fault = self._mover, NO_FAULT
        gained: list[float] | None = None  # by seat, if any
        if refused:  # the game ends, and the action is not played
            fault, over = ILLEGAL_ACTION, True
            gained = [self.illegal_reward if other == seat else 0.0 for other in range(self.game.players)]
        else:
            self._told = told = self._row.ask(STEP, 0, number, self._watched)
            over = told & OVER != 0
            if told >> FAULT:
                fault = self.game.spec.faults[told >> FAULT]
            if told & GAINED:
                gained = self._new_rewards()
            self._mover, self._seen = told & SEAT, True
            self.agent_selection = self.possible_agents[self._mover]
        self.infos[agent]["fault"] = fault
        if gained or self._paid:
            for other, reward in zip(self.possible_agents, gained or self._zeros, strict=True):
                self.rewards[other] = reward
                self._cumulative_rewards[other] += reward
            self._paid = gained is not None
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
        if self._has_caps and self._reaches_cap(seat, over):
            self.truncations = dict.fromkeys(self.agents, True)
        if gained or self.flat:
            self._tell()
        if self.render_mode == "human":
            self.render()

    def _reaches_cap(self, seat: int, over: bool) -> bool:
        """Count a decision of ``seat``, and its turn if it is complete; return whether that reaches a cap."""
        self._steps += 1
        if self.game.spec.joint_action is None or self._told & OVER or self._mover != seat:
            self._had[seat] += 1
        if self.max_steps is not None and self._steps >= self.max_steps:
            return True
        if self.max_cycles is None:
            return False
        # At the end nobody is to move: the last cycle is complete if everybody has had it.
        return (min(self._had) if over else self._had[self._mover]) >= self.max_cycles


class TurnsInParallel(turn_based_aec_to_parallel_wrapper[str, Any, Any]):
    """PettingZoo's parallel form of a `TurnEnv`; its ``infos`` are new dicts with the same keys at every step.

    Args:
        aec_env: the environment to play in.
    """

    agents: list[str]
    aec_env: TurnEnv

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin a game; see `TurnEnv.reset`. Returns (observations, infos) by agent."""
        observations, infos = super().reset(seed, options)
        active = self.aec_env.agent_selection
        return observations, {agent: {**info, "active_agent": active} for agent, info in infos.items()}

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Play the action of the agent to move; ``actions`` are by agent.

        Returns (observations, rewards, terminations, truncations, infos) by agent.

        Raises:
            StepError: before `reset`.
            ParameterError: the action of the agent to move is missing.
        """
        env = self.aec_env
        if not env.is_begun:
            raise StepError("step() was called with no game going on: call reset() first")
        if not self.agents:
            return {}, {}, {}, {}, {}
        agent = env.agent_selection
        if not isinstance(actions, Mapping) or agent not in actions:
            raise ParameterError(
                f"actions={one_line(actions, 60)} has no action for {agent}, the agent to move: give a dict such as "
                f"{{{agent!r}: 0}}"
            )
        env.step(actions[agent])
        active = env.agent_selection
        ended = env.terminations[active] or env.truncations[active]  # for all agents alike
        told = {"active_agent": "" if ended else active}
        infos = {agent: {**info, **told} for agent, info in env.infos.items()}
        found = env.observe_all(), env.rewards.copy(), env.terminations.copy(), env.truncations.copy(), infos
        while ended and env.agents:
            env.step(None)
        self.agents = env.agents
        return found


def parallel_env(
    game: str | Game, max_cycles: int | None = None, flat: bool = False, **settings: Any
) -> ParallelEnv[str, Any, Any]:
    """Return a game with PettingZoo's parallel interface.

    Where all players choose at once it is a `SimultaneousEnv`: a step is a round. Any other game is a `TurnEnv`: a step
    takes actions of all agents and plays that of the agent to move, ``infos[agent]["active_agent"]`` (``""`` at the
    end). ``max_cycles`` counts steps: rounds of a `SimultaneousEnv`, otherwise decisions of all agents together, like
    ``max_steps`` of a `TurnEnv`. Other ``settings`` are those of the two classes. ``flat`` works as for `TurnEnv`; a
    `SimultaneousEnv` always has plain arrays as observations and masks in ``infos``.

    Raises ParameterError as the two classes do, and for ``max_steps``: give ``max_cycles`` instead.

    Example:
        >>> from dicegym.envs import parallel_env
        >>> env = parallel_env("hog")
        >>> observations, infos = env.reset(seed=0)
        >>> observations, rewards, terminated, truncated, infos = env.step(dict.fromkeys(env.agents, 5))
        >>> sorted(rewards)
        ['player_0', 'player_1']
    """
    if "max_steps" in settings:
        raise ParameterError("max_steps is not known to the parallel form: give max_cycles, which counts its steps")
    if make_game(game).spec.joint_action is not None:
        return SimultaneousEnv(game, max_cycles=max_cycles, **settings)
    return TurnsInParallel(TurnEnv(game, flat=flat, max_steps=check_cap("max_cycles", max_cycles), **settings))
