"""The solver of Yatzy for a player alone, and the luck of rolls for any number of players.

A *position*, between two turns, is the set of filled boxes (a bit mask, box 0 lowest) and the sum of the upper ones, up
to 63. ``values`` (float64[2**15, 64]) are the mean points still to come, by backward induction: the value of a position
is the mean, over the first roll, of the best end of its turn, which is points plus the value of a position with one
more box filled (Verhoeff and Scheffers, "Optimal solitaire Yahtzee strategies", 1999).

The *ends* of a turn are the possible scores in open boxes. *Leaves*, float64[15, 51] by box and points, are their
values. *Levels*, float64[3, 462] by rolls left, are the values of all sets of dice within a turn: of a hand if it is
shown, of fewer dice if they are kept and the others rolled.

With several players, values are estimates of who wins. The luck of a roll is the estimate after it less the exact mean
of this estimate before, so luck has mean 0 however rough the estimate is.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.threads import cores
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import (
    BEST,
    BONUS_FROM,
    BOXES,
    FACES,
    FIRST_BOX,
    HANDFULS,
    HANDS,
    KEEPABLE,
    KEEPS,
    N_ACTIONS,
    ROLL_PLACES,
    ROLLS,
    SETS,
    UPPER,
    WITH,
    after_rolling,
    bonus,
    hand_of,
    keep_best,
    roll_sets,
    set_of,
    total,
)

ALL_FILLED = (1 << BOXES) - 1
SUMS = BONUS_FROM + 1
N_SETS = len(SETS)
FIRST_ROLL = after_rolling(np.eye(HANDS))[0]
"""float64[252]: the probability of each hand when five dice are rolled."""
WORST = -1e9
"""Below every value."""


def list_ends(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return all ends of a turn if the points of each hand in each box are ``scores`` (int[252, 15]): int64 arrays.

    Returns:
        (boxes, points, hands, starts): box and points of each end, [n] each; and the hands with these points in this
        box: those of end e are ``hands[starts[e] : starts[e + 1]]``.
    """
    scored = [(box, points) for box in range(BOXES) for points in np.unique(scores[:, box]).tolist()]
    boxes, points = np.array(scored, np.int64).T.copy()
    scoring = [np.flatnonzero(scores[:, box] == points) for box, points in scored]
    return boxes, points, np.concatenate(scoring), np.cumsum([0, *map(len, scoring)])


ENDS = list_ends(BEST)
END_BOXES, END_POINTS = ENDS[:2]
"""Box and points of each end by the rules."""


@kernel
def sum_after(upper, box, points):
    """Return the sum of the upper boxes, up to 63, after ``points`` in ``box``."""
    return min(upper + points, BONUS_FROM) if box < UPPER else upper


@kernel
def earn(upper, box, points):
    """Return ``points``, with the bonus if they reach it."""
    return points + bonus(sum_after(upper, box, points)) - bonus(upper)


# --- all positions ---------------------------------------------------------------------------------------------------
# All sums of one set of filled boxes see the same dice and boxes. So each step of a turn is done for all of them side
# by side, which processors do eight at a time. Sets with equally many filled boxes are independent.


@kernel
def play_turn(rows, out):
    """Write the value of a turn before it begins, with the best choice of dice to keep.

    Args:
        rows: float64[462, 64], for hands the value of scoring them; overwritten. Each of two steps goes back one roll:
            the value of a set of fewer dice is the mean over one more die, that of a hand is the best of its parts.
        out: float64[64].
    """
    for _ in range(ROLLS):
        for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
            a, b, c = rows[WITH[kept, 0]], rows[WITH[kept, 1]], rows[WITH[kept, 2]]
            d, e, f = rows[WITH[kept, 3]], rows[WITH[kept, 4]], rows[WITH[kept, 5]]
            mine = rows[kept]
            for k in range(SUMS):
                mine[k] = (a[k] + b[k] + c[k] + d[k] + e[k] + f[k]) / FACES
        for kept in range(KEEPS):
            mine = rows[kept]
            for face in range(FACES):
                larger = rows[WITH[kept, face]]
                for k in range(SUMS):
                    larger[k] = max(larger[k], mine[k])
    out[:] = 0
    for hand in range(HANDS):
        mine, chance = rows[KEEPS + hand], FIRST_ROLL[hand]
        for k in range(SUMS):
            out[k] += chance * mine[k]


@kernel
def solve_sets(values, sets, ends):
    """Fill ``values[filled]`` for each set of filled boxes in ``sets``; sets with more boxes must be filled before.

    Args:
        values: float64[2**15, 64].
        sets: int64[n].
        ends: from `list_ends`.
    """
    boxes, points, hands, starts = ends
    rows, leaf = np.zeros((N_SETS, SUMS)), np.empty(SUMS)
    for filled in sets:
        leaf[:] = 0.0
        for box in range(BOXES):  # any box can be crossed out with any dice
            if not filled >> box & 1:
                for k in range(SUMS):
                    leaf[k] = max(leaf[k], values[filled | 1 << box, k])
        rows[KEEPS:] = leaf
        for end in range(len(boxes)):
            box, scored = boxes[end], points[end]
            if scored > 0 and not filled >> box & 1:
                later = values[filled | 1 << box]
                for k in range(SUMS):
                    leaf[k] = earn(k, box, scored) + later[sum_after(k, box, scored)]
                for place in range(starts[end], starts[end + 1]):
                    mine = rows[KEEPS + hands[place]]
                    for k in range(SUMS):
                        mine[k] = max(mine[k], leaf[k])
        play_turn(rows, values[filled])


def solve(
    closed: int = 0, *, scores: np.ndarray = BEST, threads: int = 0, progress: Progress | None = None
) -> np.ndarray:
    """Return the mean points still to come in all positions in which at least the boxes ``closed`` are filled.

    Args:
        closed: bit mask of boxes; 0 for the whole game. Filled upper boxes may contain any points.
        scores: int[252, 15], points of each hand in each box.
        threads: number of threads; 0: one for each core. Values do not depend on it.
        progress: called with the number of solved sets, after each number of filled boxes.

    Returns:
        float64[2**15, 64]; 0 where all boxes are filled, and in sets that lack one of ``closed``.
    """
    count = threads or cores()
    values, ends = np.zeros((1 << BOXES, SUMS)), list_ends(scores)
    sets = np.arange(1 << BOXES)
    sets = sets[sets & closed == closed]
    filled, done = np.bitwise_count(sets), 0
    with ThreadPoolExecutor(count) as pool:
        for number in range(BOXES - 1, -1, -1):
            level = sets[filled == number]
            list(pool.map(lambda part: solve_sets(values, part, ends), [level[part::count] for part in range(count)]))
            done += len(level)
            if progress is not None:
                progress(done, ALL_FILLED, "sets of boxes solved")
    return values


_solved: list[np.ndarray] = []
_lock = threading.Lock()


def solve_once(progress: Progress | None = None) -> np.ndarray:
    """Return `solve` of the whole game, computed once per process within seconds; read-only."""
    with _lock:
        if not _solved:
            found = solve(progress=progress)
            found.setflags(write=False)
            _solved.append(found)
        return _solved[0]


# --- states ----------------------------------------------------------------------------------------------------------


@kernel
def mask_filled(scores):
    """Return the bit mask of the filled boxes among fifteen scores."""
    filled = 0
    for box in range(BOXES):
        filled |= int(scores[box] >= 0) << box
    return filled


@kernel
def still_to_come(values, state, seat):
    """Return the mean points still to come for a seat between its turns."""
    return values[mask_filled(state.scores[seat]), min(int(state.upper[seat]), BONUS_FROM)]


@kernel
def new_room():
    """Return the arrays that `look` fills: (leaves, levels)."""
    return np.zeros((BOXES, int(BEST.max()) + 1)), np.full((ROLLS + 1, N_SETS), WORST)


@kernel
def look(values, state, seat, room):
    """Compute leaves and levels, in ``room``, for a turn of a seat, as if the dice were its own."""
    leaves, levels = room
    filled, upper = mask_filled(state.scores[seat]), min(int(state.upper[seat]), BONUS_FROM)
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
            later = values[filled | 1 << box, sum_after(upper, box, points)]
            leaves[box, points] = earn(upper, box, points) + later
    look_through(leaves, filled, levels)


@kernel
def look_through(leaves, filled, levels):
    """Fill ``levels`` from the leaves of a turn, back to all sets of dice."""
    for hand in range(HANDS):
        most = WORST
        for box in range(BOXES):
            if not filled >> box & 1:
                most = max(most, leaves[box, BEST[hand, box]])
        levels[0, KEEPS + hand] = most
    for left in range(1, ROLLS + 1):
        worths = levels[left]
        worths[KEEPS:] = levels[left - 1, KEEPS:]
        roll_sets(worths)
        best = worths.copy()
        best[KEEPS:] = levels[0, KEEPS:]
        keep_best(best)
        worths[KEEPS:] = best[KEEPS:]


@kernel
def value_rows(values, states, out):
    """Write the mean points still to come in states of games for one to ``out`` (float64[states])."""
    room = new_room()
    for k in range(len(states)):
        state = states[k]
        if state.over:
            out[k] = 0.0
        else:
            look(values, state, 0, room)
            out[k] = room[1][state.rolls_left, KEEPS + hand_of(state.dice)]


@kernel
def action_rows(values, states, seats, out):
    """Write the mean points still to come after each action to ``out`` (float64[states, 225]); nan if illegal.

    The dice shown are taken to be those of ``seats`` (int64[states]).
    """
    room = new_room()
    for k in range(len(states)):
        state, seat = states[k], seats[k]
        look(values, state, seat, room)
        leaves, levels = room
        filled, hand, left = mask_filled(state.scores[seat]), hand_of(state.dice), state.rolls_left
        for kept in range(KEEPS):
            out[k, kept] = levels[left, kept] if left > 0 and KEEPABLE[hand, kept] else np.nan
        for box in range(BOXES):
            out[k, FIRST_BOX + box] = leaves[box, BEST[hand, box]] if not filled >> box & 1 else np.nan


def action_values(values: np.ndarray, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the result of `action_rows`: float64[states, 225]."""
    out = np.empty((len(states), N_ACTIONS))
    action_rows(values, states, seats, out)
    return out


@kernel
def set_kept(state, action):
    """Return the set of dice that a legal roll keeps; the action may be wide."""
    return action if action < N_ACTIONS else set_of(state.dice, HANDFULS - 1 - (action - ROLL_PLACES))


# --- luck ------------------------------------------------------------------------------------------------------------

BOX_VARIANCE = 95.0
"""Variance of the points still to come, for each open box; best play alone has 1,482 in all."""


@kernel
def share_first_place(means, variances, seat):
    """Estimate a seat's share of the first place if all totals are normal (means, variances: float64[players]).

    It is proportional to the product of the probabilities to be ahead of each other seat; exact for two.
    """
    own, together = 0.0, 0.0
    for one in range(len(means)):
        strength = 1.0
        for other in range(len(means)):
            if other != one:
                deviation = math.sqrt(2 * (variances[one] + variances[other]) + 0.1)
                strength *= 0.5 * math.erfc((means[other] - means[one]) / deviation)
        together += strength
        if one == seat:
            own = strength
    return own / together if together > 0 else 0.0


@kernel
def look_for_luck(values, state, room, shares):
    """Compute levels for the turn of the player to move; with several players, in shares of the first place.

    Writes each seat's part of the mover's luck to ``shares`` (float64[players]): the others lose what the mover wins,
    in proportion to their probabilities to be first.
    """
    players, mover = np.int64(state.players), np.int64(state.player)
    shares[mover] = 1.0
    if players == 1:
        look(values, state, mover, room)
        return
    leaves, levels = room
    means, variances = np.empty(players), np.empty(players)
    for seat in range(players):
        means[seat] = total(state, seat) + still_to_come(values, state, seat)
        still_open = 0
        for box in range(BOXES):
            still_open += state.scores[seat, box] < 0
        variances[seat] = BOX_VARIANCE * (still_open - (seat == mover))
    rest = 0.0
    for seat in range(players):
        if seat != mover:
            shares[seat] = -share_first_place(means, variances, seat) - 1e-9
            rest -= shares[seat]
    for seat in range(players):
        if seat != mover:
            shares[seat] /= rest
    have = total(state, mover)
    filled, upper = mask_filled(state.scores[mover]), min(int(state.upper[mover]), BONUS_FROM)
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
            later = values[filled | 1 << box, sum_after(upper, box, points)]
            means[mover] = have + earn(upper, box, points) + later
            leaves[box, points] = share_first_place(means, variances, mover)
    look_through(leaves, filled, levels)


@kernel
def add_roll(values, state, kept, room, luck):
    """Add the luck of the last roll to ``luck`` (float64[seats]); ``kept`` is the set of dice kept for it."""
    shares, hand, left = np.zeros(len(luck)), KEEPS + hand_of(state.dice), state.rolls_left
    look_for_luck(values, state, room, shares)
    levels = room[1]
    if left < ROLLS:
        mean = levels[left + 1, kept]
    else:  # the first roll of a turn
        mean = 0.0
        for one in range(HANDS):
            mean += FIRST_ROLL[one] * levels[left, KEEPS + one]
    for seat in range(len(luck)):
        luck[seat] += shares[seat] * (levels[left, hand] - mean)


@kernel
def begin_rows(values, states, rows, luck):
    """Add the luck of the first roll of new games to ``luck`` (float64[games, players])."""
    room = new_room()
    for k in range(len(rows)):
        add_roll(values, states[rows[k]], 0, room, luck[rows[k]])


@kernel
def add_rows(values, before, rows, actions, after, luck):
    """Add the luck of the dice after ``actions[k]`` to ``luck`` (float64[games, players]).

    The luck of turns that the server plays for players that gave up is not measured: it stays in the result.
    """
    room = new_room()
    for k in range(len(rows)):
        old, new = before[rows[k]], after[rows[k]]
        if new.over:
            continue
        if new.player != old.player or new.round_number != old.round_number:
            add_roll(values, new, 0, room, luck[rows[k]])
        elif new.rolls_left != old.rolls_left:
            add_roll(values, new, set_kept(old, actions[k]), room, luck[rows[k]])
