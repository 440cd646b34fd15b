"""A table all of whose seats are the caller's: what the multi-agent environments share."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.engine import loops
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.envs.render import draw_scene
from dicegym.envs.seating import check_seed
from dicegym.envs.single import RENDER_MODES, check_render_mode


class Table:
    """One game at a time, its agents called ``player_0``, ``player_1``, ... by seat."""

    agents: list[str]
    possible_agents: list[str]
    metadata: dict[str, Any]

    def _lay(self, game: Game, render_mode: str | None, is_parallelizable: bool) -> None:
        """Set up what both kinds of environments have. Raises ParameterError if ``render_mode`` is none."""
        self.game = game
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": is_parallelizable,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self.agents = []
        self.observation_spaces: dict[str, gym.spaces.Space[Any]] = {}
        self.action_spaces: dict[str, gym.spaces.Space[Any]] = {}
        self._seed: int | None = None
        self._episode = -1
        self._states = game.new_states(1)
        self._state = self._states[0]
        self._gained = np.zeros(game.players, np.float32)

    def observation_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Return the observation space of ``agent`` (the same object each time)."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Return the action space of ``agent`` (the same object each time)."""
        return self.action_spaces[agent]

    @property
    def state_record(self) -> Any:
        """A copy of the game's record, hidden parts included (for analysis)."""
        return self._states.copy()[0]

    def _begin(self, seed: int | None) -> None:
        """Begin the next game of the seed, or the first one of a new seed."""
        if seed is not None:
            self._seed, self._episode = check_seed(seed), -1
        elif self._seed is None:
            self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])  # fresh entropy
        self._episode += 1
        loops.begin(self._states, 0, self.game.blank, np.uint64(game_key(self._seed, self._episode)))
        self._gained[:] = 0
        self.agents = self.possible_agents[:]

    def _earned(self) -> list[float]:
        """Return what each seat gained since the last call."""
        before = self._gained.tolist()
        self.game.spec.kernels.returns(self._state, self._gained)
        return [now - then for now, then in zip(self._gained.tolist(), before, strict=True)]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the view of the record, which would become a record of its own."""
        return {name: value for name, value in vars(self).items() if name != "_state"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on with a copy."""
        self.__dict__.update(state)
        self._state = self._states[0]

    def render(self) -> Any:
        """Return the whole table in the form of ``render_mode``; "human" prints it."""
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
            return None
        scene = self.game.scene(self._state)
        if self.render_mode == "rgb_array":
            return draw_scene(scene)
        if self.render_mode == "human":
            print(scene.text())
            return None
        return scene.text()

    def close(self) -> None:
        """Nothing is held open."""
