"""The batch environment (``gymnasium.vector``): thousands of single-agent games stepped together."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.engine.spec import Parameter
from dicegym.engine.threads import Threads
from dicegym.envs.actions import illegal
from dicegym.envs.batch_kernels import (
    BEGIN,
    DISABLED,
    NEXT_STEP,
    PLAY,
    REFUSE,
    ROW,
    SAME_STEP,
    STUCK,
    TERMS,
    Board,
    advance_rows,
)
from dicegym.envs.opponents import Opponents
from dicegym.envs.render import draw_scene
from dicegym.envs.seating import Seating, SeatRule, check_cap, check_number, check_on_illegal, check_seed
from dicegym.envs.single import MOST_GAMES_SKIPPED, RENDER_MODES, check_render_mode
from dicegym.errors import IllegalActionError, ParameterError, StepError
from dicegym.games import game as make_game
from dicegym.players.pool import Pool

KEPT = ("states", "rows", "results", "observations", "masks")
"""The arrays of the `Board` that `BatchEnv.state_dict` holds."""
MODES = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: DISABLED}


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
        copy: return new arrays each step. False: observations (the last of an episode too), rewards, flags, masks and
            seats are the environment's own and are overwritten by later steps; the rest of ``info`` is new.
        threads: how many threads step the games; what is played does not depend on it.

    Opponents that have a compiled twin (`dicegym.players.twins`), or that are pure in a game which numbers its
    situations, are played without leaving compiled code: a step is then one call. Models are asked once for all
    games that wait for them, any other bot game by game.

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
        threads: int = 1,
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
        self.observation_space = _slim(batch_space(self.single_observation_space, n))
        self.action_space = _slim(batch_space(self.single_action_space, n))

        self._threads = Threads(threads)
        self._all = np.arange(n)
        self._waiting = np.zeros(n, np.int64)
        self._verbs = np.zeros(n, np.int8)
        self._states = self.game.new_states(n)
        self._opponents = Opponents(self.game, self._states, self.seating.pool)
        kept = n if self.autoreset_mode == AutoresetMode.SAME_STEP else 0
        self._board = Board(
            states=self._states,
            rows=records(n, ROW),
            who=self._opponents.who,
            results=np.zeros((n, self.game.players), np.float32),
            observations=np.zeros((n, self.game.observation_size), np.float32),
            masks=np.zeros((n, self.game.n_actions), np.bool_),
            final_observations=np.zeros((kept, self.game.observation_size), np.float32),
            final_masks=np.zeros((kept, self.game.n_actions), np.bool_),
        )
        self._rows = self._board.rows
        self._rows["ended"] = True
        self._opponents.watched = self._rows["watched"]
        self._seeded = False
        self._sound = True  # False from the failure of an opponent to the next reset

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be copied: opponents seated in games."""
        return vars(self) | {"_opponents": self._opponents.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on with a copy; opponents that are not pure sit down anew and have forgotten their games."""
        seated = state.pop("_opponents")
        vars(self).update(state)
        self._states, self._rows = self._board.states, self._board.rows
        self._opponents = Opponents(self.game, self._states, self.seating.pool)
        self._opponents.watched = self._rows["watched"]
        self._board = self._board._replace(who=self._opponents.who)
        self._opponents.load_state_dict(seated, self._states["key"])

    def action_masks(self) -> np.ndarray:
        """Return a copy of the action masks: bool[num_envs, n_actions]."""
        masks: np.ndarray = self._board.masks.copy()
        return masks

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` (as for the constructor) from each game's next episode on."""
        self.seating.pool = Pool.of(self.game, opponent)
        self._opponents.set_pool(self.seating.pool)

    def state_dict(self) -> dict[str, Any]:
        """Return all that going on later needs: arrays by name, and which opponent sits where."""
        arrays = {name: getattr(self._board, name).copy() for name in KEPT}
        return arrays | {"seeded": self._seeded, "opponents": self._opponents.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken. Opponents that are not pure sit down anew and remember nothing."""
        for name in KEPT:
            getattr(self._board, name)[...] = state[name]
        self._seeded = state["seeded"]
        self._opponents.load_state_dict(state["opponents"], self._states["key"])

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin the next game of every seed, or the first ones of new seeds.

        ``seed``: s gives game i the seed s + i; a list gives each its own (None: goes on with the one it has).
        ``options={"reset_mask": bool[num_envs]}`` begins only those games.
        """
        rows = self._reset_rows(options)
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        if len(rows) < self.num_envs and (not self._sound or (same_step and not self._seeded)):
            raise StepError("some games have not begun, or an opponent failed in them: reset all games, without a mask")
        super().reset(seed=check_seed(seed) if isinstance(seed, int | np.integer) else None)
        self._take_seeds(seed, rows)
        self._sound = False
        self._go_on(rows, np.zeros(len(rows), np.int64), np.full(len(rows), BEGIN, np.int8))
        self._sound = True
        return self._out(self._board.observations), self._info(rows)

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
                self._rows["seed"][row] = check_seed(
                    given % (1 << 64) if isinstance(given, int) and given > 0 else given
                )
                self._rows["episode"][row] = np.uint64(0xFFFFFFFFFFFFFFFF)  # the next episode is number 0
        self._seeded = True

    def _go_on(self, rows: np.ndarray, actions: np.ndarray, verbs: np.ndarray) -> None:
        """Let compiled code take each of ``rows`` on, and ask opponents outside until nobody waits for them."""
        terms = records(1, TERMS)
        terms[0] = (
            MODES[self.autoreset_mode],
            self._opponents.seating,
            self.seating.code,
            self.max_episode_steps or 0,
            self.illegal_reward,
            MOST_GAMES_SKIPPED,
        )
        rest = (*self._board, self.game.blank, terms, *self._opponents.opposition)
        first = True
        while True:
            part = partial(self._part, (rows, actions, verbs), first, rest)
            shares = self._threads.share(len(rows), part)
            rows = np.concatenate([self._waiting[start : start + count] for start, count in shares])
            if not len(rows):
                break
            first = False
            if (self._rows["phase"][rows] == STUCK).any():
                raise StepError(
                    f"{MOST_GAMES_SKIPPED} games in a row ended before the learner was asked: check the opponents"
                )
            unseated = self._rows["unseated"]
            for row in rows[unseated[rows]].tolist():
                self._opponents.seat(row, int(self._states["key"][row]))
            unseated[rows] = False
            actions, verbs = self._opponents.answers(rows, self._rows["seat"])

    def _part(
        self, given: tuple[np.ndarray, ...], first: bool, rest: tuple[np.ndarray, ...], start: int, end: int
    ) -> int:
        """Take the rows number ``start`` to ``end - 1`` of those given on; see `advance_rows`."""
        cut = slice(start, end)
        arguments: list[Any] = [*(array[cut] for array in given), first, *rest, self._waiting[cut]]
        waiting: int = advance_rows(*arguments)
        return waiting

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action (int64[num_envs]) in every game, then everybody else's turns.

        Raises:
            StepError: before `reset`; in mode "Disabled" also if an ended game was not reset.
            ParameterError: ``actions`` has another shape or is not of whole numbers.
            IllegalActionError: with ``on_illegal="raise"``; no game has been stepped then.
            AgentError: an opponent failed; the message names it. `reset` begins new games.
        """
        actions = self._check_actions(actions)
        verbs = self._verbs_of(actions)
        self._sound = False
        self._go_on(self._all, actions, verbs)
        self._sound = True
        rows = self._rows
        return (
            self._out(self._board.observations),
            self._out(rows["reward"]),
            self._out(rows["terminated"]),
            self._out(rows["truncated"]),
            self._info(self._all) | self._told(),
        )

    def _check_actions(self, actions: Any) -> np.ndarray:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ParameterError(
                f"actions of shape {given.shape} and dtype {given.dtype} do not fit: "
                f"give {self.num_envs} whole numbers, one a game"
            )
        if not self._seeded or not self._sound:
            raise StepError("step() was called with no game going on: call reset() first")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._rows["ended"].any():
            raise StepError(
                f"games {np.flatnonzero(self._rows['ended'])[:5].tolist()} have ended: "
                f"reset them with options={{'reset_mask': terminated | truncated}}"
            )
        return given.astype(np.int64, copy=False)

    def _verbs_of(self, actions: np.ndarray) -> np.ndarray:
        """Return what is to happen in each row: illegal actions may go to the rules or not."""
        if self.on_illegal == "rule":
            return self._verbs
        inside = (actions >= 0) & (actions < self.game.n_actions)
        good = inside & self._board.masks[self._all, np.where(inside, actions, 0)]
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            good |= self._rows["ended"]  # this step is the reset, whatever the action
        if self.on_illegal == "raise" and not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise IllegalActionError(f"game {row}: {illegal(int(actions[row]), self._board.masks[row])}")
        return np.where(good, PLAY, REFUSE).astype(np.int8)

    def _told(self) -> dict[str, Any]:
        """Return the faults of this step and the results of games that ended with it; nothing if there are none."""
        faults, ended = self._rows["fault"], self._rows["ended"]
        told: dict[str, Any] = {}
        if faults.any():
            words = np.array([*self.game.spec.faults, "illegal action"], object)  # the last is that of number -1
            told = {"fault": words[faults], "_fault": faults != 0}
        if not ended.any():
            return told
        over = self._rows["terminated"] & (faults >= 0)
        if over.any():
            told |= {"returns": np.where(over[:, None], self._board.results, 0.0), "_returns": over}
        return self._final(told) if self.autoreset_mode == AutoresetMode.SAME_STEP else told

    def _final(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return what same-step mode tells of the episodes that just ended, and what remains of ``told``."""
        ended = self._rows["ended"].copy()
        if self._rows["truncated"].any():
            masks = self._board.final_masks & ended[:, None]
        else:  # nothing is legal where a game is over; zeros cost nothing until they are read
            masks = np.zeros(self._board.final_masks.shape, np.bool_)
        observations = np.full(self.num_envs, None, object)
        rows = np.flatnonzero(ended)
        last = self._board.final_observations
        for row, observation in zip(
            rows.tolist(), last[rows] if self.copy else map(last.__getitem__, rows), strict=True
        ):
            observations[row] = observation
        info = {
            "seat": np.where(ended, self._rows["final_seat"], 0).astype(np.int64),
            "_seat": ended,
            "action_mask": masks,
            "_action_mask": ended,
        }
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
            "action_mask": self._out(self._board.masks),
            "_action_mask": whom,
            "seat": self._out(self._rows["seat"]),
            "_seat": whom,
        }

    def _out(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def render(self) -> tuple[Any, ...] | None:
        """Return every table as its learner sees it, in the form of ``render_mode``; "human" prints them."""
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
            return None
        scenes = [self.game.scene(self._states[row], int(self._rows["seat"][row])) for row in range(self.num_envs)]
        if self.render_mode == "rgb_array":
            return tuple(draw_scene(scene) for scene in scenes)
        if self.render_mode == "human":
            print("\n\n".join(scene.text() for scene in scenes))
            return None
        return tuple(scene.text() for scene in scenes)


def _slim(space: gym.Space[Any]) -> gym.Space[Any]:
    """Let a batch's space hold its bounds once instead of once a game: they take more memory than the games."""
    for name in ("low", "high", "bounded_below", "bounded_above", "nvec", "start"):
        if isinstance(bounds := getattr(space, name, None), np.ndarray):
            setattr(space, name, np.broadcast_to(bounds[:1].copy(), bounds.shape))
    return space


def _autoreset_mode(value: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(value)
    except ValueError:
        known = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise ParameterError(f"autoreset_mode={value!r} is unknown: give one of {known}") from None
