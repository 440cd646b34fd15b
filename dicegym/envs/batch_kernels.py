"""The compiled loop of the batch environment: learners' actions, opponents' moves, ends of games and new games.

`advance_rows` advances each game in compiled code: to the learner's next turn, or to an opponent that has to be
asked outside. Games of the latter kind are reported as waiting, and continue with the answer in the next call. A row is
never touched by what happens in another, so rows may be shared out among threads in any way.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.engine.dice import key_of
from dicegym.engine.jit import loop_kernel
from dicegym.engine.loops import (
    CHOOSE,
    UNKNOWN,
    begin,
    choose,
    first_places,
    margin,
    observe_and_mask,
    observe_mask_and_returns,
    random_legal,
    returns,
    situation,
    step,
)
from dicegym.engine.seats import learner_seat, seat_pool
from dicegym.engine.state import OF_MARGIN, OF_RETURNS

PLAY, WAIT, REFUSE, BEGIN = 0, 1, 2, 3
"""Tasks, what is to happen in a row: play the given action; no action, continue; end the episode, as the learner's
action was illegal; begin the next episode."""

ASK = -1
"""The code of an opponent that has to be asked outside. Codes from 0 are compiled bots, below -1 tables: -2 - t."""
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""Autoreset modes."""

PLAYING, BEGINNING, STUCK = 0, 1, 2
"""Phases of a row: an episode continues; the learner has not been asked yet; no game lasted until it was asked."""

ROW = np.dtype(
    [
        ("seed", np.uint64),
        ("episode", np.uint64),  # the number of the present episode under its seed
        ("seat", np.int64),  # the learner's
        ("before", np.float64),  # what the learner has been given of its return
        ("reward", np.float64),
        ("decisions", np.int64),  # the learner's; while an episode begins, games over before it was asked
        ("fault", np.int16),  # of the learner's last action; -1: it was refused
        ("final_seat", np.int16),  # the learner's in the episode that ended (same-step mode)
        ("phase", np.int8),  # PLAYING whenever no call is under way
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("ended", np.bool_),
        ("watched", np.bool_),  # somebody follows this game, and is told after each decision
        ("unseated", np.bool_),  # the game has just begun, and players that have to be asked may not sit at it yet
        ("slot", np.int32),  # where the last observation of the episode that ended is (same-step mode)
    ],
    align=True,
)
"""What the loop keeps for each game beside its record."""

OPTIONS = np.dtype(
    [
        ("mode", np.int8),  # NEXT_STEP, SAME_STEP or DISABLED
        ("seating", np.bool_),  # whether players may have to sit down at a game that begins, before it continues
        ("seat", np.int64),  # the learner's, or how it is found: see `dicegym.engine.seats`
        ("cap", np.int64),  # decisions of the learner after which an episode is truncated; 0: never
        ("illegal_reward", np.float64),
        ("reward", np.int8),  # what rewards are the gain of: OF_RETURNS, OF_MARGIN or OF_FIRST_PLACE
        ("most_skipped", np.int64),  # games in a row that may end before the learner is asked
    ],
    align=True,
)
"""What all rows share: the options of the environment, as numbers."""


class OpponentArrays(NamedTuple):
    """Who the opponents are and how each is asked."""

    codes: np.ndarray
    """int64[players known]: how each is asked, see `ASK`."""
    tables: np.ndarray
    """int32[tables, situations]: answers of tabulated players; `UNKNOWN` where they were not asked yet."""
    members: np.ndarray
    """int64[size of the pool]: who can be drawn, as indices into ``codes``."""
    bounds: np.ndarray
    """int64[size of the pool]: see `dicegym.engine.seats.seat_pool`."""


class BatchArrays(NamedTuple):
    """The games of a batch, and what is written for learners. Arrays are indexed by row, but for the first two."""

    options: np.ndarray
    """`OPTIONS`[1]."""
    blank: np.ndarray
    """records[1]: what each game begins as a copy of."""
    states: np.ndarray
    """records[n]."""
    rows: np.ndarray
    """`ROW`[n]."""
    who: np.ndarray
    """int16[n, players]: who sits where, as indices into ``OpponentArrays.codes``; -1: the learner."""
    results: np.ndarray
    """float32[n, players]: returns at the learner's turn or at the end: what each seat has gained so far."""
    observations: np.ndarray
    """float32[n, observation size], the learner's."""
    masks: np.ndarray
    """bool[n, n_actions]."""
    final_observations: np.ndarray
    """As ``observations``, the last of an episode in same-step mode, where the row continues with the next one at once;
    else empty. Indexed by `ROW`'s ``slot``, so that each step writes the same few."""
    final_masks: np.ndarray
    """Beside them."""
    final_results: np.ndarray
    """Beside them: ``results`` at the end of the episode."""


class Share(NamedTuple):
    """The part of a call that one thread does. Arrays are of one length; the last is written."""

    which: np.ndarray
    """int64: the rows."""
    actions: np.ndarray
    """int64, of the player to move."""
    tasks: np.ndarray
    """int8: what is to happen in each row first; see `PLAY`."""
    waiting: np.ndarray
    """int64: for the rows that wait for somebody outside, from the beginning on."""


@loop_kernel
def play_opponents(state, seat, sitting, codes, tables):
    """Let compiled opponents move until ``seat`` is to move or the game is over; False if another must be asked."""
    while not state.over and state.player != seat:
        code = codes[sitting[state.player]]
        if code >= 0:
            action = choose(state, code)
        elif code == ASK:
            return False
        else:
            number = situation(state)
            if number < 0:
                return False
            action = np.int64(tables[-2 - code, number])
            if action == UNKNOWN:
                return False
        step(state, action)
    return True


@loop_kernel
def play_others(share, states, watched, who, codes, tables):
    """Play on in each row of a `Share`, all of whose seats are opponents', until its game is over.

    Rows in which somebody has to be asked or told outside are written to ``share.waiting``; returns their number.
    """
    n = 0
    for k in range(len(share.which)):
        i = share.which[k]
        plays = share.tasks[k] == PLAY
        if plays:
            step(states[i], share.actions[k])
        if watched[i]:  # told after every decision, the last one included
            if plays or not states[i].over:
                share.waiting[n] = i
                n += 1
        elif not play_opponents(states[i], -1, who[i], codes, tables):
            share.waiting[n] = i
            n += 1
    return n


@loop_kernel
def _draw(key, learner, sitting, members, bounds):
    """Draw who sits where in the game with ``key``; `OpponentArrays` has ``members`` and ``bounds``."""
    seat_pool(bounds, key, learner, sitting)
    for seat in range(len(sitting)):
        if seat != learner:
            sitting[seat] = members[sitting[seat]]


@loop_kernel
def _begin(states, i, blank, row, sitting, options, members, bounds):
    """Begin the next episode of row ``i``, and draw who sits where, as `_draw` does."""
    row.episode += np.uint64(1)
    key = key_of(row.seed, row.episode)
    begin(states, i, blank, key)
    players = np.int64(states[i].players)
    row.seat = learner_seat(options.seat, key, row.episode, players)
    _draw(key, row.seat, sitting[:players], members, bounds)
    row.phase = BEGINNING
    row.watched = False
    row.unseated = options.seating


LOOK, MOVE = 4, 5
"""What `do_alone` is asked to do, in addition to `BEGIN`: let the others play, or play an action first."""
ENDED, WAITS, FAULT = 1, 2, 2
"""What it returns then: whether the game is over, whether somebody has to be asked outside, and from bit `FAULT` on the
fault."""


@loop_kernel
def do_alone(job, what, seat, more, blank, states, who, opponents, observation, mask, gained):
    """Do one thing with the only game of an environment; `dicegym.engine.kernel_entries` has the first four numbers.

    `BEGIN` begins game number ``more`` of the seed ``what`` and draws who sits where, the learner by the rule ``seat``
    (`dicegym.engine.seats`); it returns the learner's seat. A `MOVE` plays the action ``what``; ``more`` says that
    somebody is told of each action before the others continue.
    """
    state = states[0]
    if job == BEGIN:
        key = key_of(np.uint64(what), np.uint64(more))
        begin(states, 0, blank, key)
        learner = learner_seat(seat, key, np.uint64(more), np.int64(state.players))
        draws = opponents[2:]
        _draw(key, learner, who[0, : state.players], *draws)
        return np.int64(learner)
    told = np.int64(0)
    if job == MOVE:
        told = np.int64(step(state, what)) << FAULT
    if more:
        waits = not state.over and state.player != seat
    else:
        waits = not play_opponents(state, seat, who[0], opponents.codes, opponents.tables)
    if waits:
        return told | WAITS
    observe_mask_and_returns(state, seat, observation, mask, gained)
    return told | state.over


@loop_kernel
def _other_reward(state, kind, seat, scratch):
    """Return the sum of rewards of ``seat`` so far where rewards are not the returns; ``scratch`` is overwritten."""
    if kind == OF_MARGIN:
        margin(state, scratch)
    else:
        first_places(state, scratch)
    return np.float64(scratch[seat])


@loop_kernel
def _count(row, cap):
    """Count a decision of the learner; say whether its episode is truncated, and whether it has ended.

    A game that ends with the last decision allowed is both terminated and truncated, as by Gymnasium's ``TimeLimit``.
    """
    row.decisions += 1
    row.truncated = cap > 0 and row.decisions >= cap
    row.ended = row.terminated or row.truncated


@loop_kernel
def _refuse(batch, i):
    """End the episode of row ``i``, whose learner chose an illegal action, which is not played."""
    row = batch.rows[i]
    row.fault = -1
    row.reward = batch.options[0].illegal_reward
    row.terminated = True
    batch.masks[i, :] = False
    _count(row, batch.options[0].cap)


@loop_kernel
def advance_rows(share, first, batch, opponents):
    """Advance each row of ``share`` in compiled code; return how many wait for somebody outside.

    ``share`` is a `Share`, ``batch`` the `BatchArrays`, ``opponents`` the `OpponentArrays`; ``first`` says that the
    actions are the learners', with which a step begins, and not those of opponents that were waited for.

    Kernels of a game are called in as few places as can be, which keeps the loop small.
    """
    n, ends = 0, 0
    options = batch.options[0]
    mode, kind = options.mode, options.reward
    low = share.which[0] if len(share.which) > 0 else 0
    high = low + len(share.which) - 1
    for k in range(len(share.which)):
        i = np.uint64(share.which[k])  # told that no row counts from the end, the compiler need not ask each array
        row, state, result = batch.rows[i], batch.states[i], batch.results[i]
        task = share.tasks[k]
        if first and task != BEGIN and mode == NEXT_STEP and row.ended:
            task = BEGIN
        begins = task == BEGIN
        if first:  # for the end of an episode that has to be waited for: each row has another one
            row.slot = high - (k - ends)
        if task == PLAY:
            fault = step(state, share.actions[k])
            if first:
                row.fault = fault
            if row.watched:
                share.waiting[n] = i
                n += 1
                continue
        elif task == BEGIN:
            row.reward = 0.0
            row.terminated = row.truncated = row.ended = False
            row.fault = 0
            row.decisions = 0
        elif task == REFUSE:
            _refuse(batch, i)
            if mode != SAME_STEP:
                continue
            row.slot = low + ends
            ends += 1
            for place in range(batch.observations.shape[1]):
                batch.final_observations[row.slot, place] = batch.observations[i, place]
            batch.final_masks[row.slot, :] = False
            for seat in range(len(result)):
                batch.final_results[row.slot, seat] = result[seat]
            row.final_seat = row.seat
            row.decisions = 0
            begins = True
        while True:  # to the learner's turn, or the end of its episode
            if begins:
                members, bounds = opponents.members, opponents.bounds
                _begin(batch.states, i, batch.blank, row, batch.who[i], options, members, bounds)
            if row.unseated or not play_opponents(state, row.seat, batch.who[i], opponents.codes, opponents.tables):
                share.waiting[n] = i
                n += 1
                break
            playing, gained = row.phase == PLAYING, 0.0
            begins = False
            if playing:
                if kind != OF_RETURNS:
                    gained = _other_reward(state, kind, row.seat, result)
                row.terminated = state.over
                _count(row, options.cap)
                begins = row.ended and mode == SAME_STEP
            elif state.over:
                begins = True
                row.decisions += 1
                if row.decisions >= options.most_skipped:
                    row.phase = STUCK
                    share.waiting[n] = i
                    n += 1
                    break
                continue
            else:
                row.before = 0.0
                row.decisions = 0
                row.phase = PLAYING
            earned = result
            if begins:
                if first:
                    row.slot = low + ends
                    ends += 1
                earned = batch.final_results[np.uint64(row.slot)]
            returns(state, earned)  # in one place, and into no copy: loops over seats here slow down all others
            if begins:
                slot = np.uint64(row.slot)
                observe_and_mask(state, row.seat, batch.final_observations[slot], batch.final_masks[slot])
                row.final_seat = row.seat
                row.decisions = 0
            else:
                observe_and_mask(state, row.seat, batch.observations[i], batch.masks[i])
            if playing:
                if kind == OF_RETURNS:  # read now that it has long been written: at once takes as long as a die
                    gained = np.float64(earned[row.seat])
                row.reward = gained - row.before
                row.before = gained
            if not begins:
                break
    return n


@loop_kernel
def help_rows(job, start, end, now, which, actions, tasks, waiting, batch, opponents, seed, chosen):
    """Do a part of `advance_rows`, with which a step begins, or, at time ``now``, of `random_legal`.

    See `dicegym.engine.kernel_entries`.
    """
    if job == CHOOSE:
        random_legal(batch.masks[start:end], seed, now, start, chosen[start:end])
        return 0
    share = Share(which[start:end], actions[start:end], tasks[start:end], waiting[start:end])
    return advance_rows(share, True, batch, opponents)


@loop_kernel
def tell_steps(rows, scale, rewards, dones, sums, lengths, which, slots, totals, counts):
    """Write what a step brought in each row, and add it up over episodes, for learners that are told of no more.

    ``rewards`` (float32) are set to those of the step times ``scale``, ``dones`` to whether an episode ended. ``sums``
    (float64) and ``lengths`` (int64) are the totals of an episode so far. Of those that ended the last four tell from
    the beginning on: rows, where their last observations are, sums and lengths. Returns (how many ended, how many
    actions were at fault).
    """
    ends, faults = np.int64(0), np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        rewards[i] = row.reward * scale
        dones[i] = row.ended
        sums[i] += row.reward
        lengths[i] += 1
        faults += row.fault != 0
        if row.ended:
            which[ends], slots[ends], totals[ends], counts[ends] = i, row.slot, sums[i], lengths[i]
            sums[i], lengths[i] = 0.0, 0
            ends += 1
    return ends, faults


FAULTY, CUT_OFF, ENDS = 1, 2, 2
"""What `list_ended` returns: whether an action was at fault, whether a game went on when its episode was truncated, and
from bit `ENDS` on how many episodes ended."""


@loop_kernel
def list_ended(job, start, end, now, rows, final_results, which, slots, ended, seats, gained):
    """Write what a step ended: ``which`` rows, from the beginning on, and the ``slots`` of their last observations.

    ``ended`` says it by row. ``seats`` are the learners' in those episodes and ``gained`` their results, 0 elsewhere.
    """
    told, ends = np.int64(0), np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        ended[i] = row.ended
        seats[i] = 0
        gained[i, :] = 0
        if row.fault != 0:
            told |= FAULTY
        if row.ended:
            which[ends], slots[ends], seats[i] = i, row.slot, row.final_seat
            if len(final_results) > 0:
                for seat in range(gained.shape[1]):
                    gained[i, seat] = final_results[row.slot, seat]
            ends += 1
            if not row.terminated:
                told |= CUT_OFF
    return told | ends << ENDS
