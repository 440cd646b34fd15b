"""Compiled sweeps over all states of Hog, hidden ones included.

A state is what decides the rest of a game: both scores, the parity of all exchanges, both runs of Pig outs.
Scores are seen from the player to move; their pair is one number, ``own * goal + opponent``. The sum of both
scores grows with every turn, so sweeps run along it and meet every state once.

Arrays (runs count 0..LONGEST_RUN, so RUNS is 4):
    rolls: float64[sides, number, points], see `roll_chances`.
    table: int8[goal, goal], the number of dice by (own score, opponent's score).
    values: float64[2, goal * goal, 2, RUNS, RUNS] by (player to move, pair, parity, run of the other player,
        run of the player to move): the probability that the player to move wins.
    reach: as values: the probability that a game comes through the state.

The rules are those of `dicegym.games.hog.rules`; what is added here is the distribution of a roll.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.hog.rules import (
    EXCHANGE,
    FIRST_NUMBER,
    LONGEST_RUN,
    MOST_DICE,
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
"""Instead of a pair: the game is over, and the player who moved has won or lost."""


def roll_chances() -> np.ndarray:
    """Return float64[sides + 1, MOST_DICE + 1, points + 1], the probability of the points of a roll.

    ``[s, n, k]`` for n dice of s sides: at k = PIG_OUT the probability of one (no sum without a 1 is as small),
    above it that of the sum k without a 1, by convolution of one die's faces. ``[0, 0, k]`` is 1 for every k:
    what a turn without dice scores is certain.
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
def new_places(rolls):
    """Return an array for `find_places`: up to the most points that a turn can score."""
    return np.empty((rolls.shape[2] - 1) * multiplier(LONGEST_RUN) + 1, np.int64)


@kernel
def turn(own, opponent, parity, number, rolls):
    """Return (chances by points, fewest and most points, chance of a Pig out, parity after the turn)."""
    if number > 0:
        chances = rolls[sides(own, opponent, parity), number]
        most = len(chances) - 1
        while chances[most] == 0:
            most -= 1
        return chances, 2 * number, most, chances[PIG_OUT], parity
    if number == 0:
        points = free_bacon(opponent)
        return rolls[0, 0], points, points, 0.0, parity
    return rolls[0, 0], EXCHANGE, EXCHANGE, 0.0, 1 - parity


@kernel
def look_ahead(own, opponent, parity, number, rolls, places, later, out):
    """Write how likely the player to move wins who chooses ``number``: to ``out[opponent's run, own run]``.

    ``later`` is the part of values in which the opponent moves.
    """
    chances, fewest, most, pig_out, parity_after = turn(own, opponent, parity, number, rolls)
    for run in range(RUNS):
        factor = multiplier(run)
        if run > 0 and factor == multiplier(run - 1):
            for other_run in range(RUNS):
                out[other_run, run] = out[other_run, run - 1]
            continue
        # One sum for each of the opponent's four runs: in registers, three times as fast as a loop.
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
        out[0, run] = sum_0
        out[1, run] = sum_1
        out[2, run] = sum_2
        out[3, run] = sum_3
    place = places[PIG_OUT]
    if pig_out > 0 and place != LOST:
        for run in range(RUNS):
            longer_run = longer(run)
            for other_run in range(RUNS):
                later_wins = later[place, parity_after, longer_run, other_run] if place >= 0 else 0.0
                out[other_run, run] += pig_out * (1 - later_wins)


@kernel
def hand_on(own, opponent, parity, number, rolls, places, mass, later):
    """Add to ``later``, the opponent's part of reach, what follows from ``mass[opponent's run, own run]``."""
    chances, fewest, most, pig_out, parity_after = turn(own, opponent, parity, number, rolls)
    place = places[PIG_OUT]
    for run in range(RUNS):
        factor = multiplier(run)
        longer_run = longer(run)
        for other_run in range(RUNS):
            here = mass[other_run, run]
            if here > 0:
                for points in range(fewest, most + 1):
                    if places[points * factor] >= 0:
                        later[places[points * factor], parity_after, 0, other_run] += here * chances[points]
                if place >= 0:
                    later[place, parity_after, longer_run, other_run] += here * pig_out


@kernel
def evaluate(tables: np.ndarray, rolls: np.ndarray, parities: int, values: np.ndarray) -> None:
    """Fill ``values`` for ``tables`` (int8[2, goal, goal]: of the two players), parities below ``parities``."""
    goal = tables.shape[1]
    places = new_places(rolls)
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for player in range(2):
                number = int(tables[player, own, opponent])
                for parity in range(parities):
                    look_ahead(
                        own, opponent, parity, number, rolls, places, values[1 - player], values[player, pair, parity]
                    )


@kernel
def respond(opponent_table: np.ndarray, rolls: np.ndarray, values: np.ndarray, policy: np.ndarray) -> None:
    """Fill ``values`` for a player 0 that sees everything and plays best against ``opponent_table`` (player 1).

    Its choices are written to ``policy``: int8[goal * goal, 2, RUNS, RUNS], indexed as values; of equal
    choices the smallest.
    """
    goal = len(opponent_table)
    places = new_places(rolls)
    out = np.empty((RUNS, RUNS))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for parity in range(2):
                for number in range(FIRST_NUMBER, MOST_DICE + 1):
                    look_ahead(own, opponent, parity, number, rolls, places, values[1], out)
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            value = out[other_run, run]
                            if number == FIRST_NUMBER or value > values[0, pair, parity, other_run, run]:
                                values[0, pair, parity, other_run, run] = value
                                policy[pair, parity, other_run, run] = number
                number = int(opponent_table[own, opponent])
                look_ahead(own, opponent, parity, number, rolls, places, values[0], values[1, pair, parity])


@kernel
def spread(tables: np.ndarray, rolls: np.ndarray, reach: np.ndarray) -> None:
    """Fill ``reach`` for ``tables`` (as `evaluate`), the first to move drawn by a fair coin."""
    goal = tables.shape[1]
    places = new_places(rolls)
    reach[:] = 0
    for player in range(2):
        reach[player, 0, 0, 0, 0] = 0.5
    for total in range(2 * goal - 1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            find_places(own, opponent, goal, places)
            for player in range(2):
                number = int(tables[player, own, opponent])
                for parity in range(2):
                    mass = reach[player, own * goal + opponent, parity]
                    hand_on(own, opponent, parity, number, rolls, places, mass, reach[1 - player])


@kernel
def improve(tables: np.ndarray, rolls: np.ndarray, reach: np.ndarray, margin: float, values: np.ndarray) -> int:
    """Improve ``tables[0]`` in place by one backward sweep; return how many choices changed.

    In each pair the choice with the best value over the hidden states is taken, weighted by ``reach``, or in
    parity 0 and runs 0 where the pair is not reached. The present choice stays unless another is better by
    more than ``margin`` times the probability of the pair. ``values`` are those of the new tables.

    A game meets a pair with player 0 to move at most once, and what comes before is not changed yet, so the
    weights are right at every step and no step makes the table worse.
    """
    goal = tables.shape[1]
    places = new_places(rolls)
    out = np.empty((MOST_DICE - FIRST_NUMBER + 1, 2, RUNS, RUNS))
    unreached = np.zeros((2, RUNS, RUNS))
    unreached[0, 0, 0] = 1
    changes = 0
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            weights = reach[0, pair]
            mass = 0.0
            for parity in range(2):
                for other_run in range(RUNS):
                    for run in range(RUNS):
                        mass += weights[parity, other_run, run]
            if mass == 0:
                weights, mass = unreached, 1.0
            kept = int(tables[0, own, opponent])
            best, most, value_kept = kept, -1.0, 0.0
            for number in range(FIRST_NUMBER, MOST_DICE + 1):
                value = 0.0
                for parity in range(2):
                    wins = out[number - FIRST_NUMBER, parity]
                    look_ahead(own, opponent, parity, number, rolls, places, values[1], wins)
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            value += weights[parity, other_run, run] * wins[other_run, run]
                if number == kept:
                    value_kept = value
                if value > most:
                    best, most = number, value
            if most > value_kept + margin * mass:
                tables[0, own, opponent] = best
                changes += 1
            else:
                best = kept
            number = int(tables[1, own, opponent])
            for parity in range(2):
                for other_run in range(RUNS):
                    for run in range(RUNS):
                        values[0, pair, parity, other_run, run] = out[best - FIRST_NUMBER, parity, other_run, run]
                look_ahead(own, opponent, parity, number, rolls, places, values[0], values[1, pair, parity])
    return changes


@kernel
def forgo(table: np.ndarray, rolls: np.ndarray, reach: np.ndarray, values: np.ndarray, forgone: np.ndarray) -> None:
    """Fill ``forgone`` (float64[goal, goal]) with what the choices of ``table`` cost player 0 by other ``values``.

    For each pair, weighted by ``reach``: what the hidden states are worth by ``values``, less what they are if
    ``table`` chooses this once.
    """
    goal = len(table)
    places = new_places(rolls)
    out = np.empty((RUNS, RUNS))
    for own in range(goal):
        for opponent in range(goal):
            find_places(own, opponent, goal, places)
            pair = own * goal + opponent
            lost = 0.0
            for parity in range(2):
                look_ahead(own, opponent, parity, int(table[own, opponent]), rolls, places, values[1], out)
                for other_run in range(RUNS):
                    for run in range(RUNS):
                        worse = values[0, pair, parity, other_run, run] - out[other_run, run]
                        lost += reach[0, pair, parity, other_run, run] * worse
            forgone[own, opponent] = lost
