"""The multi-agent environment (PettingZoo, agent environment cycle): every seat is yours."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from dicegym.engine.game import Game
from dicegym.envs.every_seat import EverySeat
from dicegym.envs.options import ILLEGAL_ACTION, check_cap, documented, illegal, read_action, set_game
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.errors import StepError
from dicegym.games import game as make_game


@documented
class TurnEnv(EverySeat, AECEnv[str, Any, Any]):
    """Play all seats of a game in turn.

    Observations are dicts: ``"observation"`` float32[game.observation_size] and ``"action_mask"``
    int8[game.n_actions], all zero for seats that are not to move. A reward is what the seat gained by the
    last decision; `last` adds up what reached an agent since it was last asked.

    Args:
        game: a game's name (the registry fills it in) or a `dicegym.Game`.
        flat: observations are the arrays float32[game.observation_size] alone, and the masks of all agents stand in
            ``infos[agent]["action_mask"]``.
        <on_illegal>
        <reward>
        max_cycles: truncate when the agent to move has had so many turns already; None: never.
        max_steps: truncate after so many decisions of all agents together; None: never.
        <render_mode>
            It shows the whole table.
        <parameters>

    Raises:
        <raises>
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
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        size, n_actions = self.game.observation_size, self.game.n_actions
        for agent in self.possible_agents:
            plain = gym.spaces.Box(0.0, 1.0, (size,), np.float32)
            mask = gym.spaces.Box(0, 1, (n_actions,), np.int8)
            both = gym.spaces.Dict({"observation": plain, "action_mask": mask})
            self.observation_spaces[agent] = plain if flat else both
        self.action_spaces = {agent: gym.spaces.Discrete(n_actions) for agent in self.possible_agents}
        self._mask = np.zeros(n_actions, np.bool_)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the next game of the seed, or the first one of a new seed.

        ``options={"state": s}`` begins in a state instead, the id of one or a record such as `state_record`. Rewards
        are what seats gain from there on, and dice those of the state: to plan, give what `dicegym.analysis.fork`
        returns. Other options are not used.

        Raises ParameterError if no game can go on from that state.
        """
        self._begin(seed, (options or {}).get("state"))
        self._had = [0] * self.game.players  # turns by seat
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[int(self._state["player"])]
        self._tell_masks()
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return (observation, reward since it was last asked, terminated, truncated, info) of the agent to move.

        Raises StepError before `reset`.
        """
        if self._seed is None:
            raise StepError("last() was called with no game going on: call reset() first")
        found: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return found

    def observe(self, agent: str) -> Any:
        """Return what ``agent`` knows, as new arrays; see the class for the form."""
        observation = np.empty(self.game.observation_size, np.float32)
        self.game.spec.kernels.observe(self._state, self._seat_of[agent], observation)
        return observation if self.flat else {"observation": observation, "action_mask": self._mask_of(agent)}

    def _mask_of(self, agent: str) -> np.ndarray:
        """Return int8[n_actions]: all zero for who is not to move."""
        mask = np.zeros(self.game.n_actions, np.int8)
        if agent == self.agent_selection and not self.terminations.get(agent, True):
            self.game.spec.kernels.legal(self._state, mask.view(np.bool_))
        return mask

    def _tell_masks(self) -> None:
        """Put the masks into ``infos`` where observations hold none."""
        if self.flat:
            for agent in self.agents:
                self.infos[agent]["action_mask"] = self._mask_of(agent)

    def step(self, action: Any) -> None:
        """Play ``action`` for the agent in ``agent_selection`` (None once its game is over).

        Raises:
            StepError: before `reset`, or when no agent is left.
            IllegalActionError: with ``on_illegal="raise"``; also for what is no whole number at all.
        """
        if not self.agents:
            raise StepError("step() was called with no game going on: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = read_action(action, self.game.n_actions)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent].pop("fault", None)
        if self.on_illegal != "rule" and not self._is_legal(number):
            self._illegal(agent, number)
            return
        fault = self.game.spec.kernels.step(self._state, number)
        if fault:
            self.infos[agent]["fault"] = self.game.spec.faults[fault]
        self._had[self._seat_of[agent]] += 1
        self._collect()
        if self.render_mode == "human":
            self.render()

    def _is_legal(self, action: int) -> bool:
        if not 0 <= action < self.game.n_actions:
            return False
        self.game.spec.kernels.legal(self._state, self._mask)
        return bool(self._mask[action])

    def _collect(self) -> None:
        """Hand out what the last decision earned, and say whose turn it is or that the game is over."""
        cumulative, rewards = self._cumulative_rewards, self.rewards
        for agent, gained in zip(self.possible_agents, self._new_rewards(), strict=True):
            rewards[agent] = gained
            cumulative[agent] += gained
        if self._state["over"]:
            self.terminations = dict.fromkeys(self.agents, True)
        elif self._capped():
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._state["player"]]
        self._tell_masks()

    def _capped(self) -> bool:
        if self.max_cycles is not None and self._had[self._state["player"]] >= self.max_cycles:
            return True
        return self.max_steps is not None and sum(self._had) >= self.max_steps

    def _illegal(self, culprit: str, action: int) -> None:
        if self.on_illegal == "raise":
            raise illegal(action, self.game.legal(self._state), f" for {culprit}")
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[culprit] = self.illegal_reward
        self._cumulative_rewards[culprit] += self.illegal_reward
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos[culprit]["fault"] = ILLEGAL_ACTION
        self._tell_masks()


def parallel_env(
    game: str | Game, max_cycles: int | None = None, flat: bool = False, **settings: Any
) -> ParallelEnv[str, Any, Any]:
    """Return a game under PettingZoo's parallel interface.

    Where all players choose at once that is a `SimultaneousEnv`, a step of which is a round. Any other game is a
    `TurnEnv`: a step takes actions of all agents and plays that of the agent to move, whom
    ``infos[agent]["active_agent"]`` names from the first step on. ``max_cycles`` counts steps, as everywhere in
    that interface; other ``settings`` are those of the two classes. ``flat`` is as for `TurnEnv`; the observations of
    a `SimultaneousEnv` are arrays always, its masks in ``infos``.
    """
    if make_game(game).spec.joint_action is not None:
        return SimultaneousEnv(game, max_cycles=max_cycles, **settings)
    return turn_based_aec_to_parallel_wrapper(TurnEnv(game, flat=flat, max_steps=max_cycles, **settings))
