"""A Stable-Baselines3 VecEnv with games at tables of different numbers of players. Needs the extra ``train``.

What a learner sees and does is the same for any number of players of a game (`dicegym.engine.game.Game.features`), so
one network may learn at several tables at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.envs.sb3 import PlainVecEnv, SB3VecEnv
from dicegym.envs.table_sizes import in_words, tables_of
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError
from dicegym.games import game as make_game

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn


class MixedTablesVecEnv(PlainVecEnv):
    """Batches of games at tables of different sizes, side by side: to a learner it is one batch.

    Row by row it plays what `SB3VecEnv`, made with that number of players and the same seeds, plays there. The first
    rows are at the first table of ``tables``, and so on; all tables have as many, the first ones one more where they
    cannot be shared out evenly.

    Args:
        game: a game's name or a `dicegym.Game`.
        num_envs: number of games in all.
        tables: numbers of players; one that is given twice has twice as many games.
        seed: game i has the seed ``seed + i`` from the first reset on; None: fresh entropy.
        reward_scale: as for `SB3VecEnv`.
        privileged: as for `SB3VecEnv`; where fewer sit, zeros fill the missing seats.
        **settings: as for `dicegym.envs.vector.BatchEnv` (``opponent``, ``seat``, ``max_episode_steps``, ...), and the
            game's parameters, if ``game`` is a name.

    Attributes:
        parts: the batch of each table, in the order of their rows.
        privileged: how many of the last numbers of an observation are privileged; 0: none.

    Raises:
        ParameterError: fewer games than tables, ``players`` beside ``tables``, or as for `tables_of` and `SB3VecEnv`.

    Example:
        >>> from dicegym.envs import MixedTablesVecEnv
        >>> games = MixedTablesVecEnv("liarsdice", 5, [2, 4], seed=0)
        >>> [part.num_envs for part in games.parts]
        [3, 2]
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        tables: Sequence[int],
        seed: int | None = None,
        reward_scale: float = 1.0,
        privileged: bool = False,
        **settings: Any,
    ) -> None:
        if "players" in settings:
            raise ParameterError(f"players={settings['players']!r} beside tables: say in tables how many play")
        if not tables:
            raise ParameterError("tables=[] seats nobody: give numbers of players, such as [2, 4]")
        if not isinstance(game, Game):
            names = [*make_game(game).spec.parameters]
            game = make_game(game, **{name: settings.pop(name) for name in names if name in settings})
        whole_number("num_envs", num_envs, len(tables), 1 << 30, f"the number of games at tables of {in_words(tables)}")
        sizes = [num_envs // len(tables) + (number < num_envs % len(tables)) for number in range(len(tables))]
        self._bounds = np.cumsum([0, *sizes]).tolist()
        self.parts = [
            SB3VecEnv(table, size, None if seed is None else seed + first, reward_scale, privileged, **settings)
            for table, size, first in zip(tables_of(game, tables), sizes, self._bounds, strict=False)
        ]
        widest = max(self.parts, key=lambda part: part.privileged)
        self.privileged = widest.privileged
        self.render_mode = widest.render_mode
        super().__init__(num_envs, widest.observation_space, widest.action_space)
        self._actions = np.zeros(num_envs, np.int64)

    def _widened(self, part: SB3VecEnv, seen: Any) -> Any:
        """Return what is seen at a table, with zeros for what missing seats would know."""
        missing = self.privileged - part.privileged
        return np.pad(seen, [(0, 0)] * (seen.ndim - 1) + [(0, missing)]) if missing else seen

    @property
    def batches(self) -> tuple[BatchEnv, ...]:
        """The batch environments inside; see `SB3VecEnv.batches`."""
        return tuple(part.batch for part in self.parts)

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents at all tables from ``opponent``, from each game's next episode on; see `BatchEnv`."""
        for part in self.parts:
            part.set_opponent(opponent)

    def _shares(self, indices: VecEnvIndices = None) -> Iterator[tuple[SB3VecEnv, int, list[int]]]:
        """Yield each part that some of the rows ``indices`` are of, its first row, and their numbers in it."""
        wanted = list(self._get_indices(indices))
        for part, first, end in zip(self.parts, self._bounds, self._bounds[1:], strict=False):
            if rows := [row - first for row in wanted if first <= row < end]:
                yield part, first, rows

    def reset(self) -> VecEnvObs:
        """Begin a game in every row; seeds given with `seed` are used once."""
        for part, first in zip(self.parts, self._bounds, strict=False):
            if (seed := self._seeds[first]) is not None:
                part.seed(seed)
        observations = np.concatenate([self._widened(part, part.reset()) for part in self.parts])
        self.reset_infos = [info for part in self.parts for info in part.reset_infos]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Play them; return observations, rewards (float32), dones and infos."""
        bounds = zip(self._bounds, self._bounds[1:], strict=False)
        steps = [part.step(self._actions[first:end]) for part, (first, end) in zip(self.parts, bounds, strict=True)]
        observations, rewards, dones, infos = zip(*steps, strict=True)
        for part, ended, told in zip(self.parts, dones, infos, strict=True):
            for row in np.flatnonzero(ended).tolist() if part.privileged < self.privileged else ():
                told[row]["terminal_observation"] = self._widened(part, told[row]["terminal_observation"])
        return (
            np.concatenate([self._widened(part, seen) for part, seen in zip(self.parts, observations, strict=True)]),
            np.concatenate(rewards),
            np.concatenate(dones),
            [info for part in infos for info in part],
        )

    def state_dict(self) -> dict[str, Any]:
        """Return all that going on later needs: ``"parts"``, the state of each; see `BatchEnv.state_dict`."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        for part, remembered in zip(self.parts, state["parts"], strict=True):
            part.load_state_dict(remembered)

    def action_masks(self) -> np.ndarray:
        """Return the action masks of all games: bool[num_envs, n_actions]."""
        return np.concatenate([part.action_masks() for part in self.parts])

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the games have the attribute."""
        return self.parts[0].has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return the attribute of each game; see `SB3VecEnv.get_attr`."""
        return self._asked(lambda part, rows: part.get_attr(attr_name, rows), indices)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the games; see `SB3VecEnv.env_method`."""
        return self._asked(
            lambda part, rows: part.env_method(method_name, *method_args, indices=rows, **method_kwargs), indices
        )

    def _asked(self, ask: Callable[[SB3VecEnv, list[int]], list[Any]], indices: VecEnvIndices) -> list[Any]:
        """Return what ``ask`` answers of each row."""
        found: dict[int, Any] = {}
        for part, first, rows in self._shares(indices):
            found |= zip([first + row for row in rows], ask(part, rows), strict=True)
        return [found[row] for row in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return a picture of every game (uint8[height, width, 3])."""
        return [image for part in self.parts for image in part.get_images()]
