"""What states of Yatzy are worth: points still to come alone, shares of the first place at a table.

At a table all are taken to play on for the mean once this turn is over. The others' final totals are then distributed
as is known, whatever the player to move does. What its own turn's ends are worth to each seat follows from its final
totals after each, distributed alike. Shares are summed as whole numbers, which is as fast as compiled code gets and
the same on every machine.

``known`` is what is known of positions, as `points_by` or `shares_by` make it: (values, rows). If there are values
(float64[2**15, 64], see `dicegym.games.yatzy.solving.alone`), points are all that counts, and a seat's own; else rows
say how the points to come are distributed (`dicegym.games.yatzy.solving.distributions`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.rules import FIRST_BOX, N_ACTIONS, total
from dicegym.games.yatzy.solving.distributions import ARRAYS, Rows, add_row
from dicegym.games.yatzy.solving.one_turn import (
    END_BOXES,
    END_POINTS,
    MOST_POINTS,
    N_SETS,
    SUMS,
    TOTALS,
    before_rolling,
    earn,
    follow,
    look_through,
    mask_filled,
    mean_leaves,
    position_in,
    position_of,
    set_kept,
    sum_after,
    upper_of,
)
from dicegym.games.yatzy.tables import BEST, BOXES, KEEPABLE, KEEPS, ROLLS, SEATS, hand_of

WHOLE = float(1 << 36)
"""What a share of 1 is as a whole number: times the sum of a row, 375 * 65535 at most, it stays below 2**63."""
Known = tuple[np.ndarray, Rows]


def points_by(values: np.ndarray) -> Known:
    """Return what is known to a player for points: values of positions, float64[2**15, 64]."""
    weights, firsts, scales = (np.empty(0, ARRAYS[name]) for name in ("weights", "firsts", "scales"))
    return _read_only(values), (weights, np.empty((0, 2), np.int64), firsts, scales)


def shares_by(rows: Rows) -> Known:
    """Return what is known to a player for the first place: how points to come are distributed."""
    return _read_only(np.empty((0, SUMS))), rows


def _read_only(values: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, as `alone.values` are: kernels are compiled for one kind of array."""
    view = values.view()
    view.setflags(write=False)
    return view


@kernel
def split(ties, below, equal, n):
    """Let one more be below or equal: ``ties[k]``, how likely nobody is above and k of ``n`` others are equal."""
    for k in range(n, -1, -1):
        ties[k + 1] += ties[k] * equal
        ties[k] *= below


@kernel
def prizes(rest, state, mover, out):
    """Write the share of the first place of each seat by the final total of ``mover``: ``out[seat, total]``.

    float64[seats, 375]. The mover's final total aside, all totals are distributed as `rest` has them.
    """
    players = np.int64(state.players)
    equal, below = np.zeros((SEATS, TOTALS)), np.zeros((SEATS, TOTALS))
    for seat in range(players):
        if seat != mover:
            add_row(rest, position_in(state, seat), total(state, seat), 1.0, equal[seat])
            so_far = 0.0
            for points in range(TOTALS):
                below[seat, points] = so_far
                so_far += equal[seat, points]
    ties = np.zeros(SEATS + 1)
    for seat in range(players):
        higher = 0.0  # the share of this one, not the mover, with a total above the one looked at
        for points in range(TOTALS - 1, -1, -1):
            ties[:] = 0.0
            ties[0] = 1.0
            n = 0
            for other in range(players):
                if other not in (mover, seat):
                    split(ties, below[other, points], equal[other, points], n)
                    n += 1
            alone, beside = 0.0, 0.0
            for k in range(n + 1):
                alone += ties[k] / (k + 1)
                beside += ties[k] / (k + 2)
            if seat == mover:
                out[seat, points] = alone
            else:
                out[seat, points] = higher + equal[seat, points] * beside
                higher += equal[seat, points] * alone


@kernel
def as_whole(prize, out):
    """Write prizes (float64[375]) as whole numbers (int64[375])."""
    for points in range(TOTALS):
        out[points] = np.int64(prize[points] * WHOLE + 0.5)


@kernel
def mean_prize(rest, position, have, whole):
    """Return the mean prize with ``have`` points if the player plays on for the mean; prizes are whole numbers."""
    weights, starts, firsts, scales = rest
    start, n = starts[position, 0], starts[position, 1]
    first = have + firsts[position]
    together = np.int64(0)
    for i in range(n):
        together += np.int64(weights[start + i]) * whole[first + i]
    return together * scales[position] / WHOLE


@kernel
def winning_leaves(rest, state, seat, whole, leaves):
    """Write what each end of a turn of ``seat`` is worth by prizes in whole numbers (int64[375]); see `prizes`."""
    filled, upper, have = mask_filled(state.scores[seat]), upper_of(state, seat), total(state, seat)
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
            after = position_of(filled | 1 << box, sum_after(upper, box, points))
            leaves[box, points] = mean_prize(rest, after, have + earn(upper, box, points), whole)


@kernel
def new_room():
    """Return the arrays that `look` fills.

    Prizes, whole prizes, leaves by seat, levels by seat, and choices.
    """
    levels, chosen = np.zeros((SEATS, ROLLS + 1, N_SETS)), np.zeros((ROLLS + 1, N_SETS), np.int64)
    leaves = np.zeros((SEATS, BOXES, MOST_POINTS))
    return np.zeros((SEATS, TOTALS)), np.zeros(TOTALS, np.int64), leaves, levels, chosen


@kernel
def look(known, state, seat, everybody, room):
    """Look through the turn of ``seat``, which is taken to roll the dice: its levels and choices are left in ``room``.

    With ``everybody`` those of all seats, while it chooses what is best for itself.
    """
    values, rest = known
    prize, whole, leaves, levels, chosen = room
    filled, upper = mask_filled(state.scores[seat]), upper_of(state, seat)
    if len(values) > 0:
        mean_leaves(values, filled, upper, leaves[seat])
        look_through(leaves[seat], filled, False, levels[seat], chosen)
        return
    prizes(rest, state, seat, prize)
    as_whole(prize[seat], whole)
    winning_leaves(rest, state, seat, whole, leaves[seat])
    look_through(leaves[seat], filled, False, levels[seat], chosen)
    players = np.int64(state.players)
    if everybody and players == 2:
        for left in range(ROLLS + 1):
            for number in range(N_SETS):
                levels[1 - seat, left, number] = 1.0 - levels[seat, left, number]
    elif everybody:
        for other in range(players):
            if other != seat:
                as_whole(prize[other], whole)
                winning_leaves(rest, state, seat, whole, leaves[other])
                follow(leaves[other], levels[other], chosen)


@kernel
def between_turns(known, state, seat, room):
    """Return what a seat's position is worth while no dice lie on the table: before a turn, or at the end."""
    values, rest = known
    if len(values) > 0:
        return values[mask_filled(state.scores[seat]), upper_of(state, seat)]
    prize, whole = room[0], room[1]
    prizes(rest, state, seat, prize)
    as_whole(prize[seat], whole)
    return mean_prize(rest, position_in(state, seat), total(state, seat), whole)


@kernel
def value_rows(known, states, out):
    """Write what each state is worth to each seat to ``out`` (float64[states, players]).

    The dice shown are those of the player to move.
    """
    room = new_room()
    for k in range(len(states)):
        state = states[k]
        if state.over:
            for seat in range(state.players):
                out[k, seat] = between_turns(known, state, np.int64(seat), room)
        else:
            look(known, state, np.int64(state.player), True, room)
            for seat in range(state.players):
                out[k, seat] = room[3][seat, state.rolls_left, KEEPS + hand_of(state.dice)]


@kernel
def action_rows(known, states, seats, out):
    """Write what each action is worth to ``out`` (float64[states, 225]), nan for illegal ones.

    ``seats`` (int64[states]) are taken to roll the dice shown.
    """
    room = new_room()
    for k in range(len(states)):
        state, seat = states[k], seats[k]
        look(known, state, seat, False, room)
        leaves, levels = room[2][seat], room[3][seat]
        filled, hand, left = mask_filled(state.scores[seat]), hand_of(state.dice), state.rolls_left
        for kept in range(KEEPS):
            out[k, kept] = levels[left, kept] if left > 0 and KEEPABLE[hand, kept] else np.nan
        for box in range(BOXES):
            out[k, FIRST_BOX + box] = leaves[box, BEST[hand, box]] if not filled >> box & 1 else np.nan


@kernel
def choose_rows(known, states, rows, seats, out):
    """Write the action that is worth most to each seat to ``out[k]``.

    Of equal ones it is a box rather than a roll, and the first box.
    """
    room = new_room()
    for k in range(len(rows)):
        state = states[rows[k]]
        look(known, state, seats[k], False, room)
        chosen, hand = room[4], KEEPS + hand_of(state.dice)
        kept = chosen[state.rolls_left, hand] if state.rolls_left > 0 else hand
        out[k] = kept if kept < KEEPS else FIRST_BOX + chosen[0, hand]


@kernel
def add_costs(known, before, rows, actions, after, costs):
    """Add to ``costs[rows[k]]`` the regret of the player to move when any action ``actions[k]`` was played.

    That is the difference between the best that its state, dice included, was worth and what it was worth after the
    decision, before chance had a say. If an action made the server play turns, it is what came of them.
    """
    room = new_room()
    for k in range(len(rows)):
        old, new = before[rows[k]], after[rows[k]]
        seat = np.int64(old.player)
        look(known, old, seat, False, room)
        levels = room[3][seat, old.rolls_left]
        best = levels[KEEPS + hand_of(old.dice)]
        if new.over or new.player != old.player or new.round_number != old.round_number:
            gained = total(new, seat) - total(old, seat) if len(known[0]) > 0 else 0
            costs[rows[k]] += best - gained - between_turns(known, new, seat, room)
        elif new.rolls_left != old.rolls_left:
            costs[rows[k]] += best - levels[set_kept(old, actions[k])]


@kernel
def add_first_roll(known, state, room, luck):
    """Add to ``luck`` (float64[seats]) what the first roll of a turn, just made, brought."""
    look(known, state, np.int64(state.player), True, room)
    hand = KEEPS + hand_of(state.dice)
    for seat in range(state.players):
        worths = room[3][seat, ROLLS]
        luck[seat] += worths[hand] - before_rolling(worths)


@kernel
def begin_rows(known, states, rows, luck):
    """Add the first roll of games that have just begun to ``luck`` (float64[games, players])."""
    room = new_room()
    for k in range(len(rows)):
        add_first_roll(known, states[rows[k]], room, luck[rows[k]])


@kernel
def add_rows(known, before, rows, actions, after, luck):
    """Add to ``luck`` (float64[games, players]) what the dice brought when ``actions[k]`` were played.

    Turns that the server plays for players that gave up are not looked into: their luck stays in the result.
    """
    room = new_room()
    for k in range(len(rows)):
        old, new = before[rows[k]], after[rows[k]]
        if new.over:
            continue
        if new.player != old.player or new.round_number != old.round_number:
            add_first_roll(known, new, room, luck[rows[k]])
        elif new.rolls_left != old.rolls_left:
            kept = set_kept(old, actions[k])
            look(known, old, np.int64(old.player), True, room)
            hand = KEEPS + hand_of(new.dice)
            for seat in range(new.players):
                levels = room[3][seat]
                luck[rows[k], seat] += levels[new.rolls_left, hand] - levels[old.rolls_left, kept]


def action_values(known: Known, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return what each action is worth: float64[states, 225], nan for illegal ones; ``seats`` roll the dice shown."""
    out = np.empty((len(states), N_ACTIONS))
    action_rows(known, states, seats, out)
    return out
