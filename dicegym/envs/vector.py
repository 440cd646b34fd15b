"""The batch environment (``gymnasium.vector``): thousands of single-agent games stepped together."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.lib.stride_tricks import as_strided

from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.engine.kernel_entries import Task
from dicegym.engine.loops import CHOOSE, PLAY_ON
from dicegym.engine.thread_team import ThreadTeam
from dicegym.engine.validate import one_of, seed_number, whole_number, whole_numbers
from dicegym.envs.batch_info import BatchInfo
from dicegym.envs.batch_kernels import (
    BEGIN,
    DISABLED,
    NEXT_STEP,
    OPTIONS,
    PLAY,
    REFUSE,
    ROW,
    SAME_STEP,
    STUCK,
    BatchArrays,
    OpponentArrays,
    Share,
    advance_rows,
    help_rows,
)
from dicegym.envs.opponents import Opponents
from dicegym.envs.options import (
    MOST_GAMES_SKIPPED,
    PAID,
    GameOptions,
    SeatRule,
    check_cap,
    fill_docstring,
    illegal,
    render_modes,
    seat_rule,
    set_game,
)
from dicegym.envs.render import render_games
from dicegym.errors import IllegalActionError, ParameterError, StepError, one_line
from dicegym.play.turn import record_of
from dicegym.players.pool import Pool

KEPT = ("states", "rows", "results", "observations", "masks")
"""The arrays of the batch that `BatchEnv.state_dict` holds."""
MODES = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: DISABLED}
LATEST = (1 << 63) - 1
"""The largest ``time`` of `BatchEnv.random_actions`: 64 bits with a sign."""
_RANDOM = np.uint64(0)
"""The seed of `BatchEnv.random_actions`."""


@fill_docstring
class BatchEnv(GameOptions, gym.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """A `dicegym.envs.single.SingleAgentEnv` for ``num_envs`` games at once.

    Game i plays exactly the games that a single environment with game i's seed plays: the same seats, opponents
    and dice.

    Args:
        game: a game's name (``gymnasium.make_vec`` fills it in) or a `dicegym.Game`.
        num_envs: number of games.
        <opponent>
        <seat>
        <on_illegal>
        <reward>
        <render_mode>
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value: ``"NextStep"`` (default; the step after
            the end resets and ignores its action), ``"SameStep"`` (the observation is already the next game's;
            the last one is in ``info["final_obs"]``) or ``"Disabled"`` (reset with ``options["reset_mask"]``).
            ``metadata["autoreset_mode"]`` has it.
        max_episode_steps: truncate a learner's episode after this many of its steps; None: never. A game that ends with
            the last of them is both terminated and truncated, as with ``gymnasium.wrappers.TimeLimit``.
        copy: return new arrays each step. False: later steps overwrite the observations (an episode's last one too),
            rewards, flags, masks, seats and returns; the rest of ``info`` is new.
        threads: number of threads that step the games; the games do not depend on it.
        <parameters>

    Opponents with a compiled twin (`dicegym.players.batch_players`), and pure ones in a game that numbers its
    situations, are played in compiled code: a step is then one call. Models are asked once for all games that wait for
    them, any other bot game by game.

    ``info`` has the same keys at every reset and step, as Gymnasium's own batches have: ``"action_mask"``
    int8[num_envs, n_actions], 1 for legal actions (`action_masks` returns bool), ``"seat"`` int64[num_envs],
    ``"fault"`` (object array of texts, ``""`` for a legal action) and ``"returns"`` float32[num_envs, players], each
    game's result so far. In same-step mode ``"final_info"`` and ``"final_obs"`` (object array) describe ended episodes.
    Gymnasium's ``"_name"`` arrays mark the games that each of them applies to.

    Raises:
        <raises>

    Example:
        >>> from dicegym.envs import BatchEnv
        >>> envs = BatchEnv("hog", num_envs=4)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        >>> rewards.shape
        (4,)
    """

    metadata = {"render_modes": render_modes(), "render_fps": 2}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        opponent: Any = None,
        seat: SeatRule = "random",
        on_illegal: str = "rule",
        illegal_reward: float = -1.0,
        reward: str = "win",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        copy: bool = True,
        threads: int = 1,
        **parameters: Any,
    ) -> None:
        game = set_game(BatchEnv, game, parameters)
        self._set_options(game, on_illegal, illegal_reward, reward, render_mode)
        self.num_envs = n = whole_number("num_envs", num_envs, 1, 1 << 30, "the number of games")
        self.pool = Pool.of(game, opponent)
        self._seat_rule = seat_rule(game, seat)
        modes, mode = [mode.value for mode in AutoresetMode], getattr(autoreset_mode, "value", autoreset_mode)
        self.autoreset_mode = AutoresetMode(one_of("autoreset_mode", mode, modes))
        self._mode = MODES[self.autoreset_mode]
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.max_episode_steps = check_cap("max_episode_steps", max_episode_steps)
        self.copy = copy
        self.single_observation_space = gym.spaces.Box(0.0, 1.0, (self.game.observation_size,), np.float32)
        self.single_action_space = gym.spaces.Discrete(self.game.n_actions)
        self.observation_space = _slim(batch_space(self.single_observation_space, n))
        self.action_space = _slim(batch_space(self.single_action_space, n))

        self._team = ThreadTeam(threads)
        self._shared: Task | None = None  # the compiled step
        self._all = np.arange(n)
        self._waiting = np.zeros(n, np.int64)
        self._chosen = np.zeros(n, np.int64)
        self._tasks = np.zeros(n, np.int8)
        self._states = self.game.new_states(n)
        self._opponents = Opponents(self.game, self._states, self.pool)
        kept = n if self._mode == SAME_STEP else 0
        self._batch = BatchArrays(
            options=records(1, OPTIONS),
            blank=self.game.blank,
            states=self._states,
            rows=records(n, ROW),
            who=self._opponents.who,
            results=np.zeros((n, self.game.players), np.float32),
            observations=np.zeros((n, self.game.observation_size), np.float32),
            masks=np.zeros((n, self.game.n_actions), np.bool_),
            final_observations=np.zeros((kept, self.game.observation_size), np.float32),
            final_masks=np.zeros((kept, self.game.n_actions), np.bool_),
            final_results=np.zeros((kept, self.game.players), np.float32),
        )
        self._rows = self._batch.rows
        self._rows["ended"] = True
        self._hold()
        self._opponents.watched = self._rows["watched"]
        self._seeded = False
        self._sound = True  # False from the failure of an opponent to the next reset

    def __getstate__(self) -> dict[str, Any]:
        """Leave out views of the batch's memory, and opponents seated in games."""
        left_out = dict.fromkeys(("_shared", "_told", "_given_out"))
        return vars(self) | left_out | {"_opponents": self._opponents.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue with a copy; opponents that are not pure sit down anew and forget their games."""
        seated = state.pop("_opponents")
        vars(self).update(state)
        self._states, self._rows = self._batch.states, self._batch.rows
        self._opponents = Opponents(self.game, self._states, self.pool)
        self._opponents.watched = self._rows["watched"]
        self._batch = self._batch._replace(who=self._opponents.who)
        self._opponents.load_state_dict(seated, self._states["key"])
        self._hold()

    def _hold(self) -> None:
        """Prepare the options of the loop, and the views that each step returns."""
        rows = self._rows
        self._given_out = self._batch.observations, rows["reward"], rows["terminated"], rows["truncated"]
        self._told = BatchInfo(self._batch, self.game.spec.faults)
        self._seating_told: bool | None = None  # the loop's option
        self._batch.options[0] = (
            self._mode,
            False,
            self._seat_rule,
            self.max_episode_steps or 0,
            self.illegal_reward,
            PAID[self.reward],
            MOST_GAMES_SKIPPED,
        )

    @property
    def states(self) -> np.ndarray:
        """A copy of the records of all games: an array of the game's record, [num_envs]."""
        return self._states.copy()

    @property
    def seats(self) -> np.ndarray:
        """The learner's seat in each game: int64[num_envs]."""
        seats: np.ndarray = self._rows["seat"].copy()
        return seats

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return the attribute ``name`` of each game, as Gymnasium's own batches do; see `call`."""
        return self.call(name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the result of the method ``name``, or the value of any other attribute, for each game.

        ``action_masks``, ``render``, ``"seat"`` and ``"state"`` (a copy of the record) differ by game, and spaces are
        those of one game. Games share everything else: other methods are called once.

        Raises:
            AttributeError: there is no such attribute.
            ParameterError: the method acts on the whole batch.
        """
        if name in ("reset", "step", "close"):
            raise ParameterError(f"call({name!r}) would {name} the games one by one: call {name}() of the batch")
        if name in ("seat", "state"):
            return tuple(self.seats.tolist() if name == "seat" else self.states)
        found = getattr(self, f"single_{name}" if name in ("observation_space", "action_space") else name)
        if callable(found) and name not in ("observation_space", "action_space"):
            found = found(*args, **kwargs)
        each = name in ("action_masks", "render") and found is not None
        return tuple(found) if each else (found,) * self.num_envs

    def action_masks(self) -> np.ndarray:
        """Return a copy of the action masks: bool[num_envs, n_actions]."""
        masks: np.ndarray = self._batch.masks.copy()
        return masks

    def random_actions(self, time: int) -> np.ndarray:
        """Return a random legal action for every game: int64[num_envs], overwritten by the next call.

        It is -1 where the game has ended; `step` takes it unless autoreset is disabled. Game i's action at ``time``
        depends only on its mask, so runs can be repeated.

        Raises ParameterError unless ``time`` is a whole number from 0 to `LATEST`.
        """
        time = whole_number("time", time, 0, LATEST, "the time of random actions")
        self._team.call(self._task(self._opponents.arrays), self._team.edges(self.num_envs), CHOOSE, time)
        return self._chosen

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` (as for the constructor) from each game's next episode on.

        Raises UnknownNameError, AgentError, ModelError or ParameterError; then nothing changes.
        """
        self.pool = Pool.of(self.game, opponent)
        self._opponents.set_pool(self.pool)

    def state_dict(self) -> dict[str, Any]:
        """Return the state to continue from: arrays by name, and which opponent sits where.

        After a failure of an opponent, games that continue from it must be reset first.
        """
        arrays = {name: getattr(self._batch, name).copy() for name in KEPT}
        return arrays | {"seeded": self._seeded, "sound": self._sound, "opponents": self._opponents.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`; bots that are not pure begin anew. Raises ParameterError if it does not fit."""
        for name in KEPT:
            if (shape := np.shape(state.get(name, ()))) != getattr(self._batch, name).shape:
                raise ParameterError(f"a state with {name} of {shape} does not fit {self.num_envs} games")
        record_of(self.game, state["states"][0])
        self._sound = False
        for name in KEPT:
            getattr(self._batch, name)[...] = state[name]
        self._opponents.load_state_dict(state["opponents"], self._states["key"])
        self._seeded, self._sound = state["seeded"], state.get("sound", True)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin the next game of every seed, or the first games of new seeds.

        ``seed``: s gives game i the seed s + i; a list has one for each game (None: keep the present one).
        ``options={"reset_mask": bool[num_envs]}`` begins only those games.

        Raises:
            ParameterError: a seed or option is invalid.
            StepError: a mask is given before all games have begun or after a failure, or games always end before the
                learner is asked.
            AgentError: an opponent failed.
        """
        rows = self._read_options(options)
        same_step = self._mode == SAME_STEP
        if len(rows) < self.num_envs and (not self._sound or (same_step and not self._seeded)):
            raise StepError("reset_mask needs games that have all begun and no failed opponent: reset all games")
        super().reset(seed=seed_number("seed", seed) if isinstance(seed, int | np.integer) else None)
        self._take_seeds(seed, rows)
        self._sound = False
        self._advance(rows, np.zeros(len(rows), np.int64), np.full(len(rows), BEGIN, np.int8))
        self._sound = True
        observations = self._batch.observations
        return observations.copy() if self.copy else observations, self._told.of_reset(rows, self.copy)

    def _read_options(self, options: Any) -> np.ndarray:
        """Return the rows to begin."""
        if not isinstance(options, dict | None) or set(options or {}) - {"reset_mask"}:
            told = one_line(options, 100)
            raise ParameterError(f"options={told}: reset knows 'reset_mask' (bool[num_envs]) and nothing else")
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._all
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ParameterError(f"options['reset_mask'] must be a bool array of shape ({self.num_envs},)")
        return np.flatnonzero(mask)

    def _take_seeds(self, seed: int | list[int | None] | None, rows: np.ndarray) -> None:
        if seed is None and self._seeded:
            return
        if not self._seeded:  # games that do not begin now get their seeds, too
            rows = self._all
        if seed is None:
            seed = int(self.np_random.integers(1 << 62))
        if not isinstance(seed, list | tuple | np.ndarray):
            first = seed_number("seed", seed)
            seed = [first + row for row in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ParameterError(f"{len(seed)} seeds do not fit {self.num_envs} games: give one a game, or one int")
        known: dict[int, int] = {}  # all are checked before any is set
        for row in rows.tolist():
            given = int(self.np_random.integers(1 << 62)) if seed[row] is None and not self._seeded else seed[row]
            if given is not None:
                in_range = given % (1 << 64) if type(given) is int and given > 0 else given
                known[row] = seed_number("seed", in_range)
        for row, number in known.items():
            self._rows["seed"][row] = number
            self._rows["episode"][row] = np.uint64(0xFFFFFFFFFFFFFFFF)  # the next episode is number 0
        self._seeded = True

    def _advance(self, rows: np.ndarray, actions: np.ndarray, tasks: np.ndarray) -> None:
        """Advance ``rows`` in compiled code, and ask opponents that are not compiled until no row waits."""
        if (seating := self._opponents.seating) is not self._seating_told:
            self._batch.options["seating"] = self._seating_told = seating
        opponents = self._opponents.arrays
        rows = self._begin_step(rows, actions, tasks, opponents)
        while len(rows):
            if (self._rows["phase"][rows] == STUCK).any():
                raise StepError(
                    f"{MOST_GAMES_SKIPPED} games in a row ended before the learner was asked: check the opponents"
                )
            unseated = self._rows["unseated"]
            for row in rows[unseated[rows]].tolist():
                self._opponents.seat(row, int(self._states["key"][row]))
            unseated[rows] = False
            share = Share(rows, *self._opponents.answers(rows, self._rows["seat"]), self._waiting)
            rows = self._go_through(share, False, opponents)

    def _begin_step(
        self, rows: np.ndarray, actions: np.ndarray, tasks: np.ndarray, opponents: OpponentArrays
    ) -> np.ndarray:
        """Advance ``rows`` in compiled code, all of them by all threads; return those that wait for an opponent."""
        if rows is not self._all:
            return self._go_through(Share(rows, actions, tasks, self._waiting), True, opponents)
        task = self._task(opponents)
        task.arguments[1][:], task.arguments[2][:] = actions, tasks
        edges = self._team.edges(self.num_envs)
        counts = self._team.call(task, edges, PLAY_ON)
        if not any(counts):
            return self._waiting[:0]
        shares = zip(edges, counts, strict=False)
        return np.concatenate([self._waiting[start : start + count] for start, count in shares])

    def _go_through(self, share: Share, first: bool, opponents: OpponentArrays) -> np.ndarray:
        return self._waiting[: advance_rows(share, first, self._batch, opponents)].copy()

    def _task(self, opponents: OpponentArrays) -> Task:
        """Return the compiled step, made anew when opponents change."""
        if self._shared is None or self._shared.arguments[5] is not opponents:
            given = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int8)
            arguments = self._all, *given, self._waiting, self._batch, opponents, _RANDOM, self._chosen
            self._shared = Task(help_rows, arguments, unlocks=True)
        return self._shared

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action (int64[num_envs]) in every game, then everybody else's turns.

        Raises:
            StepError: before `reset`; in mode "Disabled" also if an ended game was not reset.
            ParameterError: ``actions`` has another shape or is not of whole numbers.
            IllegalActionError: with ``on_illegal="raise"``; no game has been stepped then.
            AgentError: an opponent failed; the message names it. `reset` begins new games.
        """
        self.play(actions)
        info = self._told.of_step(self.copy)
        observations, rewards, terminated, truncated = self._given_out
        if self.copy:
            return observations.copy(), rewards.copy(), terminated.copy(), truncated.copy(), info
        return observations, rewards, terminated, truncated, info

    def play(self, actions: np.ndarray) -> BatchArrays:
        """Do what `step` does, and return the batch's own arrays, for callers with another interface."""
        actions = self._check_actions(actions)
        tasks = self._tasks_of(actions)
        self._sound = False
        self._advance(self._all, actions, tasks)
        self._sound = True
        return self._batch

    def _check_actions(self, actions: Any) -> np.ndarray:
        given = whole_numbers("actions", actions, self.num_envs, "this environment")
        if not self._seeded or not self._sound:
            raise StepError("step() was called with no game going on: call reset() first")
        if self._mode == DISABLED and self._rows["ended"].any():
            raise StepError(
                f"games {np.flatnonzero(self._rows['ended'])[:5].tolist()} have ended: "
                f"reset them with options={{'reset_mask': terminated | truncated}}"
            )
        return given

    def _tasks_of(self, actions: np.ndarray) -> np.ndarray:
        """Return the task of each row: `PLAY`, or `REFUSE` for an illegal action."""
        if self.on_illegal == "rule":
            return self._tasks
        inside = (actions >= 0) & (actions < self.game.n_actions)
        good = inside & self._batch.masks[self._all, np.where(inside, actions, 0)]
        if self._mode == NEXT_STEP:
            good |= self._rows["ended"]  # this step resets the game and ignores the action
        if self.on_illegal == "raise" and not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise IllegalActionError(f"game {row}: {illegal(int(actions[row]), self._batch.masks[row])}")
        return np.where(good, PLAY, REFUSE).astype(np.int8)

    def render(self) -> tuple[Any, ...] | None:
        """Return every table as its learner sees it, as ``render_mode`` says. Raises StepError before `reset`."""
        if not self._seeded:
            raise StepError("render() was called with no game going on: call reset() first")
        seats = self._rows["seat"].tolist()
        return render_games(self.render_mode, self.game, zip(self._states, seats, strict=True))


def _slim(space: gym.Space[Any]) -> gym.Space[Any]:
    """Store a batch space's bounds once instead of once a game, which would take more memory than the games.

    The arrays stay writable: torch warns of others.
    """
    for name in ("low", "high", "bounded_below", "bounded_above", "nvec", "start"):
        if isinstance(bounds := getattr(space, name, None), np.ndarray):
            strides = (0, *bounds.strides[1:])  # each game is the same memory
            setattr(space, name, as_strided(bounds[:1].copy(), bounds.shape, strides))
    return space
