"""`State`: one game at a time from Python, for search, evaluation and playing a single game.

To pass a record to compiled code, Numba needs a microsecond. So the records of states are in blocks whose address
compiled code knows (`dicegym.engine.kernel_entries`). A call passes four whole numbers: the job, the row of the block,
and two more. One call plays an action and writes what is legal after it. The multi-agent environments use such rows,
too.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from dicegym.engine.dice import key_of
from dicegym.engine.flags import write_places
from dicegym.engine.jit import loop_kernel
from dicegym.engine.kernel_entries import Task
from dicegym.engine.loops import begin, first_places, legal, margin, observe, returns, step
from dicegym.engine.validate import check_game_number, check_seat
from dicegym.errors import StepError

ROWS = 64
"""States in a block."""
LOOK, STEP, BEGIN, OBSERVE, RETURNS, LEGAL = range(6)
"""Jobs of `do_state`."""
OF_NOTHING, OF_RETURNS, OF_MARGIN, OF_FIRST_PLACE = range(4)
"""What rewards sum to; the first if there are no rewards."""
OBSERVED = 1 << 8
"""Added to that if each step observes the player to move."""
SEAT, SEEN, OVER, GAINED, FAULT = 0xFF, 1 << 8, 1 << 9, 1 << 10, 11
"""The result of a step as bits: the seat to move; whether it was observed; whether the game is over; whether returns or
rewards have changed; and from bit `FAULT` on the fault."""


@loop_kernel
def _changed(known, now):
    """Copy ``now`` to ``known``; return whether anything changed."""
    changed = False
    for seat in range(len(now)):
        if known[seat] != now[seat]:
            known[seat] = now[seat]
            changed = True
    return changed


@loop_kernel
def other_sums(state, kind, out):
    """Write each seat's sum of rewards so far, of the kind `OF_MARGIN` or `OF_FIRST_PLACE`."""
    if kind == OF_MARGIN:
        margin(state, out)
    else:
        first_places(state, out)


@loop_kernel
def do_state(job, row, what, more, blank, states, masks, legals, observations, sums):
    """Do one job with the state in a row; see `dicegym.engine.kernel_entries` for the first four numbers.

    Args: ``what`` is the action to play, the seat to observe or the seed of the new game. ``more`` is the episode of
    the new game, or what the rewards of a step sum to (`OF_NOTHING`, `OBSERVED`). ``legals`` (int64[n_actions]) is the
    list that `LEGAL` writes. ``sums`` (float32[rows, 3, players]) are the returns, the sums of other rewards, and
    scratch memory.

    Returns the result of a step (see `OVER`), the length of a list, or 0.
    """
    state = states[row]
    fault = np.int64(0)
    if job == STEP:
        fault = np.int64(step(state, what))
    elif job == BEGIN:
        begin(states, row, blank, key_of(np.uint64(what), np.uint64(more)))
        more = np.int64(OF_NOTHING)
    elif job == OBSERVE:
        observe(state, what, observations[row])
        return np.int64(0)
    elif job == RETURNS:
        returns(state, sums[row, 0])
        return np.int64(0)
    elif job == LEGAL:
        return write_places(masks[row], legals)
    mask, paid = masks[row], more & ~OBSERVED
    told = fault << FAULT | np.int64(state.player)
    if state.over:
        told |= OVER
        mask[:] = False
    else:
        legal(state, mask)
    if paid != OF_NOTHING:
        scratch = sums[row, 2]
        returns(state, scratch)
        if _changed(sums[row, 0], scratch):
            told |= GAINED
        if paid != OF_RETURNS:
            other_sums(state, paid, scratch)
            if _changed(sums[row, 1], scratch):
                told |= GAINED
    if more & OBSERVED:
        observe(state, state.player, observations[row])
        told |= SEEN
    return told


@dataclass(slots=True)
class StateRow:
    """The memory of one game, and the compiled functions that work on it. Slots are read faster than named tuples."""

    ask: Callable[[int, int, int, int], int]
    """Calls `do_state`; see `dicegym.engine.kernel_entries.Task`."""
    list_legal: Callable[[int, int, int, int], list[int]]
    """With the job `LEGAL`, returns a new list of the legal actions."""
    number: int
    """Its number in the block, the second argument of ``ask``."""
    records: np.ndarray
    """records[1]."""
    record: Any
    """Its element."""
    mask: np.ndarray
    """bool[n_actions]."""
    observation: np.ndarray
    """float32[observation_size]."""
    returns: np.ndarray
    """float32[players]."""
    paid: np.ndarray
    """float32[players], the sums of rewards if these are not the returns."""


def make_rows(game: Any, n: int) -> list[StateRow]:
    """Return a block of memory for ``n`` states of a `dicegym.engine.game.Game`."""
    states, legals = game.new_states(n), np.zeros(game.n_actions, np.int64)
    masks = np.zeros((n, game.n_actions), np.bool_)
    observations = np.zeros((n, game.observation_size), np.float32)
    sums = np.zeros((n, 3, game.players), np.float32)
    task = Task(do_state, (game.blank, states, masks, legals, observations, sums))
    ask, list_legal = task.ask, task.listing(legals)
    return [
        StateRow(
            ask,
            list_legal,
            row,
            states[row : row + 1],
            states[row],
            masks[row],
            observations[row],
            sums[row, 0],
            sums[row, 1],
        )
        for row in range(n)
    ]


class State:
    """A running game, in which players decide one after the other.

    `dicegym.Game.new_state` makes one. `step` changes it in place; `copy` branches it. The rules roll the dice: there
    are no chance nodes.

    Attributes:
        game: the game, with its parameters.
        over: whether the game has ended.

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
        "_copy_mask",
        "_copy_observation",
        "_free",
        "_list_legal",
        "_number",
        "_row",
        "_told",
        "_watched",
        "game",
        "over",
    )

    def __init__(self, game: Any) -> None:
        self.game = game
        self._free = game.free_rows
        try:
            row = self._free.pop()
        except IndexError:
            row, *others = make_rows(game, ROWS)
            self._free += others
        self._row = row
        self._ask, self._list_legal, self._number = row.ask, row.list_legal, row.number
        self._copy_mask, self._copy_observation = row.mask.copy, row.observation.copy
        self._told, self._watched = 0, OF_NOTHING
        self.over = False

    def __del__(self) -> None:
        """Give its memory back."""
        if hasattr(self, "_row"):
            self._free.append(self._row)

    @classmethod
    def begin(cls, game: Any, seed: int = 0, episode: int = 0) -> State:
        """Return the beginning of game ``episode`` of ``seed``; see `dicegym.Game.new_state`."""
        seed, episode = check_game_number(seed, episode)
        state = cls(game)
        state._take(state._ask(BEGIN, state._number, as_word(seed), as_word(episode)))
        return state

    @classmethod
    def of(cls, game: Any, record: Any) -> State:
        """Return a state with a copy of ``record``."""
        state = cls(game)
        state._row.records[0] = record
        state._take(state._ask(LOOK, state._number, 0, OF_NOTHING))
        return state

    def _take(self, told: int) -> None:
        self._told, self.over = told, told & OVER != 0

    @property
    def record(self) -> Any:
        """A copy of the game's record (`dicegym.engine.spec.GameSpec`)."""
        return self._row.record.copy()

    @property
    def player(self) -> int:
        """The seat to move."""
        return self._told & SEAT

    def legal_actions(self) -> list[int]:
        """Return the legal actions of the player to move, in ascending order; none at the end."""
        return self._list_legal(LEGAL, self._number, 0, 0)

    def action_mask(self) -> np.ndarray:
        """Return the legal actions as bool[n_actions]."""
        return self._copy_mask()

    def step(self, action: int) -> int:
        """Play an action of the player to move, chance included.

        Returns:
            0, or the number of the fault (in ``game.spec.faults``) of an illegal action, to which the rules were
            applied.

        Raises:
            StepError: the game is over.
            RuntimeError: the rules raised an error.
            TypeError: the action is not a 64-bit whole number.
        """
        if self.over:
            raise StepError("the game is over: begin another with new_state()")
        try:
            self._told = told = self._ask(STEP, self._number, action, self._watched)
        except (TypeError, OverflowError):
            raise TypeError(f"action {action!r} is not a whole number: give one of legal_actions()") from None
        if told < OVER:
            return 0
        self.over = told & OVER != 0
        return told >> FAULT

    def observation(self, seat: int | None = None) -> np.ndarray:
        """Return what ``seat`` knows, by default the player to move: float32[observation_size].

        Raises ParameterError for an invalid seat.
        """
        told = self._told
        if seat is None:
            if not told & SEEN:
                self._ask(OBSERVE, self._number, told & SEAT, 0)
                self._told, self._watched = told | SEEN, OBSERVED  # from now on each step does it in the same call
        else:
            self._ask(OBSERVE, self._number, check_seat(self.game, seat), 0)
            self._told = told & ~SEEN
        return self._copy_observation()

    def returns(self) -> list[float]:
        """Return each seat's sum of rewards so far."""
        self._ask(RETURNS, self._number, 0, OF_NOTHING)
        found: list[float] = self._row.returns.tolist()
        return found

    def copy(self) -> State:
        """Return a copy, in which the same actions roll the same dice."""
        return State.of(self.game, self.record)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> State:
        """Return a copy; the game is shared."""
        return self.copy()

    def fork(self, seed: int) -> State:
        """Return a state that the player to move cannot tell from this one, for planning.

        Future dice are new. Hidden information is drawn from that player's belief, given the others' actions
        (`dicegym.values.fork`).

        Raises ParameterError if the game is over, or has hidden information and no model of beliefs.
        """
        fork = _load("dicegym.analysis.playing_on", "fork")
        return State.of(self.game, fork(self.game, self.record, seed)[0])

    def rollouts(self, n: int, *, policy: Any = None, seed: int = 0) -> np.ndarray:
        """Play ``n`` rollouts to the end; return each seat's sum of rewards in each: float32[n, players].

        Each rollout has its own dice, and draws hidden information as `fork` does. If the game is over, each row is its
        returns. The state does not change.

        Args:
            n: number of rollouts.
            policy: plays every seat: an agent's name, a function as for `dicegym.agent`, or a player; default:
                uniformly random legal actions. Random play and compiled agents never leave compiled code.
            seed: the same seed gives the same array.

        Raises:
            ParameterError: an argument is out of range, a game does not end, or the game has hidden information and no
                model of beliefs.
            UnknownNameError, AgentError, ModelError, DependencyError: ``policy`` cannot play; see `dicegym.agent`.
        """
        sample = _load("dicegym.analysis.rollouts", "sample_returns")
        found: np.ndarray = sample(self.game, self.record, n, policy=policy, seed=seed)
        return found

    def text(self, seat: int | None = None) -> str:
        """Return the table as text, as ``seat`` sees it (None: everything).

        Raises ParameterError for an invalid seat.
        """
        return self.game.scene(self.record, seat).text()

    @property
    def id(self) -> str:
        """A short text that encodes the whole state, for ``dicegym values hint``."""
        found: str = _load("dicegym.games.positions", "position_id")(self.game, self.record)
        return found

    def __repr__(self) -> str:
        """Return the game and the player to move."""
        now = "over" if self.over else f"player {self.player} to move"
        return f"<State of {self.game!r}: {now}>"

    def __eq__(self, other: object) -> bool:
        """Return whether both are equal states of equal games, with the same future dice."""
        if not isinstance(other, State):
            return NotImplemented
        return self.game == other.game and bool(self.record.tobytes() == other.record.tobytes())

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the game and the record."""
        return _restore, (self.game, self.record.tobytes())


def as_word(number: int) -> int:
    """Return a number modulo 2**64 as a signed 64-bit number, for compiled code."""
    return (index(number) + (1 << 63)) % (1 << 64) - (1 << 63)


def _load(module: str, name: str) -> Any:
    """Return a function of a module that builds upon this one, and is therefore imported late."""
    return getattr(importlib.import_module(module), name)


def _restore(game: Any, record: bytes) -> State:
    return State.of(game, np.frombuffer(record, game.spec.state)[0])
