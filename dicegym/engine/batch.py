"""Many games stepped together, each by its player to move."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine import loops
from dicegym.engine.kernel_entries import Task
from dicegym.engine.thread_team import ThreadTeam
from dicegym.engine.validate import check_game_number, whole_number, whole_numbers
from dicegym.errors import ParameterError, StepError


class Batch:
    """Many games of one kind, each stepped by its player to move; finished games begin anew at once.

    All arrays are allocated once and overwritten by each step:
        states: records[n].
        observations: float32[n, observation_size] of the player to move.
        masks: bool[n, n_actions] of the player to move.
        results: float32[n, players], valid where ``overs``.
        overs: bool[n], games that ended with the last step.

    ``threads`` is the number of threads that step the games; the games do not depend on it.

    Raises ParameterError for an invalid game, number of games, seed or number of threads.

    Example:
        >>> import dicegym
        >>> batch = dicegym.game("hog").batch(1000, seed=0)
        >>> batch.step(batch.masks.argmax(axis=1))
        >>> batch.observations.shape
        (1000, 62)
    """

    def __init__(self, game: Any, n: int, seed: int = 0, threads: int = 1) -> None:
        if not hasattr(game, "new_states"):
            raise ParameterError(f"{game!r} cannot be stepped as a batch: give a game, such as dicegym.game('hog')")
        self._team = ThreadTeam(threads)
        n = whole_number("n", n, 1, 1 << 30, "the number of games in a batch")
        self.game = game
        self.seed = np.uint64(check_game_number(seed)[0] % (1 << 64))
        self.seeds = self.seed + np.arange(n, dtype=np.uint64)
        self.episodes = np.zeros(n, np.uint64)
        self.states = game.new_states(n)
        self.observations = np.zeros((n, game.observation_size), np.float32)
        self.masks = np.zeros((n, game.n_actions), np.bool_)
        self.results = np.zeros((n, game.players), np.float32)
        self.overs = np.zeros(n, np.bool_)
        self._actions = np.zeros(n, np.int64)
        self._given = np.zeros(n, np.int64)  # the actions for compiled code
        self._shared: Task | None = None
        self._sound = True  # False after an interrupted step: some games have taken it
        rows = np.arange(n)
        loops.begin_rows(self.states, rows, game.blank, self.seeds, self.episodes)
        seats = self.states["player"].astype(np.int64)
        loops.observe_rows(self.states, rows, seats, self.observations, self.masks, self.results)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled step, which holds addresses of this batch's memory."""
        return vars(self) | {"_shared": None}

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.states)

    def step(self, actions: np.ndarray) -> None:
        """Play one decision in every game: ``actions`` is int64[n]. The rules decide what illegal actions do.

        Raises:
            ParameterError: ``actions`` has the wrong shape or dtype.
            StepError: an earlier step was interrupted (Ctrl-C) or failed.
        """
        actions = whole_numbers("actions", actions, len(self), "this batch")
        if not self._sound:
            raise StepError(
                "step() was called after an interrupted step, which only some of the games have taken: make a new batch"
            )
        self._sound = False
        self._given[:] = actions
        self._team.call(self._task(), self._team.edges(len(self)), loops.PLAY_ON)
        self._sound = True

    def _task(self) -> Task:
        """Return the compiled step."""
        if self._shared is None:
            arrays = self.states, self.seeds, self.episodes, self._given
            written = self.observations, self.masks, self.results, self.overs
            arguments = self.game.blank, *arrays, *written, self.seed, self._actions
            self._shared = Task(loops.help_batch, arguments, unlocks=True)
        return self._shared

    def random_actions(self, time: int) -> np.ndarray:
        """Return a random legal action for every game (int64[n], overwritten by the next call).

        The same ``time`` draws the same actions. Raises ParameterError unless it is a whole number from 0.
        """
        time = whole_number("time", time, 0, (1 << 63) - 1, "the time of random actions")
        self._team.call(self._task(), self._team.edges(len(self)), loops.CHOOSE, time)
        return self._actions
