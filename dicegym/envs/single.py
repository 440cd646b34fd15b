"""The single-agent environment (Gymnasium): the learner in one seat, opponents in the others."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.kernel_entries import Task
from dicegym.engine.state import as_word
from dicegym.engine.validate import as_int64, seed_number
from dicegym.envs.batch_kernels import (
    BEGIN,
    ENDED,
    FAULT,
    LOOK,
    MOVE,
    WAITS,
    OpponentArrays,
    do_alone,
)
from dicegym.envs.opponents import Opponents
from dicegym.envs.options import (
    ILLEGAL_ACTION,
    MOST_GAMES_SKIPPED,
    NO_FAULT,
    GameOptions,
    SeatRule,
    fill_docstring,
    illegal,
    no_number,
    read_start,
    render_modes,
    reward_sums,
    seat_rule,
    set_game,
)
from dicegym.envs.render import render_game
from dicegym.errors import ParameterError, StepError
from dicegym.pictures.drawing import draw
from dicegym.players.pool import Pool


@fill_docstring
class SingleAgentEnv(GameOptions, gym.Env[np.ndarray, np.int64]):
    """Play one seat of a game against other players.

    A step plays the learner's action, then everybody else's, until the learner is to move again or the game is over.
    Its reward is what the learner's seat gained since its last action. So the rewards of an episode sum to the game's
    result for that seat, or to what ``reward`` says instead.

    Args:
        game: a game's name (``gymnasium.make`` fills it in) or a `dicegym.Game`.
        <opponent>
        <seat>
        <on_illegal>
        <reward>
        <render_mode>
        <parameters>

    Spaces: observation ``Box(0, 1, (game.observation_size,), float32)``, action ``Discrete(game.n_actions)``.
    ``info`` has the same keys at every reset and step. ``info["action_mask"]`` is int8[n_actions], 1 for legal actions,
    as ``action_space.sample`` takes it (`action_masks` returns bool). ``info["seat"]`` is the learner's seat.
    ``info["fault"]`` says what was wrong with an illegal action, and is ``""`` otherwise. ``info["returns"]`` is
    float32[players], the game's result so far (without ``illegal_reward``).

    `reset` takes ``options={"seat": 0}`` (for this game) and ``options={"episode": 5}`` (replay that game of
    the seed). The seed s plays the games ``dicegym.engine.dice.game_key(s, 0)``, ``(s, 1)``, ...
    ``options={"state": s}`` begins in a state instead: its id (`dicegym.values.position_id`), or a record such as
    `state`. The learner then has the seat to move, unless its seat is a number, and rewards count from there. Such a
    game does not count as an episode, and its future dice are those of the state. To plan, give what
    `dicegym.values.fork` returns: a copy of the environment would roll the same dice as this one.

    Raises:
        <raises>

    Example:
        >>> from dicegym.envs import SingleAgentEnv
        >>> env = SingleAgentEnv("hog", opponent="bacon", seat=0)
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step(5)
        >>> observation.dtype, info["action_mask"].shape
        (dtype('float32'), (12,))
    """

    metadata = {"render_modes": render_modes(), "render_fps": 2}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        game: str | Game,
        opponent: Any = None,
        seat: SeatRule = "random",
        on_illegal: str = "rule",
        illegal_reward: float = -1.0,
        reward: str = "win",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        game = set_game(SingleAgentEnv, game, parameters)
        self._set_options(game, on_illegal, illegal_reward, reward, render_mode)
        self.pool = self._next_pool = Pool.of(game, opponent)
        self._seat_rule = seat_rule(game, seat)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (self.game.observation_size,), np.float32)
        self.action_space = gym.spaces.Discrete(self.game.n_actions)
        self._seed: int | None = None
        self._episode = -1
        self._states = self.game.new_states(1)
        self._state = self._states[0]
        self._observation = np.zeros(self.game.observation_size, np.float32)
        self._mask = np.zeros(self.game.n_actions, np.bool_)
        self._mask_told = self._mask.view(np.int8)  # the same memory in the form of ``info``
        self._gained = np.zeros(self.game.players, np.float32)
        self._opponents = Opponents(self.game, self._states, self.pool)
        self._arrays: OpponentArrays | None = None  # those that ``_ask`` uses
        self._watched = False  # whether a follower is told after each decision
        self._seat = 0
        self._before = 0.0
        self._playing = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave out views of other attributes, seated opponents and the compiled task."""
        left_out = ("_state", "_mask_told", "_ask")
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        return kept | {"_opponents": self._opponents.state_dict(), "_arrays": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue with a copy; opponents sit down anew, so one that is not pure forgets its game."""
        seated = state.pop("_opponents")
        vars(self).update(state)
        self._state = self._states[0]
        self._mask_told = self._mask.view(np.int8)
        self._opponents = Opponents(self.game, self._states, self.pool)
        self._opponents.load_state_dict(seated, self._states["key"])
        self._tell_compiled()

    def _tell_compiled(self) -> None:
        """Make the compiled task anew if the opponents have changed."""
        arrays = self._opponents.arrays
        if arrays is not self._arrays:
            self._arrays = arrays
            looks = self._observation, self._mask, self._gained
            arguments = self.game.blank, self._states, self._opponents.who, arrays, *looks
            self._ask = Task(do_alone, arguments).ask

    def _sit(self, key: int) -> None:
        """Seat the opponents that have to sit down in the game with ``key``."""
        if self._opponents.seating:
            self._opponents.seat(0, key)
        self._watched = bool(self._opponents.watched[0])
        self._tell_compiled()

    def _advance(self) -> None:
        """Play the others until the learner is to move or the game is over."""
        self._playing = False  # after an opponent raises, the game cannot continue
        self._playing = not self._others(self._ask(LOOK, 0, self._seat, self._watched)) & ENDED

    def _others(self, told: int) -> int:
        """Ask opponents that are not compiled, and tell followers, until the learner is to move or the game is over."""
        opponents, fault = self._opponents, told >> FAULT << FAULT
        while True:
            opponents.tell(0)
            if not told & WAITS:
                return told & ENDED | fault
            told = self._ask(MOVE, opponents.answer(0), self._seat, self._watched)

    @property
    def seat(self) -> int:
        """The learner's seat in the current game."""
        return self._seat

    @property
    def state(self) -> Any:
        """A copy of the game's record, hidden parts included (for analysis; players never see it)."""
        return self._states.copy()[0]

    def action_masks(self) -> np.ndarray:
        """Return a copy of the action mask, bool[n_actions]: what sb3-contrib asks for."""
        return self._mask.copy()

    def set_opponent(self, opponent: Any) -> None:
        """Draw opponents from ``opponent`` (as for the constructor) from the next `reset` on.

        Raises UnknownNameError, AgentError, ModelError or ParameterError; then nothing changes.
        """
        self._next_pool = Pool.of(self.game, opponent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin the next game of the seed, or the first one of a new seed; see the class for ``options``."""
        seed = None if seed is None else seed_number("seed", seed)
        fixed_seat, episode, states = self._read_options(options)
        super().reset(seed=seed)
        if self.pool is not self._next_pool:
            self.pool = self._next_pool
            self._opponents.set_pool(self.pool)
        self._tell_compiled()
        if seed is not None:
            self._seed, self._episode = seed, -1
        elif self._seed is None:
            self._seed = int(self.np_random.integers(1 << 62))
        rule = self._seat_rule if fixed_seat is None else fixed_seat
        if states is not None:
            self._begin_in(states, rule)
        else:
            self._episode = self._episode + 1 if episode is None else episode
            self._begin_next(self._seed, rule)
        if self.render_mode == "human":
            self._show()
        return self._observation.copy(), self._info(NO_FAULT)

    def _info(self, fault: str) -> dict[str, Any]:
        return {
            "action_mask": self._mask_told.copy(),
            "seat": self._seat,
            "fault": fault,
            "returns": self._gained.copy(),
        }

    def _begin_in(self, states: np.ndarray, rule: int) -> None:
        """Begin in a state, which has been checked."""
        self._states[:] = states
        self._seat = rule if rule >= 0 else int(self._state["player"])
        key = int(self._state["key"])
        self._opponents.place(0, self.pool.draw_seats(key, self._seat, self.game.players))
        self._sit(key)
        self._before = self._reward_sum()
        self._advance()
        if not self._playing:
            raise ParameterError(f"the game ends before seat {self._seat} is asked: give another state or seat")

    def _begin_next(self, seed: int, rule: int) -> None:
        """Begin the current episode, or the first after it in which the learner is asked."""
        for _ in range(MOST_GAMES_SKIPPED):
            self._seat = self._ask(BEGIN, as_word(seed), rule, as_word(self._episode))
            self._sit(int(self._state["key"]))
            self._before = 0.0
            self._advance()
            if self._playing:
                return
            self._episode += 1
        raise StepError(
            f"{MOST_GAMES_SKIPPED} games in a row ended before seat {self._seat} was asked: "
            f"check the opponents, or take another seat"
        )

    def _read_options(self, options: dict[str, Any] | None) -> tuple[int | None, int | None, np.ndarray | None]:
        """Return the seat (as by `seat_rule`), the episode and the state in ``options``; None if absent."""
        episode, state = read_start(self.game, options)
        for name in options or {}:
            if name not in ("seat", "episode", "state"):
                raise ParameterError(f"options has {name!r}, which reset does not know: use 'seat', 'episode', 'state'")
        seat = (options or {}).get("seat")
        return None if seat is None else seat_rule(self.game, seat), episode, state

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play ``action``, then the other players' turns.

        Raises:
            StepError: before `reset` or after the end of the episode.
            IllegalActionError: with ``on_illegal="raise"``; also for anything but a whole number.
            AgentError: an opponent failed; the message names it. `reset` begins a new game.
        """
        if not self._playing:
            raise StepError("step() was called with no game going on: call reset() first")
        number = as_int64(action)
        if number is None:
            raise no_number(action, self.game.n_actions)
        if self.on_illegal != "rule" and not (0 <= number < self.game.n_actions and self._mask[number]):
            return self._illegal(number)

        self._playing = False  # as in `_advance`
        told = self._ask(MOVE, number, self._seat, self._watched)
        if told & WAITS or self._watched:
            told = self._others(told)
        self._playing = not told & ENDED
        gained = self._gained.item(self._seat) if self.reward == "win" else self._reward_sum()
        reward, self._before = gained - self._before, gained
        if self.render_mode == "human":
            self._show()
        info = {
            "action_mask": self._mask_told.copy(),
            "seat": self._seat,
            "fault": self.game.spec.faults[told >> FAULT] if told >> FAULT else NO_FAULT,
            "returns": self._gained.copy(),
        }
        return self._observation.copy(), reward, not self._playing, False, info

    def _reward_sum(self) -> float:
        return float(reward_sums(self.game, self._state, self.reward)[self._seat])

    def _illegal(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.on_illegal == "raise":
            raise illegal(action, self._mask)
        self._playing = False
        self._mask[:] = False
        return self._observation.copy(), self.illegal_reward, True, False, self._info(ILLEGAL_ACTION)

    def _show(self) -> Any:
        return render_game(self.render_mode, self.game, self._state, self._seat)

    def render(self) -> Any:
        """Return the table as the learner sees it, as ``render_mode`` says. Raises StepError before `reset`."""
        if self._seed is None:
            raise StepError("render() was called with no game going on: call reset() first")
        return None if self.render_mode == "human" else self._show()  # reset and step have printed it

    def _repr_html_(self) -> str | None:
        """Show the table in a notebook, as the learner sees it; None before the first game."""
        return None if self._seed is None else draw(self.game, self._state, self._seat).svg()
