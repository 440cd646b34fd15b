"""The batch environment (``gymnasium.vector``): thousands of single-agent games stepped together."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from dicegym import loops
from dicegym.core import Game, Parameter
from dicegym.envs.actions import illegal
from dicegym.envs.draw import draw_scene
from dicegym.envs.opponents import Opponents
from dicegym.envs.seating import Seating, SeatRule, check_cap, check_number, check_on_illegal, check_seed
from dicegym.envs.single import MOST_GAMES_SKIPPED, RENDER_MODES, check_render_mode
from dicegym.errors import IllegalActionError, ParameterError, StepError
from dicegym.games import game as make_game
from dicegym.players.pool import Pool

KEPT = (
    "states", "seeds", "episodes", "seats", "observations", "masks", "gained", "before", "rewards",
    "terminated", "truncated", "ended", "decisions",
)  # fmt: skip
"""The arrays that `BatchEnv.state_dict` holds."""


class BatchEnv(gym.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """As `dicegym.envs.single.SingleAgentEnv`, for ``num_envs`` games at once.

    Game i plays exactly the games that a single environment with game i's seed plays: the same seats, opponents
    and dice. Arguments are those of the single environment, and

    Args:
        num_envs: number of games.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value: ``"NextStep"`` (default; the step after
            the end resets and ignores its action), ``"SameStep"`` (the observation is already the next game's;
            the last one is in ``info["final_obs"]``) or ``"Disabled"`` (reset with ``options["reset_mask"]``).
            Stated in ``metadata["autoreset_mode"]``.
        max_episode_steps: truncate a learner's episode after so many of its steps; None: never.
        copy: return new arrays each step. False: observations, rewards, flags and masks are the environment's
            own and are overwritten by the next step.

    ``info`` holds ``"action_mask"`` bool[num_envs, n_actions] and ``"seat"`` int64[num_envs]; in steps with illegal
    actions ``"fault"`` (object array of words); in steps that end games ``"returns"`` float32[num_envs, players].
    In same-step mode the ended episodes' info is in ``"final_info"``, beside ``"final_obs"`` (object array). Each
    comes with Gymnasium's ``"_name"`` array that says for which games it is meant.

    Raises:
        ParameterError, UnknownNameError, AgentError: an argument cannot work; the message says why.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        opponent: Any = None,
        seat: SeatRule = "random",
        on_illegal: str = "rule",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        copy: bool = True,
        **parameters: Any,
    ) -> None:
        self.game = make_game(game, **parameters)
        self.num_envs = n = Parameter(1, 1, 1 << 30, "the number of games").check("num_envs", num_envs)
        self.seating = Seating(self.game, opponent, seat)
        self.on_illegal = check_on_illegal(on_illegal)
        self.illegal_reward = check_number(illegal_reward, "illegal_reward")
        self.render_mode = check_render_mode(render_mode)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.max_episode_steps = check_cap(max_episode_steps, "max_episode_steps")
        self.copy = copy
        self.single_observation_space = gym.spaces.Box(0.0, 1.0, (self.game.observation_size,), np.float32)
        self.single_action_space = gym.spaces.Discrete(self.game.n_actions)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        self._all = np.arange(n)
        self._states = self.game.new_states(n)
        self._seeds = np.zeros(n, np.uint64)
        self._episodes = np.zeros(n, np.uint64)
        self._seats = np.zeros(n, np.int64)
        self._opponents = Opponents(self.game, self._states)
        self._observations = np.zeros((n, self.game.observation_size), np.float32)
        self._masks = np.zeros((n, self.game.n_actions), np.bool_)
        self._gained = np.zeros((n, self.game.players), np.float32)
        self._before = np.zeros(n, np.float64)
        self._rewards = np.zeros(n, np.float64)
        self._terminated = np.zeros(n, np.bool_)
        self._truncated = np.zeros(n, np.bool_)
        self._ended = np.ones(n, np.bool_)
        self._decisions = np.zeros(n, np.int64)
        self._faults = np.zeros(n, np.int64)
        self._seeded = False
        self._sound = True  # False from the failure of an opponent to the next reset

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be copied: opponents seated in games."""
        return vars(self) | {"_opponents": self._opponents.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on with a copy; opponents that are not pure sit down anew and have forgotten their games."""
        seated = state.pop("_opponents")
        vars(self).update(state)
        self._opponents = Opponents(self.game, self._states)
        self._opponents.load_state_dict(seated, self._states["key"], self._seats)

    def action_masks(self) -> np.ndarray:
        """Return a copy of the action masks: bool[num_envs, n_actions]."""
        return self._masks.copy()

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` (as for the constructor) from each game's next episode on."""
        self.seating.pool = Pool.of(self.game, opponent)
        self._opponents.forget_unused(self.seating)

    def state_dict(self) -> dict[str, Any]:
        """Return all that going on later needs: arrays by name, and which opponent sits where."""
        arrays = {name: getattr(self, f"_{name}").copy() for name in KEPT}
        return arrays | {"seeded": self._seeded, "opponents": self._opponents.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken. Opponents that are not pure sit down anew and remember nothing."""
        for name in KEPT:
            getattr(self, f"_{name}")[...] = state[name]
        self._seeded = state["seeded"]
        self._opponents.load_state_dict(state["opponents"], self._states["key"], self._seats)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin the next game of every seed, or the first ones of new seeds.

        ``seed``: s gives game i the seed s + i; a list gives each its own (None: goes on with the one it has).
        ``options={"reset_mask": bool[num_envs]}`` begins only those games.
        """
        rows = self._reset_rows(options)
        super().reset(seed=check_seed(seed) if isinstance(seed, int | np.integer) else None)
        self._take_seeds(seed, rows)
        self._sound = False
        self._begin(rows)
        self._sound = True
        self._terminated[rows] = self._truncated[rows] = False
        return self._out(self._observations), self._info(rows)

    def _reset_rows(self, options: Any) -> np.ndarray:
        if not isinstance(options, dict | None) or set(options or {}) - {"reset_mask"}:
            raise ParameterError(f"options={options!r}: reset knows {{'reset_mask': bool[num_envs]}} and nothing else")
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._all
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ParameterError(f"options['reset_mask'] must be a bool array of shape ({self.num_envs},)")
        return np.flatnonzero(mask)

    def _take_seeds(self, seed: int | list[int | None] | None, rows: np.ndarray) -> None:
        if seed is None and self._seeded:
            return
        if not self._seeded:  # games that are not begun now have the seeds that belong to them all the same
            rows = self._all
        if seed is None:
            seed = int(self.np_random.integers(1 << 62))
        if not isinstance(seed, list | tuple | np.ndarray):
            first = check_seed(seed)
            seed = [first + row for row in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ParameterError(f"{len(seed)} seeds were given for {self.num_envs} games: give one a game, or one int")
        for row in rows:
            given = seed[row]
            if given is None and not self._seeded:
                given = int(self.np_random.integers(1 << 62))
            if given is not None:
                self._seeds[row] = check_seed(given % (1 << 64) if isinstance(given, int) and given > 0 else given)
                self._episodes[row] = np.uint64(0xFFFFFFFFFFFFFFFF)  # the next episode is number 0
        self._seeded = True

    def _begin(self, rows: np.ndarray) -> None:
        """Begin the next episode in ``rows``, and let the others move until the learner is asked."""
        left = rows
        for _ in range(MOST_GAMES_SKIPPED):
            self._episodes[left] += np.uint64(1)
            loops.begin_rows(self._states, left, self.game.blank, self._seeds, self._episodes)
            keys = self._states["key"][left]
            self._seats[left] = self.seating.seats(keys, self._episodes[left])
            self._opponents.join(self.seating, left, keys, self._seats)
            self._opponents.play(left, self._seats)
            left = left[self._states["over"][left]]
            if not len(left):
                break
        else:
            raise StepError(
                f"{MOST_GAMES_SKIPPED} games in a row ended before the learner was asked: check the opponents"
            )
        self._look(rows)
        self._before[rows] = 0.0
        self._decisions[rows] = 0
        self._ended[rows] = False

    def _look(self, rows: np.ndarray) -> None:
        loops.look_rows(self._states, rows, self._seats, self._observations, self._masks, self._gained)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action (int64[num_envs]) in every game, then everybody else's turns.

        Raises:
            StepError: before `reset`; in mode "Disabled" also if an ended game was not reset.
            ParameterError: ``actions`` has another shape or is not of whole numbers.
            IllegalActionError: with ``on_illegal="raise"``; no game has been stepped then.
            AgentError: an opponent failed; the message names it. `reset` begins new games.
        """
        actions = self._check_actions(actions)
        ended = self._ended
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and ended.any():
            playing, anew = np.flatnonzero(~ended), np.flatnonzero(ended)
        else:
            playing, anew = self._all, self._all[:0]
        legal = self._legal_rows(actions, playing)
        self._sound = False
        loops.step_rows(self._states, legal, actions[legal], self._faults)
        self._opponents.play(legal, self._seats)
        self._look(legal)
        self._settle(playing, legal)
        told = self._told(legal)
        if len(anew):
            self._rewards[anew] = 0.0
            self._terminated[anew] = self._truncated[anew] = False
            self._begin(anew)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            told = self._final(told)
            self._begin(np.flatnonzero(ended))
        self._sound = True
        return (
            self._out(self._observations), self._out(self._rewards), self._out(self._terminated),
            self._out(self._truncated), self._info(self._all) | told,
        )  # fmt: skip

    def _check_actions(self, actions: Any) -> np.ndarray:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ParameterError(
                f"actions of shape {given.shape} and dtype {given.dtype} do not fit: "
                f"give {self.num_envs} whole numbers, one a game"
            )
        if not self._seeded or not self._sound:
            raise StepError("step() was called with no game going on: call reset() first")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            raise StepError(
                f"games {np.flatnonzero(self._ended)[:5].tolist()} have ended: "
                f"reset them with options={{'reset_mask': terminated | truncated}}"
            )
        return given.astype(np.int64, copy=False)

    def _legal_rows(self, actions: np.ndarray, playing: np.ndarray) -> np.ndarray:
        """Return the rows of ``playing`` whose action goes to the rules; the others are ended here."""
        if self.on_illegal == "rule":
            return playing
        chosen = actions[playing]
        inside = (chosen >= 0) & (chosen < self.game.n_actions)
        good = inside & self._masks[playing, np.where(inside, chosen, 0)]
        if self.on_illegal == "raise" and not good.all():
            row = int(playing[~good][0])
            raise IllegalActionError(f"game {row}: {illegal(int(actions[row]), self._masks[row])}")
        allowed: np.ndarray = playing[good]
        return allowed

    def _settle(self, playing: np.ndarray, legal: np.ndarray) -> None:
        """Write rewards and ends of the step just played."""
        if len(legal) < len(playing):
            bad = np.setdiff1d(playing, legal, assume_unique=True)
            self._rewards[bad] = self.illegal_reward
            self._terminated[bad] = True
            self._masks[bad] = False
        gained = self._gained[legal, self._seats[legal]].astype(np.float64)
        self._rewards[legal] = gained - self._before[legal]
        self._before[legal] = gained
        self._terminated[legal] = self._states["over"][legal]
        self._decisions[playing] += 1
        if self.max_episode_steps is not None:
            late = self._decisions[playing] >= self.max_episode_steps
            self._truncated[playing] = late & ~self._terminated[playing]
        np.logical_or(self._terminated, self._truncated, out=self._ended)

    def _told(self, legal: np.ndarray) -> dict[str, Any]:
        """Return the faults of this step and the results of games that ended with it; nothing if there are none."""
        told: dict[str, Any] = {}
        faulty = np.zeros(self.num_envs, np.int64)
        faulty[legal] = self._faults[: len(legal)]
        if faulty.any():
            told = {"fault": np.array(self.game.rules.faults, object)[faulty], "_fault": faulty > 0}
        over = self._ended & self._states["over"]
        if over.any():
            told |= {"returns": np.where(over[:, None], self._gained, 0.0), "_returns": over}
        return told

    def _final(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return what same-step mode tells of the episodes that just ended, and what remains of ``told``."""
        ended = self._ended.copy()
        observations = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            observations[row] = self._observations[row].copy()
        info = {
            "seat": np.where(ended, self._seats, 0), "_seat": ended,
            "action_mask": self._masks & ended[:, None], "_action_mask": ended,
        }  # fmt: skip
        left: dict[str, Any] = {}
        for name in ("fault", "returns"):
            if name in told:
                value, whom = told[name], told[f"_{name}"]
                info |= {name: value, f"_{name}": whom & ended}
                if (whom & ~ended).any():
                    left |= {name: value, f"_{name}": whom & ~ended}
        return left | {"final_obs": observations, "_final_obs": ended, "final_info": info, "_final_info": ended}

    def _info(self, rows: np.ndarray) -> dict[str, Any]:
        whom = np.zeros(self.num_envs, np.bool_)
        whom[rows] = True
        return {
            "action_mask": self._out(self._masks), "_action_mask": whom,
            "seat": self._out(self._seats), "_seat": whom,
        }  # fmt: skip

    def _out(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def render(self) -> tuple[Any, ...] | None:
        """Return every table as its learner sees it, in the form of ``render_mode``; "human" prints them."""
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
            return None
        scenes = [self.game.scene(self._states[row], int(self._seats[row])) for row in range(self.num_envs)]
        if self.render_mode == "rgb_array":
            return tuple(draw_scene(scene) for scene in scenes)
        if self.render_mode == "human":
            print("\n\n".join(scene.text() for scene in scenes))
            return None
        return tuple(scene.text() for scene in scenes)


def _autoreset_mode(value: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(value)
    except ValueError:
        known = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise ParameterError(f"autoreset_mode={value!r} is unknown: give one of {known}") from None
