"""What the two multi-agent environments share: the caller plays every seat."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.state import BEGIN, LOOK, OBSERVED, OF_RETURNS, as_word, make_rows
from dicegym.engine.validate import seed_number
from dicegym.envs.options import PAID, GameOptions, check_cap, render_modes
from dicegym.envs.render import render_game
from dicegym.errors import StepError
from dicegym.pictures.drawing import draw


class EverySeat(GameOptions):
    """One game at a time; its agents are ``player_0``, ``player_1``, ... by seat."""

    agents: list[str]
    possible_agents: list[str]
    metadata: dict[str, Any]

    def _set_up(
        self,
        game: Game,
        on_illegal: str,
        illegal_reward: float,
        reward: str,
        max_cycles: int | None,
        render_mode: str | None,
        is_parallelizable: bool,
    ) -> None:
        """Set up what both environments have. Raises ParameterError for an invalid option."""
        self._set_options(game, on_illegal, illegal_reward, reward, render_mode)
        self.max_cycles = check_cap("max_cycles", max_cycles)
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": render_modes(),
            "is_parallelizable": is_parallelizable,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self.agents = []
        self.observation_spaces: dict[str, gym.spaces.Space[Any]] = {}
        self.action_spaces: dict[str, gym.spaces.Space[Any]] = {}
        self._seed: int | None = None
        self._episode = -1
        self._take_row()
        self._paid_by = PAID[self.reward]
        self._gained = [0.0] * game.players  # the sums of rewards so far

    def _take_row(self) -> None:
        """Allocate memory for the game."""
        (self._row,) = make_rows(self.game, 1)
        self._copy_observation, self._copy_mask = self._row.observation.copy, self._row.mask.view(np.int8).copy

    @property
    def _state(self) -> Any:
        """The game's record itself."""
        return self._row.record

    def observation_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Return the observation space of ``agent`` (the same object each time)."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Return the action space of ``agent`` (the same object each time)."""
        return self.action_spaces[agent]

    @property
    def state_record(self) -> Any:
        """A copy of the game's record, hidden parts included (for analysis)."""
        return self._state.copy()

    def _begin(self, seed: int | None, episode: int | None, state: np.ndarray | None) -> None:
        """Begin the next game of the seed, the first game of a new seed, or what `read_start` found in the options."""
        if seed is not None:
            self._seed, self._episode = seed_number("seed", seed), -1
        elif self._seed is None:
            self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])  # fresh entropy
        ask = self._row.ask
        if state is None:
            self._episode = self._episode + 1 if episode is None else episode
            ask(BEGIN, 0, as_word(self._seed), as_word(self._episode))
        else:
            self._row.records[:] = state
        self._told = ask(LOOK, 0, 0, self._paid_by)
        self._returns = self._row.returns.copy()
        self._gained = self._sums()
        self.agents = self.possible_agents[:]

    def _sums(self) -> list[float]:
        found: list[float] = (self._row.returns if self._paid_by == OF_RETURNS else self._row.paid).tolist()
        return found

    def _new_rewards(self) -> list[float]:
        """Return what each seat gained since the last call."""
        before, self._gained = self._gained, self._sums()
        self._returns = self._row.returns.copy()
        return [now - then for now, then in zip(self._gained, before, strict=True)]

    @property
    def is_begun(self) -> bool:
        """Whether `reset` was called."""
        return self._seed is not None

    def __getstate__(self) -> dict[str, Any]:
        """Replace the row by its record."""
        left_out = ("_row", "_copy_observation", "_copy_mask")
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        return kept | {"record": self._row.records.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue with a copy."""
        record = state.pop("record")
        self.__dict__.update(state)
        self._take_row()
        self._row.records[:] = record
        if self._seed is not None:
            self._row.ask(LOOK, 0, 0, self._paid_by | OBSERVED)

    def render(self) -> Any:
        """Return the whole table as ``render_mode`` says; "human" prints it. Raises StepError before `reset`."""
        if self._seed is None:
            raise StepError("render() was called with no game going on: call reset() first")
        return render_game(self.render_mode, self.game, self._state, None)

    def close(self) -> None:
        """Release nothing: all is in memory."""

    def _repr_html_(self) -> str | None:
        """Show the whole table in a notebook; None before the first game."""
        return None if self._seed is None else draw(self.game, self._state).svg()
