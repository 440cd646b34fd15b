"""A Stable-Baselines3 VecEnv over the batch environment. Needs the extra ``train``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.envs.batch_info import fault_words
from dicegym.envs.batch_kernels import BatchArrays, tell_steps
from dicegym.envs.privileged import Privileged
from dicegym.envs.vector import BatchEnv
from dicegym.errors import DependencyError, ParameterError

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn
except ImportError as error:
    raise DependencyError.for_extra("stable-baselines3", "train", "dicegym.envs.sb3") from error


class SB3VecEnv(VecEnv):
    """Steps all games in one call and resets ended ones in the same step, as Stable-Baselines3 expects.

    Action masks reach sb3-contrib through ``env_method("action_masks")``. Where an episode ends, ``infos`` hold
    ``"terminal_observation"``, ``"TimeLimit.truncated"`` and ``"episode"`` ({"r": return, "l": length in steps
    of the learner, "t": 0.0}), so no Monitor wrapper is needed, and ``"seat"``, ``"fault"`` and ``"returns"``
    (float32[players]) as in `dicegym.envs.vector.BatchEnv`. Elsewhere they are empty, but for the ``"fault"`` of an
    illegal action: new dicts for all games would take longer than the step.

    Args:
        game: a game's name or a `dicegym.Game`.
        num_envs: number of games.
        seed: game i has the seed ``seed + i`` from the first reset on; None: fresh entropy.
        reward_scale: factor of all rewards, for learners that expect them near 1; ``infos`` report episodes in the
            game's own units.
        privileged: append what others hide to each observation, for a critic that may see it in training
            (`dicegym.envs.privileged.Privileged`, `dicegym.players.asymmetric.AsymmetricPolicy`). For the last
            observation of an episode that part is zero: no value is predicted there.
        **settings: as for `dicegym.envs.vector.BatchEnv` (``opponent``, ``seat``, ``max_episode_steps``, ...).

    Attributes:
        privileged: length of the privileged part at the end of an observation; 0: none.

    Raises:
        ParameterError: ``privileged`` is given for a game whose seats hide nothing from each other, or with
            ``max_episode_steps``: the value at a truncation needs a privileged part.

    Example:
        >>> from dicegym.envs import SB3VecEnv
        >>> games = SB3VecEnv("hog", 4, seed=0)
        >>> games.reset().shape[0], games.env_method("action_masks")[0].dtype
        (4, dtype('bool'))
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        seed: int | None = None,
        reward_scale: float = 1.0,
        privileged: bool = False,
        **settings: Any,
    ) -> None:
        if "autoreset_mode" in settings:
            raise ParameterError("autoreset_mode is always same-step for Stable-Baselines3: leave it out")
        self.batch = BatchEnv(game, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        self.render_mode = self.batch.render_mode  # VecEnv asks for it while it is constructed
        self._hidden = Privileged(self.batch.game) if privileged else None
        self.privileged = 0 if self._hidden is None else self._hidden.size
        if self._hidden is not None and self.batch.max_episode_steps is not None:
            raise ParameterError(
                "privileged=True and max_episode_steps cannot be combined, as the last observation of a truncated "
                "episode has no privileged part: leave out one of them"
            )
        seen = self.batch.single_observation_space
        if self.privileged:
            seen = Box(0.0, 1.0, (self.batch.game.observation_size + self.privileged,), np.float32)
        super().__init__(num_envs, seen, self.batch.single_action_space)
        self._first_seed = seed
        self._reward_scale = finite_number("reward_scale", reward_scale, "a factor of rewards")
        self._actions = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs, np.float64)
        self._lengths = np.zeros(num_envs, np.int64)
        whole, exact = np.zeros((3, num_envs), np.int64), np.zeros(num_envs, np.float64)
        self._ended = whole[0], whole[1], exact, whole[2]  # rows whose episodes ended; see `tell_steps`
        self._words = fault_words(self.batch.game.spec.faults)
        self._nothing: list[dict[str, Any]] = [{} for _ in range(num_envs)]  # one each, as callbacks may write

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions (int[num_envs]) for the next `step_wait`."""
        self._actions = actions

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Refuse options: all games of a batch begin the same way. Raises ParameterError for any."""
        if options and any(options if isinstance(options, list) else [options]):
            raise ParameterError(f"options {options!r} are not supported: give seat and opponent to SB3VecEnv(...)")

    def _reset_options(self) -> None:
        """Keep no options; the base class would keep an empty dict for each game."""

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Raise ParameterError: arrays and compiled code depend on the settings."""
        raise ParameterError(f"{attr_name} cannot be set later: make another SB3VecEnv with it")

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Return True for Monitor, as ``infos`` report episode returns, and False for any other wrapper."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Release nothing: all is in memory."""

    def reset(self) -> VecEnvObs:
        """Begin a game in every row; seeds given by `seed` are used once."""
        if any(seed is not None for seed in self._seeds):
            observations, info = self.batch.reset(seed=list(self._seeds))
        else:
            observations, info = self.batch.reset(seed=self._first_seed)
        told = zip(info["action_mask"].copy(), info["seat"].tolist(), strict=True)
        self.reset_infos = [{"action_mask": mask, "seat": seat} for mask, seat in told]
        self._first_seed = None
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return self._with_hidden(observations)

    def _with_hidden(self, observations: np.ndarray) -> np.ndarray:
        """Return observations with the privileged part appended, if it is wanted."""
        if self._hidden is None:
            return observations
        hidden = self._hidden.of(self.batch.states, self.batch.seats)
        return np.concatenate([observations, hidden], axis=1)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions; return observations, rewards (float32), dones and infos."""
        played = self.batch.play(self._actions)
        rewards, dones = np.empty(self.num_envs, np.float32), np.empty(self.num_envs, np.bool_)
        counted = self._returns, self._lengths, *self._ended
        ended, faulty = tell_steps(played.rows, self._reward_scale, rewards, dones, *counted)
        observations = played.observations.copy() if self.batch.copy else played.observations
        return self._with_hidden(observations), rewards, dones, self._infos(played, ended, faulty)

    def _infos(self, played: BatchArrays, ended: int, faulty: int) -> list[dict[str, Any]]:
        """Return the infos of a step in which ``ended`` episodes ended and ``faulty`` actions were illegal."""
        if any(self._nothing):  # a callback wrote into an empty dict
            self._nothing = [{} for _ in self._nothing]
        infos = self._nothing.copy()
        for row in np.flatnonzero(played.rows["fault"]).tolist() if faulty else ():
            infos[row] = {"fault": self._words[played.rows["fault"][row]]}
        if not ended:
            return infos
        which, slots, totals, counts = (array[:ended] for array in self._ended)
        rows = played.rows[which]
        cut_off = rows["truncated"] & ~rows["terminated"]  # as in Stable-Baselines3's own batches
        told_of = which, totals, counts, rows["final_seat"], cut_off, rows["fault"]
        lasts, results = played.final_observations[slots], played.final_results[slots]
        for (row, total, count, seat, truncated, fault), last, result in zip(
            zip(*(array.tolist() for array in told_of), strict=True), lasts, results, strict=True
        ):
            infos[row] = {
                "terminal_observation": np.pad(last, (0, self.privileged)) if self.privileged else last,
                "TimeLimit.truncated": truncated,
                "episode": {"r": total, "l": count, "t": 0.0},
                "seat": seat,
                "fault": self._words[fault],
                "returns": result,
            }
        return infos

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` from each game's next episode on; see `BatchEnv.set_opponent`."""
        self.batch.set_opponent(opponent)

    def state_dict(self) -> dict[str, Any]:
        """Return the state to continue from; see `BatchEnv.state_dict`."""
        return self.batch.state_dict() | {"returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`."""
        self.batch.load_state_dict(state)
        self._returns[:] = state["returns"]
        self._lengths[:] = state["lengths"]

    def action_masks(self) -> np.ndarray:
        """Return the action masks of all games: bool[num_envs, n_actions]."""
        return self.batch.action_masks()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the games have the attribute."""
        return attr_name in ("seat", "state") or hasattr(self.batch, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return the attribute of each game, methods uncalled; see `BatchEnv.get_attr`."""
        if attr_name in ("seat", "state"):
            found = self.batch.get_attr(attr_name)
        else:
            own = attr_name in ("observation_space", "action_space")
            found = (getattr(self if own else self.batch, attr_name),) * self.num_envs
        return [found[row] for row in self._get_indices(indices)]

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method: ``action_masks`` for each game, any other once for the batch."""
        rows = list(self._get_indices(indices))
        if method_name == "action_masks":
            return list(self.batch.action_masks()[rows])
        if len(rows) != self.num_envs:
            raise ParameterError(f"{method_name}() cannot be called for some games only: leave out indices")
        return list(self.batch.call(method_name, *method_args, **method_kwargs))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return a picture of every game (uint8[height, width, 3])."""
        return list(self.batch.render() or ())
