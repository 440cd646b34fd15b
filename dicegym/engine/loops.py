"""Generic loops over any game, compiled once per record type.

`reset`, `step`, `legal`, `observe`, `returns` and the optional `margin` are the kernels of a game. They are found by
the dtype of the record: at compile time by `numba.extending.overload`, with compilation off in a table. `choose` and
`situation` are found in the game's ``twins.py`` in the same way.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import draw, key_of, turn_stream
from dicegym.engine.flags import how_many, place_of
from dicegym.engine.jit import declare, kernel, loop_kernel
from dicegym.engine.numba_names import as_dtype, overload, types
from dicegym.engine.twin_kernels import chain, list_twins, situation_kernel


@kernel
def no_margin(state, out):
    """Write zeros: the margin of a game that has none."""
    out[:] = 0


class Kernels(NamedTuple):
    """The rules of one game as compiled functions over its record (see `dicegym.engine.spec.GameSpec`)."""

    reset: Callable[..., Any]
    step: Callable[..., Any]
    legal: Callable[..., Any]
    observe: Callable[..., Any]
    returns: Callable[..., Any]
    margin: Callable[..., Any] = no_margin


_KERNELS: dict[np.dtype, Kernels] = {}
UNKNOWN = np.iinfo(np.int32).min
"""An answer in a table that is not known yet."""


def bind(dtype: np.dtype, kernels: Kernels) -> None:
    """Bind ``kernels`` to records of ``dtype``. Raises TypeError if another game has that dtype."""
    if _KERNELS.get(dtype, kernels) != kernels:
        raise TypeError(f"two games share the record {dtype}; give one of them a field of its own name")
    _KERNELS[dtype] = kernels
    declare(dtype, kernels.step)
    _KERNELS[np.dtype((np.record, dtype))] = kernels  # the form a record has with compilation off


def _by_record(function):
    """Return a function that calls the kernel of the same name of the record's game, compiled or not."""
    name = function.__name__

    @functools.wraps(function)
    def call(state, *others):
        return getattr(_KERNELS[state.dtype], name)(state, *others)

    @overload(call)
    def compile_call(state, *others):
        if not isinstance(state, types.Record):
            raise TypeError(f"{name} takes one record of a game, not {state}")
        kernel_of_game = getattr(_KERNELS[as_dtype(state)], name)
        return lambda state, *others: kernel_of_game(state, *others)

    return call


@_by_record
def reset(state):
    """Begin a new game in a record that is zero except for key, players and parameters."""


@_by_record
def step(state, action):
    """Play one decision; return 0, or the number of the fault."""


@_by_record
def legal(state, mask):
    """Write the action mask of the player to move."""


@_by_record
def observe(state, seat, out):
    """Write what ``seat`` may know."""


@_by_record
def returns(state, out):
    """Write each seat's sum of rewards so far."""


@_by_record
def margin(state, out):
    """Write each seat's lead so far."""


@functools.cache
def _chooser(rules_module: str) -> Callable[..., Any]:
    return chain(list_twins(rules_module))


def choose(state, bot):
    """Return the action of twin number ``bot`` for the player to move; see `dicegym.engine.twin_kernels`."""
    return _chooser(_KERNELS[state.dtype].step.__module__)(state, bot)


def situation(state):
    """Return the number of the situation of the player to move; -1 in games that do not number them."""
    call = situation_kernel(_KERNELS[state.dtype].step.__module__)
    return call(state) if call else -1


@overload(choose)
def _choose(state, bot):
    return _chooser(_KERNELS[as_dtype(state)].step.__module__)


@overload(situation)
def _situation(state):
    call = situation_kernel(_KERNELS[as_dtype(state)].step.__module__)
    return (lambda state: call(state)) if call else (lambda state: np.int64(-1))


@loop_kernel
def first_places(state, out):
    """Write each seat's share of the first place: 1 if it is first alone, -1 / (players - 1) if it is not first.

    Seats that tie share evenly, so the sum is 0; for two players it is +1, -1 or 0. Before the end of a game it is 0
    for everybody.
    """
    if not state.over:
        out[:] = 0
        return
    returns(state, out)
    best, shared = out[0], 1
    for seat in range(1, len(out)):
        if out[seat] > best:
            best, shared = out[seat], 1
        elif out[seat] == best:
            shared += 1
    for seat in range(len(out)):
        share = 1 / shared if out[seat] == best else 0.0
        out[seat] = (len(out) * share - 1) / (len(out) - 1)


@loop_kernel
def begin(states, row, blank, key):
    """Begin a new game in ``states[row]``, a copy of ``blank[0]`` (the parameters) with the key."""
    states[row] = blank[0]
    states[row].key = key
    reset(states[row])


@loop_kernel
def observe_and_mask(state, seat, observation, mask):
    """Write what ``seat`` sees, and the mask of the player to move (all False at the end)."""
    observe(state, seat, observation)
    if state.over:
        mask[:] = False
    else:
        legal(state, mask)


@loop_kernel
def observe_mask_and_returns(state, seat, observation, mask, gained):
    """Do `observe_and_mask`, and write all returns so far."""
    observe_and_mask(state, seat, observation, mask)
    returns(state, gained)


@loop_kernel
def begin_rows(states, rows, blank, seeds, episodes):
    """Begin game number ``episodes[i]`` of seed ``seeds[i]`` in each row i of ``rows``."""
    for i in rows:
        begin(states, i, blank, key_of(seeds[i], episodes[i]))


@loop_kernel
def step_rows(states, rows, actions, faults):
    """Play ``actions[k]`` in game ``rows[k]``; write the number of the fault (0: legal) to ``faults[k]``."""
    for k in range(len(rows)):
        faults[k] = step(states[rows[k]], actions[k])


@loop_kernel
def observe_rows(states, rows, seats, observations, masks, gained):
    """Do `observe_mask_and_returns` for seat ``seats[i]`` in each row i of ``rows``; arrays are indexed by row."""
    for i in rows:
        observe_mask_and_returns(states[i], seats[i], observations[i], masks[i], gained[i])


@loop_kernel
def choose_rows(states, rows, bot, out):
    """Write the action of twin number ``bot`` in each game ``rows[k]`` to ``out[k]``."""
    for k in range(len(rows)):
        out[k] = choose(states[rows[k]], bot)


@loop_kernel
def situation_rows(states, rows, out):
    """Write the situation of the player to move in each game ``rows[k]`` to ``out[k]``."""
    for k in range(len(rows)):
        out[k] = situation(states[rows[k]])


@loop_kernel
def random_legal(masks, seed, time, first, out):
    """Write a uniformly random legal action of each row of ``masks`` to ``out`` (-1: no action is legal).

    Row i depends only on (seed, first + i, time) and its mask.
    """
    stream = turn_stream(seed, np.int64(0), time)
    for i in range(len(masks)):
        count = how_many(masks[i])
        out[i] = place_of(masks[i], draw(stream, first + i, count)) if count > 0 else -1


PLAY_ON, CHOOSE = 0, 1
"""Jobs of `help_batch` and of the batch environment."""


@loop_kernel
def help_batch(
    job, start, end, now, blank, states, seeds, episodes, actions, observations, masks, results, overs, seed, chosen
):
    """Do a job for the games ``start`` to ``end`` of a batch; see `dicegym.engine.kernel_entries`.

    `PLAY_ON` plays one decision in every game. A finished game writes its ``results`` and begins its seed's next
    episode. Observations and masks are those of the player then to move. `CHOOSE` is `random_legal` at time ``now``.
    """
    if job == CHOOSE:
        random_legal(masks[start:end], seed, now, start, chosen[start:end])
        return 0
    for row in range(start, end):
        i = np.uint64(row)  # unsigned, so that no index needs a test for counting from the end
        step(states[i], actions[i])
        overs[i] = states[i].over
        if overs[i]:
            returns(states[i], results[i])
            episodes[i] += np.uint64(1)
            begin(states, i, blank, key_of(seeds[i], episodes[i]))
        observe(states[i], states[i].player, observations[i])
        legal(states[i], masks[i])
    return 0
