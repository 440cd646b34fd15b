"""Hog between players who remember their own turns: the sweeps of `dicegym.games.hog.exact_kernels` over more states.

With ``memory`` a player knows both scores, its own run of Pig outs and whether it exchanged the dice an even or an odd
number of times. What decides the rest of a game is then each player's exchanges apart, as each chooses by its own.

Arrays (RUNS and ``rolls`` are those of `dicegym.games.hog.exact_kernels`):
    table: int8[goal, goal, RUNS, 2], the number of dice by (own score, opponent's score, own run, parity of the own
        exchanges).
    values: float64[2, 2, goal * goal, 2, RUNS, RUNS] by (player to move, parity of its own exchanges, pair, parity of
        all exchanges, run of the other player, run of the player to move): the probability that the player to move
        wins. One who has moved leaves the other's own parity as it was, so what follows stands in one part,
        ``values[other, its parity]``, which is laid out as values without memory are.
    reach: as values: the probability that a game comes through the state.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.hog.exact_kernels import RUNS, find_places, hand_on, look_ahead, new_places
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE

RARE = 1e-30
"""How often a game comes where none does, so that something is supposed there and nowhere else."""


@kernel
def _choose(own, opponent, numbers, rolls, places, others, out, room):
    """Write what the player to move wins who chooses ``numbers[run, own parity]``: to ``out`` (its part of values).

    ``others`` is the other player's part of values; ``room`` is float64[RUNS, RUNS] to work in.
    """
    pair = own * numbers.shape[1] + opponent
    for parity in range(2):
        for every in range(2):
            later = others[(parity + every) % 2]
            found = out[parity, pair, every]
            last = FIRST_NUMBER - 1
            for run in range(RUNS):
                number = int(numbers[own, opponent, run, parity])
                if number != last:
                    look_ahead(own, opponent, every, number, rolls, places, later, room)
                    last = number
                for other_run in range(RUNS):
                    found[other_run, run] = room[other_run, run]


@kernel
def evaluate(tables: np.ndarray, rolls: np.ndarray, values: np.ndarray) -> None:
    """Fill ``values`` for ``tables`` (int8[2, goal, goal, RUNS, 2]: of the two players)."""
    goal = tables.shape[1]
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            find_places(own, opponent, goal, places)
            for player in range(2):
                _choose(own, opponent, tables[player], rolls, places, values[1 - player], values[player], room)


@kernel
def respond(opponent_table: np.ndarray, rolls: np.ndarray, values: np.ndarray, policy: np.ndarray) -> None:
    """Fill ``values`` for a player 0 that sees everything and plays best against ``opponent_table`` (player 1).

    Its choices are written to ``policy``: int8[2, goal * goal, 2, RUNS, RUNS], indexed as its part of values; of equal
    choices the smallest.
    """
    goal = len(opponent_table)
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for parity in range(2):
                for every in range(2):
                    later = values[1, (parity + every) % 2]
                    best, chosen = values[0, parity, pair, every], policy[parity, pair, every]
                    for number in range(FIRST_NUMBER, MOST_DICE + 1):
                        look_ahead(own, opponent, every, number, rolls, places, later, room)
                        for other_run in range(RUNS):
                            for run in range(RUNS):
                                if number == FIRST_NUMBER or room[other_run, run] > best[other_run, run]:
                                    best[other_run, run] = room[other_run, run]
                                    chosen[other_run, run] = number
            _choose(own, opponent, opponent_table, rolls, places, values[0], values[1], room)


@kernel
def spread(tables: np.ndarray, rolls: np.ndarray, reach: np.ndarray) -> None:
    """Fill ``reach`` for ``tables`` (as `evaluate`), the first to move drawn by a fair coin."""
    goal = tables.shape[1]
    places, mass = new_places(rolls), np.zeros((RUNS, RUNS))
    reach[:] = 0
    for player in range(2):
        reach[player, 0, 0, 0, 0, 0] = 0.5
    for total in range(2 * goal - 1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            find_places(own, opponent, goal, places)
            for player in range(2):
                for parity in range(2):
                    for every in range(2):
                        here = reach[player, parity, own * goal + opponent, every]
                        later = reach[1 - player, (parity + every) % 2]
                        for run in range(RUNS):
                            mass[:] = 0
                            mass[:, run] = here[:, run]
                            number = int(tables[player, own, opponent, run, parity])
                            hand_on(own, opponent, every, number, rolls, places, mass, later)


@kernel
def improve(tables: np.ndarray, rolls: np.ndarray, reach: np.ndarray, margin: float, values: np.ndarray) -> int:
    """Improve ``tables[0]`` in place by one backward sweep; return how many choices changed.

    As `dicegym.games.hog.exact_kernels.improve`: what is hidden here is the other player's run and the parity of its
    exchanges. Where the player never comes with what it remembers, it supposes neither.
    """
    goal = tables.shape[1]
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    out = np.empty((MOST_DICE - FIRST_NUMBER + 1, 2, 2, RUNS, RUNS))
    """By number of dice, parity of the own exchanges and of all, and runs."""
    changes = 0
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for number in range(FIRST_NUMBER, MOST_DICE + 1):
                for parity in range(2):
                    for every in range(2):
                        later = values[1, (parity + every) % 2]
                        wins = out[number - FIRST_NUMBER, parity, every]
                        look_ahead(own, opponent, every, number, rolls, places, later, wins)
            for parity in range(2):
                for run in range(RUNS):
                    mass = 0.0
                    for every in range(2):
                        for other_run in range(RUNS):
                            mass += reach[0, parity, pair, every, other_run, run]
                    kept = int(tables[0, own, opponent, run, parity])
                    best, most, value_kept = kept, -1.0, 0.0
                    for number in range(FIRST_NUMBER, MOST_DICE + 1):
                        wins = out[number - FIRST_NUMBER, parity]
                        value = 0.0
                        if mass == 0:
                            value = wins[parity, 0, run]
                        else:
                            for every in range(2):
                                for other_run in range(RUNS):
                                    weight = reach[0, parity, pair, every, other_run, run]
                                    value += weight * wins[every, other_run, run]
                        if number == kept:
                            value_kept = value
                        if value > most:
                            best, most = number, value
                    if most > value_kept + margin * (mass if mass > 0 else 1.0):
                        tables[0, own, opponent, run, parity] = best
                        changes += 1
                    else:
                        best = kept
                    for every in range(2):
                        for other_run in range(RUNS):
                            wins = out[best - FIRST_NUMBER, parity, every]
                            values[0, parity, pair, every, other_run, run] = wins[other_run, run]
            _choose(own, opponent, tables[1], rolls, places, values[0], values[1], room)
    return changes


@kernel
def weigh(rolls: np.ndarray, reach: np.ndarray, values: np.ndarray, gained: np.ndarray, met: np.ndarray) -> None:
    """Say what player 0 wins by each choice if it goes on as ``values`` say, wherever it knows the same.

    Args:
        rolls: see the module.
        reach: of both players' tables.
        values: of the same.
        gained: float64[goal, goal, RUNS, 2, N_ACTIONS], filled: what is won by what a player knows and by its choice,
            each hidden state counted as often as a game comes there.
        met: float64[goal, goal, RUNS, 2], filled: how often a game comes there. Where none does, `RARE` ones do in
            which the other player has no run and has exchanged the dice an even number of times, and rarer ones with
            own runs and exchanges.
    """
    goal = len(gained)
    places, wins = new_places(rolls), np.empty((RUNS, RUNS))
    for own in range(goal):
        for opponent in range(goal):
            find_places(own, opponent, goal, places)
            for parity in range(2):
                here = reach[0, parity, own * goal + opponent]
                for run in range(RUNS):
                    here[parity, 0, run] += RARE ** (1 + run + parity)
                    met[own, opponent, run, parity] = here[:, :, run].sum()
                for number in range(FIRST_NUMBER, MOST_DICE + 1):
                    gains = gained[own, opponent, :, parity, number - FIRST_NUMBER]
                    gains[:] = 0
                    for every in range(2):
                        look_ahead(own, opponent, every, number, rolls, places, values[1, (parity + every) % 2], wins)
                        for other_run in range(RUNS):
                            for run in range(RUNS):
                                gains[run] += here[every, other_run, run] * wins[other_run, run]


@kernel
def forgo(table: np.ndarray, rolls: np.ndarray, reach: np.ndarray, values: np.ndarray, forgone: np.ndarray) -> None:
    """Fill ``forgone`` (float64[goal, goal]) as `dicegym.games.hog.exact_kernels.forgo` does."""
    goal = len(table)
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    chosen = np.empty_like(values[0])
    for own in range(goal):
        for opponent in range(goal):
            find_places(own, opponent, goal, places)
            pair = own * goal + opponent
            _choose(own, opponent, table, rolls, places, values[1], chosen, room)
            lost = 0.0
            for parity in range(2):
                for every in range(2):
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            worse = (
                                values[0, parity, pair, every, other_run, run]
                                - chosen[parity, pair, every, other_run, run]
                            )
                            lost += reach[0, parity, pair, every, other_run, run] * worse
            forgone[own, opponent] = lost
