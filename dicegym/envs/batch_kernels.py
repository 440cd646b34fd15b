"""The compiled loop of the batch environment: learners' actions, opponents' moves, ends of games and new games.

`advance_rows` advances each game to the learner's next turn, or to an opponent that is not compiled. Such a game waits,
and continues with the opponent's answer in the next call. Rows are independent, so threads may divide them in any way.
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
    observe_and_mask,
    observe_mask_and_returns,
    random_legal,
    returns,
    situation,
    step,
)
from dicegym.engine.seats import learner_seat, seat_pool
from dicegym.engine.state import OF_RETURNS, other_sums

PLAY, WAIT, REFUSE, BEGIN = 0, 1, 2, 3
"""Tasks of a row: play the action; continue without one; end the episode after an illegal action; begin the next
episode."""

ASK = -1
"""The code of an opponent that is not compiled. Codes from 0 are compiled bots, and -2 - t is table t."""
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""Autoreset modes."""

PLAYING, BEGINNING, STUCK = 0, 1, 2
"""Phases of a row: an episode; the learner has not been asked yet; all games ended before it was asked."""

ROW = np.dtype(
    [
        ("seed", np.uint64),
        ("episode", np.uint64),  # the number of the present episode under its seed
        ("seat", np.int64),  # the learner's
        ("before", np.float64),  # the sum of rewards that the learner has been given
        ("reward", np.float64),
        ("decisions", np.int64),  # the learner's; while BEGINNING, games that ended before it was asked
        ("fault", np.int16),  # of the learner's last action; -1: refused
        ("final_seat", np.int16),  # the learner's in the episode that ended (same-step mode)
        ("phase", np.int8),  # PLAYING between calls
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("ended", np.bool_),
        ("watched", np.bool_),  # a follower of this game is told after each decision
        ("unseated", np.bool_),  # the game has just begun, and players may have to sit down
        ("slot", np.int32),  # place of the ended episode's last observation (same-step mode)
    ],
    align=True,
)
"""What the loop stores for each game in addition to its record."""

OPTIONS = np.dtype(
    [
        ("mode", np.int8),  # NEXT_STEP, SAME_STEP or DISABLED
        ("seating", np.bool_),  # whether players may have to sit down when a game begins
        ("seat", np.int64),  # the learner's seat, or a rule of `dicegym.engine.seats`
        ("cap", np.int64),  # decisions of the learner after which an episode is truncated; 0: never
        ("illegal_reward", np.float64),
        ("reward", np.int8),  # what rewards sum to: OF_RETURNS, OF_MARGIN or OF_FIRST_PLACE
        ("most_skipped", np.int64),  # games in a row that may end before the learner is asked
    ],
    align=True,
)
"""The options of the environment as numbers."""


class OpponentArrays(NamedTuple):
    """The opponents, and how each is asked."""

    codes: np.ndarray
    """int64[players known]: how each is asked, see `ASK`."""
    tables: np.ndarray
    """int32[tables, situations]: answers of tabulated players, or `UNKNOWN`."""
    members: np.ndarray
    """int64[size of the pool]: the players that can be drawn, as indices into ``codes``."""
    bounds: np.ndarray
    """int64[size of the pool]: see `dicegym.engine.seats.seat_pool`."""


class BatchArrays(NamedTuple):
    """The games of a batch, and the output for learners. All arrays except the first two are indexed by row."""

    options: np.ndarray
    """`OPTIONS`[1]."""
    blank: np.ndarray
    """records[1]: each game begins as a copy of it."""
    states: np.ndarray
    """records[n]."""
    rows: np.ndarray
    """`ROW`[n]."""
    who: np.ndarray
    """int16[n, players]: the players by seat, as indices into ``OpponentArrays.codes``; -1: the learner."""
    results: np.ndarray
    """float32[n, players]: returns so far, at the learner's turn or at the end."""
    observations: np.ndarray
    """float32[n, observation size], the learner's."""
    masks: np.ndarray
    """bool[n, n_actions]."""
    final_observations: np.ndarray
    """Last observations of ended episodes in same-step mode, otherwise empty. Indexed by `ROW`'s ``slot``, so that each
    step writes the same few."""
    final_masks: np.ndarray
    """The masks at these ends, indexed in the same way."""
    final_results: np.ndarray
    """The ``results`` at these ends."""


class Share(NamedTuple):
    """The part of a call that one thread does. Arrays have the same length; the last is written."""

    which: np.ndarray
    """int64: the rows."""
    actions: np.ndarray
    """int64, of the player to move."""
    tasks: np.ndarray
    """int8: the task of each row; see `PLAY`."""
    waiting: np.ndarray
    """int64: the rows that wait for an opponent are written here, from the beginning."""


@loop_kernel
def play_opponents(state, seat, sitting, codes, tables):
    """Play compiled opponents until ``seat`` is to move or the game is over; return False if another must be asked."""
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
    """Continue the game in each row of a `Share` to its end; all seats are opponents'.

    Rows with a player to ask or to tell are written to ``share.waiting``. Returns their number.
    """
    n = 0
    for k in range(len(share.which)):
        i = share.which[k]
        plays = share.tasks[k] == PLAY
        if plays:
            step(states[i], share.actions[k])
        if watched[i]:  # the follower is told after every decision, the last one included
            if plays or not states[i].over:
                share.waiting[n] = i
                n += 1
        elif not play_opponents(states[i], -1, who[i], codes, tables):
            share.waiting[n] = i
            n += 1
    return n


@loop_kernel
def _draw(key, learner, sitting, members, bounds):
    """Draw the players of the game with ``key``; see `OpponentArrays` for ``members`` and ``bounds``."""
    seat_pool(bounds, key, learner, sitting)
    for seat in range(len(sitting)):
        if seat != learner:
            sitting[seat] = members[sitting[seat]]


@loop_kernel
def _begin(states, i, blank, row, sitting, options, members, bounds):
    """Begin the next episode of row ``i``, and draw its players."""
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
"""Jobs of `do_alone` in addition to `BEGIN`: play the others, or play an action first."""
ENDED, WAITS, FAULT = 1, 2, 2
"""The result of these jobs as bits: the game is over; an opponent must be asked; from bit `FAULT` on, the fault."""


@loop_kernel
def do_alone(job, what, seat, more, blank, states, who, opponents, observation, mask, gained):
    """Do one job with the only game of an environment; see `dicegym.engine.kernel_entries` for the first four numbers.

    `BEGIN` begins game number ``more`` of the seed ``what`` and draws its players, the learner's seat by the rule
    ``seat`` (`dicegym.engine.seats`); it returns that seat. `MOVE` plays the action ``what``. ``more`` then says
    whether a follower is told of each action before the others continue.
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
def _count(row, cap):
    """Count a decision of the learner, and set whether its episode is truncated and has ended.

    A game that ends with the last decision is both terminated and truncated, as with Gymnasium's ``TimeLimit``.
    """
    row.decisions += 1
    row.truncated = cap > 0 and row.decisions >= cap
    row.ended = row.terminated or row.truncated


@loop_kernel
def _refuse(batch, i):
    """End the episode of row ``i`` after an illegal action, which is not played."""
    row = batch.rows[i]
    row.fault = -1
    row.reward = batch.options[0].illegal_reward
    row.terminated = True
    batch.masks[i, :] = False
    _count(row, batch.options[0].cap)


@loop_kernel
def advance_rows(share, first, batch, opponents):
    """Advance each row of ``share``; return how many wait for an opponent.

    ``share`` is a `Share`, ``batch`` the `BatchArrays`, ``opponents`` the `OpponentArrays`. ``first`` says that actions
    are the learners', at the beginning of a step, and not those of opponents.

    A game's kernels are called in as few places as possible, which keeps the compiled loop small.
    """
    n, ends = 0, 0
    options = batch.options[0]
    mode, kind = options.mode, options.reward
    low = share.which[0] if len(share.which) > 0 else 0
    high = low + len(share.which) - 1
    for k in range(len(share.which)):
        i = np.uint64(share.which[k])  # unsigned, so that no index needs a test for counting from the end
        row, state, result = batch.rows[i], batch.states[i], batch.results[i]
        task = share.tasks[k]
        if first and task != BEGIN and mode == NEXT_STEP and row.ended:
            task = BEGIN
        begins = task == BEGIN
        if first:  # for an episode that ends after waiting: different in each row
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
                    other_sums(state, kind, result)  # overwritten by the returns below
                    gained = np.float64(result[row.seat])
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
            returns(state, earned)  # in one place and without a copy: loops over seats here slow down everything
            if begins:
                slot = np.uint64(row.slot)
                observe_and_mask(state, row.seat, batch.final_observations[slot], batch.final_masks[slot])
                row.final_seat = row.seat
                row.decisions = 0
            else:
                observe_and_mask(state, row.seat, batch.observations[i], batch.masks[i])
            if playing:
                if kind == OF_RETURNS:  # read late: directly after the write it takes as long as a die
                    gained = np.float64(earned[row.seat])
                row.reward = gained - row.before
                row.before = gained
            if not begins:
                break
    return n


@loop_kernel
def help_rows(job, start, end, now, which, actions, tasks, waiting, batch, opponents, seed, chosen):
    """Do a part of `advance_rows` or, for `CHOOSE`, of `random_legal` at time ``now``.

    See `dicegym.engine.kernel_entries`.
    """
    if job == CHOOSE:
        random_legal(batch.masks[start:end], seed, now, start, chosen[start:end])
        return 0
    share = Share(which[start:end], actions[start:end], tasks[start:end], waiting[start:end])
    return advance_rows(share, True, batch, opponents)


@loop_kernel
def tell_steps(rows, scale, rewards, dones, sums, lengths, which, slots, totals, counts):
    """Write the rewards and ends of a step, and add them up over episodes.

    ``rewards`` (float32) are the step's times ``scale``; ``dones`` says whether an episode ended. ``sums`` (float64)
    and ``lengths`` (int64) are the totals of each episode so far. For ended episodes, the last four arrays are written
    from the beginning: rows, slots of their last observations, sums and lengths. Returns the numbers of ended episodes
    and of illegal actions.
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
"""The result of `list_ended` as bits: an action was illegal; an episode was truncated before the end of its game; from
bit `ENDS` on, the number of ended episodes."""


@loop_kernel
def list_ended(job, start, end, now, rows, final_results, which, slots, ended, seats, gained):
    """Write the rows ``which`` ended, from the beginning, and the ``slots`` of their last observations.

    ``ended`` marks them by row. ``seats`` are the learners' in those episodes and ``gained`` the results; 0 elsewhere.
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
