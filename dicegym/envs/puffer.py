"""A native PufferLib environment over the batch environment. Needs ``pufferlib``, which no extra brings."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from dicegym.engine.game import Game
from dicegym.envs.vector import BatchEnv
from dicegym.errors import DependencyError, ParameterError

try:
    from pufferlib import PufferEnv
except ImportError as error:
    raise DependencyError(
        "dicegym.envs.puffer needs pufferlib, which is not installed: pip install --no-deps pufferlib "
        "(its requirements ask for an older NumPy and Gymnasium)"
    ) from error


class PufferVecEnv(PufferEnv):
    """Steps ``num_envs`` games in one call; what ended is reset in the same step, as PufferLib expects.

    ``infos`` holds a dict with ``"episode_return"`` and ``"episode_length"`` for each game that ended. PufferLib knows
    no action masks: `action_masks` has them, and an illegal action does what ``on_illegal`` says.

    Args:
        game: a game's name or a `dicegym.Game`.
        num_envs: number of games, which are this environment's agents.
        buf: PufferLib's buffers.
        seed: game i has the seed ``seed + i`` from the first reset on.
        **settings: as for `dicegym.envs.vector.BatchEnv` (``opponent``, ``seat``, ...).
    """

    def __init__(
        self, game: str | Game, num_envs: int = 1024, buf: Any = None, seed: int | None = None, **settings: Any
    ) -> None:
        for name in ("autoreset_mode", "copy"):
            if name in settings:
                raise ParameterError(f"{name} is PufferLib's own here: leave it out")
        self.batch = BatchEnv(game, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, copy=False, **settings)
        self.single_observation_space = self.batch.single_observation_space
        self.single_action_space = self.batch.single_action_space
        self.num_agents = num_envs
        self.render_mode = self.batch.render_mode
        super().__init__(buf)
        self._first_seed = seed
        self._returns = np.zeros(num_envs, np.float64)
        self._lengths = np.zeros(num_envs, np.int64)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list[dict[str, Any]]]:
        """Begin a game in every row."""
        self.observations[:], _ = self.batch.reset(seed=self._first_seed if seed is None else seed)
        self._first_seed = None
        self._returns[:], self._lengths[:] = 0, 0
        return self.observations, []

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play one action (int[num_envs]) in every game; results are in PufferLib's buffers."""
        found = self.batch.step(actions.astype(np.int64))
        self.observations[:], self.rewards[:], self.terminals[:], self.truncations[:], _ = found
        self._returns += self.rewards
        self._lengths += 1
        ended = np.flatnonzero(found[2] | found[3])
        told = [
            {"episode_return": score, "episode_length": length}
            for score, length in zip(self._returns[ended].tolist(), self._lengths[ended].tolist(), strict=True)
        ]
        self._returns[ended], self._lengths[ended] = 0, 0
        return self.observations, self.rewards, self.terminals, self.truncations, told

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` from each game's next episode on; see `BatchEnv.set_opponent`."""
        self.batch.set_opponent(opponent)

    def action_masks(self) -> np.ndarray:
        """Return the action masks of all games: bool[num_envs, n_actions]."""
        return self.batch.action_masks()

    def render(self) -> Any:
        """Return the first table in the form of ``render_mode``."""
        shown = self.batch.render()
        return shown[0] if shown else None

    def close(self) -> None:
        """Release nothing: all is in memory."""
