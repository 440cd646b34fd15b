"""One game at a time, from Python: `State`, for search, for evaluation, and for whoever plays a single game.

A record is slow to hand to compiled code: Numba looks at it for a microsecond. So the records of states lie in blocks,
whose place compiled code knows (`dicegym.engine.entries`), and a call hands over six whole numbers: which kernel, which
block, which row, what to do. One call plays an action and writes down what is legal after it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any, Protocol

import numpy as np

from dicegym.engine.batch import BatchGame
from dicegym.engine.dice import game_key
from dicegym.engine.entries import FAILED, Task, ask, entry_of, raised
from dicegym.engine.jit import COMPILED, loop_kernel
from dicegym.engine.loops import begin, legal, observe, returns, step
from dicegym.engine.scene import Scene
from dicegym.engine.spec import GameSpec
from dicegym.errors import ParameterError, StepError


class StateGame(BatchGame, Protocol):
    """What a state asks of a game; `dicegym.engine.game.Game` is one."""

    spec: GameSpec[Any]

    @property
    def state_memory(self) -> StateMemory:
        """Where its states lie."""

    def scene(self, state: Any, seat: int | None = None) -> Scene:
        """Return one screen of a state."""


ROWS = 64
"""States of a block."""
FEW, LISTS = 16, 4096
"""Lists of more than so many actions are remembered by their masks, and of how many masks."""
LOOK, STEP, BEGIN, OBSERVE, RETURNS, COPY = range(6)
"""What `do_state` is asked to do."""
_SEAT, _SEEN, _OVER, _FAULT, _FAULTS, _COUNT = 0xFF, 8, 1 << 16, 17, 0xFF, 25
"""Where what it returns lies in a number: the seat to move, the seat that was observed, whether it is over, a
fault, and how many actions are legal."""
_NOBODY = 0xFF
HOMES = {
    "fork": "dicegym.analysis.playing_on",
    "position_id": "dicegym.games.positions",
    "sample_returns": "dicegym.analysis.rollouts",
}
"""Functions that methods of a state call, and the rooms that hold them. They build upon this one, so they are looked up
when they are called, as `dicegym` looks up its public names."""


@loop_kernel
def do_state(job, row, what, seat, blank, keys, states, masks, legals, observations, results):
    """Do one thing with the state in a row; see `dicegym.engine.entries` for the first four numbers.

    Args: ``what`` is the action to play, the number of the row to copy, or the seat to observe; ``seat`` the seat that
    is observed with each step while it is to move (-1: nobody, `_NOBODY`: whoever is to move).

    Returns what a `State` remembers: who is to move, who was observed, whether the game is over, and the fault of an
    illegal action.
    """
    state = states[row]
    fault = 0
    if job == STEP:
        fault = step(state, what)
    elif job == BEGIN:
        begin(states, row, blank, keys[row])
    elif job == COPY:
        states[row] = states[what]
    elif job == OBSERVE:
        observe(state, what, observations[row])
        return np.int64(0)
    elif job == RETURNS:
        returns(state, results[row])
        return np.int64(0)
    mask, count = masks[row], np.int64(0)
    if state.over:
        mask[:] = False
    else:
        legal(state, mask)
        for action in range(len(mask)):
            if mask[action]:
                legals[row, count] = action
                count += 1
    seen = np.int64(_NOBODY)
    if seat == _NOBODY:
        observe(state, state.player, observations[row])
        seen = np.int64(state.player)
    over = np.int64(_OVER if state.over else 0)
    return count << _COUNT | np.int64(state.player) | seen << _SEEN | over | np.int64(fault) << _FAULT


@loop_kernel
def prepare_state(place, arguments):
    """See `dicegym.engine.entries`."""
    return entry_of(do_state, place, arguments)


class _Block:
    """The memory of `ROWS` states of a game."""

    def __init__(self, game: StateGame) -> None:
        self.keys = np.zeros(ROWS, np.uint64)
        self.states = game.new_states(ROWS)
        self.masks = np.zeros((ROWS, game.n_actions), np.bool_)
        self.legals = np.zeros((ROWS, game.n_actions), np.int64)
        self.observations = np.zeros((ROWS, game.observation_size), np.float32)
        self.results = np.zeros((ROWS, game.players), np.float32)
        arrays = self.keys, self.states, self.masks, self.legals, self.observations, self.results
        self._task = task = Task(do_state, prepare_state, (game.blank, *arrays))
        self.ask: Callable[[int, int, int, int], int] = task.ask
        if COMPILED:  # with two calls less
            self.ask = partial(ask, task.entry, task.place)


class StateMemory:
    """Where the states of a game lie: blocks, of which rows are taken and given back.

    Args:
        game: the game.
    """

    def __init__(self, game: StateGame) -> None:
        self._game = game
        self._free: list[tuple[_Block, int]] = []
        self.lists: dict[bytes, list[int]] = {}
        """Masks -> their actions, of the first that were met."""

    def take(self) -> tuple[_Block, int]:
        """Return a row that nobody has."""
        try:
            return self._free.pop()
        except IndexError:
            block = _Block(self._game)
            self._free += [(block, row) for row in range(1, ROWS)]
            return block, 0

    def give_back(self, block: _Block, row: int) -> None:
        """Let another state have a row."""
        self._free.append((block, row))


class State:
    """A game that is being played, by one player's decision after the other.

    `dicegym.Game.new_state` makes one. It is changed in place by `step`; `copy` branches it. Chance is played by the
    rules: there are no chance nodes.

    Attributes:
        game: the game, with its parameters.

    Example:
        >>> import dicegym
        >>> state = dicegym.game("hog").new_state(seed=7)
        >>> while not state.over:
        ...     _ = state.step(state.legal_actions()[-1])
        >>> state.returns()
        [1.0, -1.0]
    """

    __slots__ = (
        "_ask",
        "_block",
        "_legals",
        "_lists",
        "_mask",
        "_mask_bytes",
        "_observation",
        "_row",
        "_told",
        "_watched",
        "game",
    )

    def __init__(self, game: StateGame) -> None:
        self.game = game
        memory = game.state_memory
        self._block, self._row = block, row = memory.take()
        self._ask, self._lists = block.ask, memory.lists
        self._mask, self._observation = block.masks[row], block.observations[row]
        self._mask_bytes, self._legals = memoryview(self._mask), memoryview(block.legals[row])
        self._told = 0
        self._watched = -1

    def __del__(self) -> None:
        """Give its memory back."""
        if hasattr(self, "_row"):
            self.game.state_memory.give_back(self._block, self._row)

    @classmethod
    def begin(cls, game: StateGame, seed: int = 0, episode: int = 0) -> State:
        """Return the beginning of game ``episode`` of ``seed``."""
        state = cls(game)
        state._block.keys[state._row] = game_key(seed, episode)
        state._told = state._ask(BEGIN, state._row, 0, -1)
        return state

    @classmethod
    def of(cls, game: StateGame, record: Any) -> State:
        """Return a state with a copy of ``record``, one of the game's."""
        state = cls(game)
        state._block.states[state._row] = record
        state._told = state._ask(LOOK, state._row, 0, -1)
        return state

    @property
    def record(self) -> Any:
        """A copy of the game's record (`dicegym.engine.spec.GameSpec`)."""
        return self._block.states[self._row].copy()

    @property
    def player(self) -> int:
        """The seat to move."""
        return self._told & _SEAT

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._told & _OVER)

    def legal_actions(self) -> list[int]:
        """Return what the player to move may do, in rising order; nothing at the end."""
        count = self._told >> _COUNT
        if count <= FEW:
            legal: list[int] = self._legals[:count].tolist()
            return legal
        mask = self._mask_bytes.tobytes()
        found = self._lists.get(mask)
        if found is None:
            found = self._legals[:count].tolist()
            if len(self._lists) < LISTS:
                self._lists[mask] = found
        return found[:]

    def action_mask(self) -> np.ndarray:
        """Return the same as bool[n_actions]."""
        return self._mask.copy()

    def step(self, action: int) -> int:
        """Play an action of the player to move, and roll what the rules roll.

        Returns:
            0, or the number of the fault of an illegal action, which was played as the rules say
            (``game.spec.faults``).

        Raises:
            StepError: the game is over.
            RuntimeError: the rules raised something.
            TypeError: the action is no whole number.
        """
        if self._told & _OVER:
            raise StepError("the game is over and takes no more actions: begin another with new_state()")
        told = self._ask(STEP, self._row, index(action), self._watched)
        if told < 0:
            raise raised(FAILED)
        self._told = told
        return told >> _FAULT & _FAULTS

    def observation(self, seat: int | None = None) -> np.ndarray:
        """Return what ``seat`` knows, by default the player to move: float32[observation_size].

        Raises ParameterError if there is no such seat.
        """
        wanted = self._told & _SEAT if seat is None else self._checked(seat)
        if seat is None and self._watched < 0:
            self._watched = _NOBODY  # from now on each step writes it, in the same call
        if self._told >> _SEEN & _SEAT != wanted:
            self._ask(OBSERVE, self._row, wanted, -1)
            self._told = self._told & ~(_SEAT << _SEEN) | wanted << _SEEN
        return self._observation.copy()

    def returns(self) -> list[float]:
        """Return each seat's sum of rewards so far."""
        self._ask(RETURNS, self._row, 0, -1)
        found: list[float] = self._block.results[self._row].tolist()
        return found

    def copy(self) -> State:
        """Return the same game at this moment; the same actions lead to the same dice."""
        return State.of(self.game, self.record)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> State:
        """Return a copy; the game is shared."""
        return self.copy()

    def fork(self, seed: int) -> State:
        """Return another game that the player to move may be in, as far as that seat can know: for planning.

        The dice to come are fresh, and what is hidden is drawn anew, as that player may believe it by what others did
        (`dicegym.analysis.fork`).

        Raises ParameterError if the game is over, or nothing says what may be believed of what it hides.
        """
        return State.of(self.game, _home_of("fork")(self.game, self.record, seed)[0])

    def rollouts(self, n: int, *, policy: Any = None, seed: int = 0, threads: int = 1) -> np.ndarray:
        """Play the game on to its end ``n`` times, and return each seat's sum of rewards in each: float32[n, players].

        Each rollout has its own dice, and draws anew what is hidden from the player to move, as `fork` does. Of a game
        that is over, each row is its returns. The state does not change.

        Args:
            n: number of rollouts.
            policy: who plays every seat: an agent's name, a function as for `dicegym.agent`, or a player; default:
                uniformly random legal actions. Random play and compiled agents never leave compiled code.
            seed: names all random numbers; the same seed gives the same array.
            threads: number of threads; the array does not depend on it.

        Raises:
            ParameterError: an argument is out of range, a game does not end, or nothing says what may be believed of
                what the game hides.
            UnknownNameError, AgentError, ModelError, DependencyError: ``policy`` cannot play; see `dicegym.agent`.
        """
        found: np.ndarray = _home_of("sample_returns")(
            self.game, self.record, n, policy=policy, seed=seed, threads=threads
        )
        return found

    def text(self, seat: int | None = None) -> str:
        """Return the table as ``seat`` sees it, None: with everything, as one screen of text."""
        return self.game.scene(self.record, seat).text()

    @property
    def id(self) -> str:
        """A short text that holds the whole state, as ``dicegym values hint`` takes it."""
        found: str = _home_of("position_id")(self.game, self.record)
        return found

    def __repr__(self) -> str:
        """Return whose turn it is in which game."""
        now = "over" if self.over else f"player {self.player} to move"
        return f"<State of {self.game!r}: {now}>"

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same game at the same moment, with the same dice to come."""
        if not isinstance(other, State):
            return NotImplemented
        return self.game == other.game and bool(self.record.tobytes() == other.record.tobytes())

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the game and the record."""
        return _restore, (self.game, self.record.tobytes())

    def _checked(self, seat: int) -> int:
        seat = index(seat)
        if not 0 <= seat < self.game.players:
            raise ParameterError(f"seat {seat} is no seat of {self.game!r}: give 0 to {self.game.players - 1}")
        return seat


def _home_of(name: str) -> Any:
    return getattr(importlib.import_module(HOMES[name]), name)


def _restore(game: StateGame, record: bytes) -> State:
    return State.of(game, np.frombuffer(record, game.spec.state)[0])
