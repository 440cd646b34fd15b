"""Compiled sweeps over all states of Hog, hidden parts included: one forwards, and one backwards.

A state is everything that the rest of a game depends on: both scores, the parity of all exchanges, both runs of Pig
outs and, for players that know it, the parity of the mover's own exchanges. Scores are seen from the player to move;
their pair is one number, ``own * goal + opponent``. The sum of both scores grows with every turn, so a sweep along it
visits every state once.

The backward update: the value of a state is the mean, over the points of the turn, of 1 less the next state's value for
the other player, and 1 or 0 where the game ends. All states with a larger sum of scores are done before. Forwards, each
state passes its probability on to its successors. Compare Neller and Presser, "Optimal play of the dice game Pig", The
UMAP Journal 25 (2004), where values depend on each other.

Arrays (runs count 0..LONGEST_RUN, so RUNS is 4):
    rolls: float64[sides, number, points], see `roll_chances`.
    numbers: int8[players, goal * goal, K, P], the number of dice by what a player knows: pair, own run and parity of
        the own exchanges. K and P are RUNS and 2; both are 1 if it knows the scores alone.
    values: float64[players, P, goal * goal, 2, RUNS, RUNS] by (player to move, parity of its own exchanges, pair,
        parity of all exchanges, run of the other player, run of the player to move): the probability that the player to
        move wins. A move leaves the other player's own parity unchanged, so all successors are in one part.
    reach: as values: the probability that a game reaches the state, with a fair coin for who moves first.

If both players are alike, one stands for both. With full sight, one sweep in which the player to move takes the best
choice (`SEE_ALL`) solves the game.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.hog.rules import (
    EXCHANGE,
    FIRST_NUMBER,
    LONGEST_RUN,
    MOST_DICE,
    N_ACTIONS,
    PIG_OUT,
    WILD,
    free_bacon,
    longer,
    multiplier,
    settle,
    sides,
)

RUNS = LONGEST_RUN + 1
WON, LOST = -1, -2
"""In place of a pair: the game is over, and the player that moved has won or lost."""
PLAY, WEIGH, IMPROVE, SEE_ALL = range(4)
"""Rules of `sweep`: follow ``numbers``; also compute the win rate of each choice; also replace choices by better ones;
or see everything and play best."""


@functools.cache
def roll_chances() -> np.ndarray:
    """Return the probabilities of the points of a roll: float64[sides + 1, MOST_DICE + 1, points + 1], computed once.

    ``[s, n, k]`` for n dice of s sides: for k = PIG_OUT the probability of a Pig out, above it that of the sum k
    without a 1. ``[0, 0, k]`` is 1 for every k: a turn without dice has a certain score.
    """
    most_sides = max(int(sides(score, 0, parity)) for score in range(WILD) for parity in range(2))
    chances = np.zeros((most_sides + 1, MOST_DICE + 1, MOST_DICE * most_sides + 1))
    chances[0, 0] = 1
    for n_sides in range(2, most_sides + 1):
        face = np.zeros(n_sides + 1)
        face[2:] = 1 / n_sides
        sums = np.ones(1)
        for number in range(1, MOST_DICE + 1):
            sums = np.convolve(sums, face)
            chances[n_sides, number, : len(sums)] = sums
            chances[n_sides, number, PIG_OUT] = 1 - ((n_sides - 1) / n_sides) ** number
    return chances


# --- one turn --------------------------------------------------------------------------------------------------------


@kernel
def new_places(rolls):
    """Return an array for `find_places`, up to the most points of a turn."""
    return np.empty((rolls.shape[2] - 1) * multiplier(LONGEST_RUN) + 1, np.int64)


@kernel
def find_places(own, opponent, goal, places):
    """Write for each number of points (int64[most points + 1]) the next player's pair, or WON or LOST."""
    for points in range(len(places)):
        own_after, opponent_after = settle(own, opponent, points)
        if max(own_after, opponent_after) < goal:
            places[points] = opponent_after * goal + own_after
        else:
            places[points] = WON if own_after > opponent_after else LOST


@kernel
def turn(own, opponent, parity, number, rolls):
    """Return (chances by points, fewest and most points, chance of a Pig out, parity after the turn)."""
    if number > 0:
        n_sides = sides(own, opponent, parity)
        chances = rolls[n_sides, number]
        return chances, 2 * number, n_sides * number, chances[PIG_OUT], parity
    points = free_bacon(opponent) if number == 0 else EXCHANGE
    return rolls[0, 0], points, points, 0.0, parity if number == 0 else 1 - parity


@kernel
def look_ahead(own, opponent, parity, number, rolls, places, later, out):
    """Write the player's probability to win with ``number`` dice to ``out[opponent's run, own run]``.

    ``later`` is the part of values in which the opponent moves.
    """
    chances, fewest, most, pig_out, parity_after = turn(own, opponent, parity, number, rolls)
    for run in range(RUNS):
        factor = multiplier(run)
        if run > 0 and factor == multiplier(run - 1):
            for other_run in range(RUNS):
                out[other_run, run] = out[other_run, run - 1]
            continue
        # One variable for each of the opponent's four runs: three times as fast as a loop, as they stay in registers.
        sum_0 = sum_1 = sum_2 = sum_3 = 0.0
        for points in range(fewest, most + 1):
            chance = chances[points]
            place = places[points * factor]
            if place >= 0:
                row = later[place, parity_after, 0]
                sum_0 += chance * (1 - row[0])
                sum_1 += chance * (1 - row[1])
                sum_2 += chance * (1 - row[2])
                sum_3 += chance * (1 - row[3])
            elif place == WON:
                sum_0 += chance
                sum_1 += chance
                sum_2 += chance
                sum_3 += chance
        out[0, run], out[1, run], out[2, run], out[3, run] = sum_0, sum_1, sum_2, sum_3
    place = places[PIG_OUT]
    if pig_out > 0 and place != LOST:
        for other_run in range(RUNS):
            for run in range(RUNS):
                later_wins = later[place, parity_after, longer(run), other_run] if place >= 0 else 0.0
                out[other_run, run] += pig_out * (1 - later_wins)


@kernel
def hand_on(own, opponent, parity, chosen, number, rolls, places, mass, later):
    """Distribute ``mass[opponent's run, own run]`` over the successors, in ``later``: the opponent's part of reach.

    Only own runs count in which ``number`` is ``chosen`` (int8[K], by the own run).
    """
    chances, fewest, most, pig_out, parity_after = turn(own, opponent, parity, number, rolls)
    place = places[PIG_OUT]
    for run in range(RUNS):
        factor, longer_run = multiplier(run), longer(run)
        for other_run in range(RUNS):
            here = mass[other_run, run] if chosen[min(run, len(chosen) - 1)] == number else 0.0
            if here > 0:
                for points in range(fewest, most + 1):
                    if places[points * factor] >= 0:
                        later[places[points * factor], parity_after, 0, other_run] += here * chances[points]
                if place >= 0:
                    later[place, parity_after, longer_run, other_run] += here * pig_out


# --- sweeps ----------------------------------------------------------------------------------------------------------


@kernel
def spread(goal, numbers, rolls, reach):
    """Fill ``reach`` for ``numbers`` by one sweep forwards."""
    players, _, _, owns = numbers.shape
    places = new_places(rolls)
    reach[:] = 0
    reach[:, 0, 0, 0, 0, 0] = 0.5
    for total in range(2 * goal - 1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for player, action, parity in np.ndindex(players, N_ACTIONS, owns):
                number, chosen = action + FIRST_NUMBER, numbers[player, pair, :, parity]
                if is_chosen(chosen, number):
                    for every in range(2):
                        later = reach[players - 1 - player, min(parity ^ every, owns - 1)]
                        mass = reach[player, parity, pair, every]
                        hand_on(own, opponent, every, chosen, number, rolls, places, mass, later)


@kernel
def is_chosen(numbers, number):
    """Return whether ``number`` is among ``numbers`` (int8[K], by the own run)."""
    for chosen in numbers:  # noqa: SIM110 - Numba compiles no generator
        if chosen == number:
            return True
    return False


@kernel
def weigh(here, wins, gains, met):
    """Write the wins by each choice, for everything that a player knows: a sum over hidden states, weighted by reach.

    Args:
        here: float64[P, 2, RUNS, RUNS], reach in a pair.
        wins: float64[N_ACTIONS, P, 2, RUNS, RUNS], probability to win by each action in each state.
        gains: float64[K, P, N_ACTIONS], filled.
        met: float64[K, P], filled with the sum of the weights.
    """
    met[:] = 0
    for parity, every, other_run, run in np.ndindex(here.shape):
        met[min(run, len(met) - 1), parity] += here[parity, every, other_run, run]
    for known, parity, action in np.ndindex(gains.shape):
        first, end = (0, RUNS) if len(gains) == 1 else (known, known + 1)  # own runs that are known alike
        gained = 0.0
        for every in range(2):
            for other_run in range(RUNS):
                for run in range(first, end):
                    gained += here[parity, every, other_run, run] * wins[action, parity, every, other_run, run]
        gains[known, parity, action] = gained


@kernel
def improve(wins, gains, met, margin, numbers):
    """Replace ``numbers`` (int8[K, P]) by better ones; return how many changed. Arrays as in `weigh`.

    The present number stays unless another is better by more than ``margin`` times its reach. Where the reach is 0, the
    opponent is taken to have no run and no exchanges.
    """
    changes = 0
    for known, parity in np.ndindex(numbers.shape):
        reached = met[known, parity] > 0
        worth = gains[known, parity] if reached else wins[:, parity, parity, 0, known]
        best, kept = np.argmax(worth), numbers[known, parity] - FIRST_NUMBER
        if worth[best] > worth[kept] + margin * (met[known, parity] if reached else 1.0):
            numbers[known, parity] = best + FIRST_NUMBER
            changes += 1
    return changes


@kernel
def sweep(goal, rules, numbers, rolls, parities, reach, margin, values, gains, policy):
    """Fill ``values`` by one sweep backwards in which each player follows its rule; return how many choices changed.

    A game meets a pair with a player to move at most once, and earlier pairs are not changed yet. So the weights of
    `IMPROVE` are right at every step, and no step makes a strategy worse.

    Args:
        goal: of the game.
        rules: int64[players], `PLAY`, `WEIGH`, `IMPROVE` or `SEE_ALL`; the second of two players must `PLAY`.
        numbers: changed by `IMPROVE`, not read by `SEE_ALL`.
        rolls: from `roll_chances`.
        parities: 2, or 1 if nobody exchanges the dice: the parity stays even.
        reach: read by `WEIGH` and `IMPROVE`.
        margin: see `improve`.
        values: filled.
        gains: float64[goal * goal, K, P, N_ACTIONS], filled by `WEIGH` and `IMPROVE`; see `weigh`.
        policy: int8[P, goal * goal, 2, RUNS, RUNS], filled by `SEE_ALL`: the smallest of the best numbers of dice.
    """
    players, _, runs, owns = numbers.shape
    places, wins, met = new_places(rolls), np.empty((N_ACTIONS, owns, 2, RUNS, RUNS)), np.empty((runs, owns))
    changes = 0
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for player in range(players):
                rule, chosen = rules[player], numbers[player, pair]
                for action, parity in np.ndindex(N_ACTIONS, owns):
                    number = action + FIRST_NUMBER
                    if rule != PLAY or is_chosen(chosen[:, parity], number):
                        for every in range(parities):
                            later = values[players - 1 - player, min(parity ^ every, owns - 1)]
                            look_ahead(own, opponent, every, number, rolls, places, later, wins[action, parity, every])
                if rule in (WEIGH, IMPROVE):
                    weigh(reach[player, :, pair], wins, gains[pair], met)
                if rule == IMPROVE:
                    changes += improve(wins, gains[pair], met, margin, chosen)
                for parity, every, other_run, run in np.ndindex(owns, parities, RUNS, RUNS):
                    worth = wins[:, parity, every, other_run, run]
                    if rule == SEE_ALL:
                        action = np.argmax(worth)
                        policy[parity, pair, every, other_run, run] = action + FIRST_NUMBER
                    else:
                        action = chosen[min(run, runs - 1), parity] - FIRST_NUMBER
                    values[player, parity, pair, every, other_run, run] = worth[action]
    return changes


# --- records, with full sight ----------------------------------------------------------------------------------------
# Both players are alike and own exchanges do not matter, so values are float64[goal * goal, 2, RUNS, RUNS].


def state_values(states: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how likely the player to move wins each unfinished game: float64[n]."""
    each, me = np.arange(len(states)), states["player"].astype(np.int64)
    scores, runs = states["scores"].astype(np.int64), states["runs"]
    pairs = scores[each, me] * states["goal"] + scores[each, 1 - me]
    found: np.ndarray = values[pairs, states["exchanges"].sum(axis=1) % 2, runs[each, 1 - me], runs[each, me]]
    return found


@kernel
def action_values(states, actions, rolls, values):
    """Return how likely the player to move wins by each of ``actions`` (int64[n, k]); one out of range loses."""
    places, wins, found = new_places(rolls), np.empty((RUNS, RUNS)), np.zeros(actions.shape)
    for i in range(len(states)):
        state = states[i]
        me = state.player
        own, opponent = np.int64(state.scores[me]), np.int64(state.scores[1 - me])
        parity = (state.exchanges[0] + state.exchanges[1]) % 2
        find_places(own, opponent, np.int64(state.goal), places)
        for k in range(actions.shape[1]):
            number = actions[i, k] + FIRST_NUMBER
            if FIRST_NUMBER <= number <= MOST_DICE:
                look_ahead(own, opponent, parity, number, rolls, places, values, wins)
                found[i, k] = wins[state.runs[1 - me], state.runs[me]]
    return found
