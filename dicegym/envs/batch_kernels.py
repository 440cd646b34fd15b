"""The compiled loop of the batch environment: learners' actions, opponents' moves, ends of games and new games.

`advance_rows` takes each game as far as compiled code can: to the learner's next turn, or to an opponent that has to be
asked outside. Games of the latter kind are reported as waiting, and go on with the answer in the next call. A row is
never touched by what happens in another, so rows may be shared out among threads in any way.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.engine.dice import FINE, HOST_SEAT, draw, key_of, turn_stream
from dicegym.engine.jit import kernel
from dicegym.engine.loops import (
    UNKNOWN,
    choose,
    observe_and_mask,
    observe_mask_and_returns,
    reset,
    returns,
    situation,
    step,
)
from dicegym.engine.seats import LEARNER_TURN

PLAY, WAIT, REFUSE, BEGIN = 0, 1, 2, 3
"""What is to happen in a row: play the given action; none, look on; end the episode, as the learner's action was
illegal; begin the next episode."""

ASK = -1
"""The code of an opponent that has to be asked outside. Codes from 0 are compiled bots, below -1 tables: -2 - t."""
RANDOM_SEAT, ALTERNATE_SEAT = -1, -2
"""Codes for how a learner's seat is found; a number from 0 is the seat."""
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2

PLAYING, BEGINNING, STUCK = 0, 1, 2
"""Phases of a row: an episode goes on; the learner has not been asked yet; no game lasted until it was asked."""


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
    ],
    align=True,
)
"""What the loop keeps for each game beside its record."""

TERMS = np.dtype(
    [
        ("mode", np.int8),
        ("seating", np.bool_),  # whether players may have to sit down at a game that begins, before it goes on
        ("seat", np.int64),  # the learner's, or a code from RANDOM_SEAT down
        ("cap", np.int64),  # decisions of the learner after which an episode is truncated; 0: never
        ("illegal_reward", np.float64),
        ("most_skipped", np.int64),
    ],
    align=True,
)
"""Settings that all rows share."""


class Opposition(NamedTuple):
    """Who plays: shared by all rows."""

    codes: np.ndarray
    """int64[players known]: how each is asked, see `ASK`."""
    tables: np.ndarray
    """int32[tables, situations]: answers of tabulated players; `UNKNOWN` where they were not asked yet."""
    members: np.ndarray
    """int64[size of the pool]: who can be drawn, as indices into ``codes``."""
    bounds: np.ndarray
    """int64[size of the pool]: member m is drawn by numbers below ``bounds[m]``, of `FINE`."""


class Board(NamedTuple):
    """The arrays of a batch: the records of its games, their `ROW`, and what is written for learners."""

    states: np.ndarray
    rows: np.ndarray
    who: np.ndarray
    """int16[n, players]: who sits where, as indices into ``Opposition.codes``; -1: the learner."""
    results: np.ndarray
    """float32[n, players]: returns at the learner's last turn or at the end."""
    observations: np.ndarray
    masks: np.ndarray
    final_observations: np.ndarray
    final_masks: np.ndarray
    """The last of an episode in same-step mode, where the row goes on with the next one at once; else empty."""


@kernel
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


@kernel
def advance_among(state, moves, action, seat, codes, observation, mask, gained):
    """Play ``action`` if ``moves``, then compiled opponents' turns, and look for ``seat`` (`observe_mask_and_returns`).

    ``codes[s]`` is who sits in seat s. Returns (fault, over).
    """
    fault = 0
    if moves:
        fault = step(state, action)
    while not state.over and state.player != seat:
        step(state, choose(state, codes[state.player]))
    observe_mask_and_returns(state, seat, observation, mask, gained)
    return fault, state.over


@kernel
def play_others(which, actions, verbs, states, watched, who, codes, tables, waiting):
    """Play on in each row of ``which``, all of whose seats are opponents', until its game is over.

    First ``actions[k]`` is played in row ``which[k]`` if ``verbs[k]`` is PLAY. Rows in which somebody has to be asked
    or told outside are written to ``waiting``; returns their number.
    """
    n = 0
    for k in range(len(which)):
        i = which[k]
        if verbs[k] == PLAY:
            step(states[i], actions[k])
        if watched[i]:  # told after every decision, the last one included
            if verbs[k] == PLAY or not states[i].over:
                waiting[n] = i
                n += 1
            continue
        if not play_opponents(states[i], -1, who[i], codes, tables):
            waiting[n] = i
            n += 1
    return n


@kernel
def _begin(states, i, row, sitting, blank, terms, members, bounds):
    """Begin the next episode of a row, and draw who sits where."""
    row.episode += np.uint64(1)
    key = key_of(row.seed, row.episode)
    states[i] = blank[0]
    state = states[i]
    state.key = key
    reset(state)
    players = np.int64(state.players)
    stream = turn_stream(key, HOST_SEAT, LEARNER_TURN)
    if terms.seat == RANDOM_SEAT:
        seat = draw(stream, 0, players)
    elif terms.seat == ALTERNATE_SEAT:
        seat = np.int64(row.episode % np.uint64(players))
    else:
        seat = np.int64(terms.seat)
    row.seat = seat
    last = len(members) - 1
    for other in range(players):
        member = 0
        if last > 0:
            at = draw(stream, 1 + other, FINE)
            while member < last and bounds[member] <= at:
                member += 1
        sitting[other] = -1 if other == seat else members[member]
    row.phase = BEGINNING
    row.watched = False
    row.unseated = terms.seating


@kernel
def _settle(state, row, results, terms):
    """Give a learner what it gained since its last turn; say whether its episode has ended."""
    returns(state, results)
    gained = np.float64(results[row.seat])
    row.reward = gained - row.before
    row.before = gained
    row.terminated = state.over
    _count(row, terms)


@kernel
def _count(row, terms):
    row.decisions += 1
    row.truncated = terms.cap > 0 and row.decisions >= terms.cap and not row.terminated
    row.ended = row.terminated or row.truncated


@kernel
def advance_rows(
    which,
    actions,
    verbs,
    first,
    states,
    rows,
    who,
    results,
    observations,
    masks,
    final_observations,
    final_masks,
    blank,
    settings,
    codes,
    tables,
    members,
    bounds,
    waiting,
):
    """Take each row of ``which`` (int64[k]) as far as compiled code can; return how many wait for somebody outside.

    What is to happen in row ``which[k]`` first is ``verbs[k]`` (int8; see `PLAY`), with ``actions[k]`` (int64) of
    whoever is to move; ``first`` says that these are the learners' actions, with which a step begins. There follow
    the fields of a `Board`, a record ``blank`` of which games are made, ``settings`` (one `TERMS`) and the fields of
    an `Opposition`. Rows that wait are written to ``waiting`` (int64[at least k]).
    """
    n = 0
    terms = settings[0]
    for k in range(len(which)):
        i = which[k]
        row = rows[i]
        verb = verbs[k]
        if first and verb != BEGIN and terms.mode == NEXT_STEP and row.ended:
            verb = BEGIN
        if verb == PLAY:
            fault = step(states[i], actions[k])
            if first:
                row.fault = fault
            if row.watched:
                waiting[n] = i
                n += 1
                continue
        elif verb == BEGIN:
            row.reward = 0.0
            row.terminated = row.truncated = row.ended = False
            row.fault = 0
            row.decisions = 0
            _begin(states, i, row, who[i], blank, terms, members, bounds)
        elif verb == REFUSE:  # the episode ends, and the action is not played
            row.fault = -1
            row.reward = terms.illegal_reward
            row.terminated = True
            masks[i, :] = False
            _count(row, terms)
            if terms.mode != SAME_STEP:
                continue
            final_observations[i, :] = observations[i]
            final_masks[i, :] = False
            row.final_seat = row.seat
            row.decisions = 0
            _begin(states, i, row, who[i], blank, terms, members, bounds)
        while True:  # to the learner's turn, or the end of its episode
            if row.unseated or not play_opponents(states[i], row.seat, who[i], codes, tables):
                waiting[n] = i
                n += 1
                break
            if row.phase == PLAYING:
                _settle(states[i], row, results[i], terms)
                if not (row.ended and terms.mode == SAME_STEP):
                    observe_and_mask(states[i], row.seat, observations[i], masks[i])
                    break
                observe_and_mask(states[i], row.seat, final_observations[i], final_masks[i])
                row.final_seat = row.seat
                row.decisions = 0
            elif not states[i].over:
                observe_and_mask(states[i], row.seat, observations[i], masks[i])
                row.before = 0.0
                row.decisions = 0
                row.phase = PLAYING
                break
            else:
                row.decisions += 1
                if row.decisions >= terms.most_skipped:
                    row.phase = STUCK
                    waiting[n] = i
                    n += 1
                    break
            _begin(states, i, row, who[i], blank, terms, members, bounds)
    return n
