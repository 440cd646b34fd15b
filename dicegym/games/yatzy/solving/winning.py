"""What states of Yatzy for two to six are worth: each seat's share of the first place, all playing on for the mean.

The others' final totals are then as `rest` says, whatever the player to move does. What its own turn's ends are worth
to each seat follows from its final totals after each, distributed alike.

Shares are summed as whole numbers, which is as fast as compiled code gets and the same on every machine.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.exact_kernels import filled_of
from dicegym.games.yatzy.hands import hand_of
from dicegym.games.yatzy.rules import BONUS_FROM, FIRST_BOX, total
from dicegym.games.yatzy.solving.positions import MOST_POINTS, SCORES, TOTALS, position_of
from dicegym.games.yatzy.solving.rest import add_row
from dicegym.games.yatzy.solving.rolled import set_kept
from dicegym.games.yatzy.solving.turn import before_rolling, earned, look_through, sum_after
from dicegym.games.yatzy.tables import BEST, BOXES, HANDS, KEEPABLE, KEEPS, ROLLS, SETS
from dicegym.games.yatzy.turns import roll_sets
from dicegym.games.yatzy.view import SEATS

WHOLE = float(1 << 36)
"""What a share of 1 is as a whole number: times the sum of a row, 375 * 65535 at most, it stays below 2**63."""


@kernel
def upper_of(state, seat):
    """Return the sum of a seat's upper boxes, up to 63."""
    return min(int(state.upper[seat]), BONUS_FROM)


@kernel
def position_in(state, seat):
    """Return the number of a seat's position."""
    return position_of(filled_of(state.scores[seat]), upper_of(state, seat))


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
    if players == 2:
        other = 1 - mover
        for points in range(TOTALS):
            out[mover, points] = below[other, points] + 0.5 * equal[other, points]
            out[other, points] = 1.0 - out[mover, points]
        return
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
    """Return the mean prize of one who has ``have`` points and plays on for the mean from a position."""
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
    filled, upper, have = filled_of(state.scores[seat]), upper_of(state, seat), total(state, seat)
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in range(MOST_POINTS):
                if SCORES[box, points]:
                    after = position_of(filled | 1 << box, sum_after(upper, box, points))
                    leaves[box, points] = mean_prize(rest, after, have + earned(upper, box, points), whole)


@kernel
def new_room():
    """Return the arrays that `look` fills: prizes, whole prizes, leaves by seat, levels by seat, choices."""
    levels = np.zeros((SEATS, ROLLS + 1, len(SETS)))
    chosen = np.zeros((ROLLS + 1, len(SETS)), np.int64)
    return np.zeros((SEATS, TOTALS)), np.zeros(TOTALS, np.int64), np.zeros((SEATS, BOXES, MOST_POINTS)), levels, chosen


@kernel
def follow(leaves, levels, chosen):
    """Write what sets are worth to another seat while the mover chooses as ``chosen`` says; see `turn.look_through`."""
    for hand in range(HANDS):
        levels[0, KEEPS + hand] = leaves[chosen[0, KEEPS + hand], BEST[hand, chosen[0, KEEPS + hand]]]
    for left in range(1, ROLLS + 1):
        for hand in range(KEEPS, len(SETS)):
            levels[left, hand] = levels[left - 1, hand]
        roll_sets(levels[left])
        for hand in range(KEEPS, len(SETS)):
            kept = chosen[left, hand]
            levels[left, hand] = levels[left, kept] if kept < KEEPS else levels[0, hand]


@kernel
def look(rest, state, seat, everybody, room):
    """Look through the turn of ``seat``, which is taken to roll the dice: its levels and choices stand in ``room``.

    With ``everybody`` those of all seats, while it chooses what is best for itself.
    """
    prize, whole, leaves, levels, chosen = room
    prizes(rest, state, seat, prize)
    as_whole(prize[seat], whole)
    winning_leaves(rest, state, seat, whole, leaves[seat])
    look_through(leaves[seat], filled_of(state.scores[seat]), levels[seat], chosen)
    players = np.int64(state.players)
    if everybody and players == 2:
        for left in range(ROLLS + 1):
            for number in range(len(SETS)):
                levels[1 - seat, left, number] = 1.0 - levels[seat, left, number]
    elif everybody:
        for other in range(players):
            if other != seat:
                as_whole(prize[other], whole)
                winning_leaves(rest, state, seat, whole, leaves[other])
                follow(leaves[other], levels[other], chosen)


@kernel
def best_action(state, levels, chosen):
    """Return the best action for the dice shown, of equal ones the first."""
    hand = hand_of(state.dice)
    kept = chosen[state.rolls_left, KEEPS + hand] if state.rolls_left > 0 else KEEPS + hand
    return kept if kept < KEEPS else FIRST_BOX + chosen[0, KEEPS + hand]


@kernel
def choose_rows(rest, states, rows, seats, out):
    """Write the action with which each seat wins most often to ``out[k]``."""
    room = new_room()
    for k in range(len(rows)):
        state = states[rows[k]]
        look(rest, state, seats[k], False, room)
        out[k] = best_action(state, room[3][seats[k]], room[4])


@kernel
def add_first_roll(rest, state, room, luck):
    """Add to ``luck`` (float64[seats]) what the first roll of a turn, just made, brought."""
    look(rest, state, np.int64(state.player), True, room)
    hand = KEEPS + hand_of(state.dice)
    for seat in range(state.players):
        worths = room[3][seat, ROLLS]
        luck[seat] += worths[hand] - before_rolling(worths)


@kernel
def begin_rows(rest, states, rows, luck):
    """Add the first roll of games that have just begun to ``luck`` (float64[games, players])."""
    room = new_room()
    for k in range(len(rows)):
        add_first_roll(rest, states[rows[k]], room, luck[rows[k]])


@kernel
def add_rows(rest, before, rows, actions, after, luck):
    """Add to ``luck`` (float64[games, players]) what the dice brought when ``actions[k]`` were played.

    Turns that the server plays for those who have given up are not looked into: what they brought stays where it is.
    """
    room = new_room()
    for k in range(len(rows)):
        old, new = before[rows[k]], after[rows[k]]
        if new.over:
            continue
        if new.player != old.player or new.round_number != old.round_number:
            add_first_roll(rest, new, room, luck[rows[k]])
        elif new.rolls_left != old.rolls_left:
            kept = set_kept(old, actions[k])
            look(rest, old, np.int64(old.player), True, room)
            hand = KEEPS + hand_of(new.dice)
            for seat in range(new.players):
                levels = room[3][seat]
                luck[rows[k], seat] += levels[new.rolls_left, hand] - levels[old.rolls_left, kept]


@kernel
def share_between(rest, state, seat, room):
    """Return the share of a seat while no dice lie on the table: before a turn, or at the end."""
    prize, whole = room[0], room[1]
    prizes(rest, state, seat, prize)
    as_whole(prize[seat], whole)
    return mean_prize(rest, position_in(state, seat), total(state, seat), whole)


@kernel
def value_rows(rest, states, out):
    """Write the share of each seat to ``out`` (float64[states, players]): the dice shown are the mover's."""
    room = new_room()
    for k in range(len(states)):
        state = states[k]
        if state.over:
            for seat in range(state.players):
                out[k, seat] = share_between(rest, state, np.int64(seat), room)
        else:
            look(rest, state, np.int64(state.player), True, room)
            for seat in range(state.players):
                out[k, seat] = room[3][seat, state.rolls_left, KEEPS + hand_of(state.dice)]


@kernel
def action_rows(rest, states, out):
    """Write the mover's share after each action to ``out`` (float64[states, 225]), nan for illegal ones."""
    room = new_room()
    for k in range(len(states)):
        state = states[k]
        seat = np.int64(state.player)
        look(rest, state, seat, False, room)
        leaves, levels = room[2][seat], room[3][seat]
        filled, hand, left = filled_of(state.scores[seat]), hand_of(state.dice), state.rolls_left
        for kept in range(KEEPS):
            out[k, kept] = levels[left, kept] if left > 0 and KEEPABLE[hand, kept] else np.nan
        for box in range(BOXES):
            out[k, FIRST_BOX + box] = leaves[box, BEST[hand, box]] if not filled >> box & 1 else np.nan


@kernel
def action_share(rest, before, action, after):
    """Return the share of the player to move in ``before`` once it has played any action, which led to ``after``."""
    room = new_room()
    seat = np.int64(before.player)
    if after.over or after.player != before.player or after.round_number != before.round_number:
        return share_between(rest, after, seat, room)
    look(rest, before, seat, False, room)
    levels = room[3][seat]
    if after.rolls_left != before.rolls_left:
        return levels[before.rolls_left, set_kept(before, action)]
    return levels[before.rolls_left, KEEPS + hand_of(before.dice)]
