"""Hog as both play it who know both scores alone, and choose by chance: kernels of the search for an equilibrium.

A strategy is ``mix``: float64[goal * goal, N_ACTIONS], the probability of each action by pair of scores. A player meets
a pair at most once in a game, so it is the same whether chance decides there or before the game: such a strategy is
what a random bot of the contest is, which is asked once for every pair.

Other arrays are those of `dicegym.games.hog.exact_kernels`; where both players are alike, one part stands for both.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.hog.exact_kernels import RUNS, find_places, hand_on, look_ahead, new_places
from dicegym.games.hog.rules import FIRST_NUMBER, N_ACTIONS


@kernel
def _mass(part):
    """Return the sum of an array [2, RUNS, RUNS]."""
    mass = 0.0
    for parity in range(2):
        for other_run in range(RUNS):
            for run in range(RUNS):
                mass += part[parity, other_run, run]
    return mass


@kernel
def _add_mixed(own, opponent, parity, chances, rolls, places, later, room, out):
    """Write how likely the player to move wins who chooses by ``chances``: to ``out[opponent's run, own run]``."""
    out[:] = 0
    for action in range(N_ACTIONS):
        chance = chances[action]
        if chance > 0:
            look_ahead(own, opponent, parity, action + FIRST_NUMBER, rolls, places, later, room)
            for other_run in range(RUNS):
                for run in range(RUNS):
                    out[other_run, run] += chance * room[other_run, run]


@kernel
def spread_mixes(mixes, rolls, goal, reach):
    """Fill ``reach`` (float64[players, goal * goal, 2, RUNS, RUNS]) for the strategies of one or two players.

    ``mixes`` is float64[players, goal * goal, N_ACTIONS]; one stands for both. A fair coin says who moves first.
    """
    places, mass = new_places(rolls), np.empty((RUNS, RUNS))
    players = len(mixes)
    reach[:] = 0
    for player in range(players):
        reach[player, 0, 0, 0, 0] = 0.5
    for total in range(2 * goal - 1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for player in range(players):
                here = reach[player, pair]
                if _mass(here) == 0:
                    continue
                later = reach[players - 1 - player]
                for action in range(N_ACTIONS):
                    chance = mixes[player, pair, action]
                    if chance == 0:
                        continue
                    for parity in range(2):
                        for other_run in range(RUNS):
                            for run in range(RUNS):
                                mass[other_run, run] = chance * here[parity, other_run, run]
                        hand_on(own, opponent, parity, action + FIRST_NUMBER, rolls, places, mass, later)


@kernel
def gain(mix, rolls, goal, reach, gains, values):
    """Fill ``gains`` with what each choice gains over ``mix``, which both players play, by one backward sweep.

    Weighted by how likely the pair is met, and by how likely the hidden states are there.

    Args:
        mix: float64[goal * goal, N_ACTIONS].
        rolls: as of `dicegym.games.hog.exact_kernels`.
        goal: of the game.
        reach: float64[1, goal * goal, 2, RUNS, RUNS], of `spread_mixes`.
        gains: float64[goal * goal, N_ACTIONS].
        values: float64[1, goal * goal, 2, RUNS, RUNS], filled: how likely the player to move wins.
    """
    places, wins = new_places(rolls), np.empty((RUNS, RUNS))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            here, worth = reach[0, pair], values[0, pair]
            worth[:] = 0
            mean = 0.0
            for action in range(N_ACTIONS):
                gained = 0.0
                for parity in range(2):
                    look_ahead(own, opponent, parity, action + FIRST_NUMBER, rolls, places, values[0], wins)
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            gained += here[parity, other_run, run] * wins[other_run, run]
                            worth[parity, other_run, run] += mix[pair, action] * wins[other_run, run]
                gains[pair, action] = gained
                mean += mix[pair, action] * gained
            for action in range(N_ACTIONS):
                gains[pair, action] -= mean


@kernel
def respond_to_mix(mix, rolls, goal, values):
    """Fill ``values`` (two parts) for a player 0 that sees everything and plays best against ``mix`` (player 1)."""
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            for parity in range(2):
                best = values[0, pair, parity]
                best[:] = 0
                for action in range(N_ACTIONS):
                    look_ahead(own, opponent, parity, action + FIRST_NUMBER, rolls, places, values[1], room)
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            best[other_run, run] = max(best[other_run, run], room[other_run, run])
                out = values[1, pair, parity]
                _add_mixed(own, opponent, parity, mix[pair], rolls, places, values[0], room, out)


@kernel
def improve_against_mix(table, mix, rolls, reach, margin, values):
    """Improve ``table`` (int8[goal, goal]) against ``mix`` as `dicegym.games.hog.exact_kernels.improve` does.

    ``reach`` and ``values`` have two parts, the table's player first; returns how many choices changed.
    """
    goal = len(table)
    places, room = new_places(rolls), np.empty((RUNS, RUNS))
    out = np.empty((N_ACTIONS, 2, RUNS, RUNS))
    changes = 0
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            pair = own * goal + opponent
            find_places(own, opponent, goal, places)
            here = reach[0, pair]
            mass = _mass(here)
            kept = table[own, opponent] - FIRST_NUMBER
            best, most, value_kept = kept, -1.0, 0.0
            for action in range(N_ACTIONS):
                value = 0.0
                for parity in range(2):
                    wins = out[action, parity]
                    look_ahead(own, opponent, parity, action + FIRST_NUMBER, rolls, places, values[1], wins)
                    for other_run in range(RUNS):
                        for run in range(RUNS):
                            value += here[parity, other_run, run] * wins[other_run, run]
                if mass == 0:
                    value = out[action, 0, 0, 0]
                if action == kept:
                    value_kept = value
                if value > most:
                    best, most = action, value
            if most > value_kept + margin * (mass if mass > 0 else 1.0):
                table[own, opponent] = best + FIRST_NUMBER
                changes += 1
            else:
                best = kept
            for parity in range(2):
                for other_run in range(RUNS):
                    for run in range(RUNS):
                        values[0, pair, parity, other_run, run] = out[best, parity, other_run, run]
                wins = values[1, pair, parity]
                _add_mixed(own, opponent, parity, mix[pair], rolls, places, values[0], room, wins)
    return changes
