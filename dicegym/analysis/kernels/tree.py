"""The compiled search tree of `dicegym.analysis.mcts`, over any game's records."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.analysis.kernels.rollout_kernels import UNIFORM, policy_action
from dicegym.engine.dice import HOST_SEAT, draw, mix, turn_stream
from dicegym.engine.flags import how_many, place_of
from dicegym.engine.jit import loop_kernel
from dicegym.engine.loops import choose, legal, observe, returns, step

NODES, EDGES = 0, 1
"""Places in `SearchTree.sizes`."""
RESULTS, SUM, SQUARES = 0, 1, 2
"""Places in `SearchTree.spread`."""
_PLACE = np.uint64(32)


class SearchTree(NamedTuple):
    """The tree of one search: a node for states that look alike to the searching seat, an edge for each tried action.

    A simulation adds at most one node and one edge. Node 0 is the root.
    """

    slots: np.ndarray
    """int32[power of two]: a hash table of nodes with open addressing; -1: free."""
    hashes: np.ndarray
    """uint64[nodes]: the `hash_of` the searching seat's observation."""
    first: np.ndarray
    """int32[nodes]: the newest edge of a node; -1: none."""
    after: np.ndarray
    """int32[edges]: the next edge of the same node; -1: none."""
    actions: np.ndarray
    """int64[edges]."""
    visits: np.ndarray
    """int64[edges]: simulations that took the edge."""
    available: np.ndarray
    """int64[edges]: simulations in which its action was legal."""
    totals: np.ndarray
    """float64[edges]: sum of the returns of the seat that moves there."""
    sizes: np.ndarray
    """int64[2]: the numbers of nodes and edges."""
    spread: np.ndarray
    """float64[3]: number, sum and sum of squares of all returns so far."""
    logs: np.ndarray
    """float64[any]: logarithms of 0, 1, 2, ...; the last one is used for larger numbers."""


@loop_kernel
def hash_of(words, player):
    """Return a uint64 that depends on all of ``words``, uint64[any], and on the player to move.

    Observations are mostly zeros, which are skipped.
    """
    mixed = np.uint64(player)
    for place in range(len(words)):
        if words[place] != 0:
            mixed = mix(mixed ^ words[place] ^ (np.uint64(place) << _PLACE))
    return mixed


@loop_kernel
def node_of(tree, hashed):
    """Return the node with this hash. If no node has it, add one at the end."""
    last = np.uint64(len(tree.slots) - 1)
    slot = hashed & last
    while tree.slots[slot] >= 0:
        if tree.hashes[tree.slots[slot]] == hashed:
            return np.int64(tree.slots[slot])
        slot = (slot + np.uint64(1)) & last
    node = tree.sizes[NODES]
    tree.sizes[NODES] += 1
    tree.slots[slot] = node
    tree.hashes[node] = hashed
    tree.first[node] = -1
    return node


@loop_kernel
def edge_of(tree, node, mask, expected, share, explore, stream, number):
    """Return the edge that a simulation takes from a node, and count its legal edges as available.

    Without a policy (``expected`` < 0) it is UCB1: untried actions come first, a random one by draw ``number`` of
    ``stream``, and then the edge with the highest mean + explore * sqrt(ln(available) / visits).

    With a policy it is PUCT: the action that the policy expects comes first, and then the edge with the highest
    mean + explore * prior * sqrt(simulations) / (1 + visits). The expected action has ``share`` of the prior, and all
    legal actions share the rest. Untried actions have the mean of the node, and a random one represents them.

    ``mask``, the legal actions, is overwritten.
    """
    size = len(mask)
    legal_actions = how_many(mask) + np.int64(expected >= size)
    simulations, total, tried = 0, 0.0, expected < 0
    edge = np.int64(tree.first[node])
    while edge >= 0:
        action = tree.actions[edge]
        if action == expected or (action < size and mask[action]):
            tree.available[edge] += 1
            simulations += tree.visits[edge]
            total += tree.totals[edge]
            if action == expected:
                tried = True
        edge = np.int64(tree.after[edge])
    if not tried:
        return new_edge(tree, node, expected)
    best, highest = np.int64(-1), -np.inf
    even = (1 - share) / legal_actions
    reach = explore * np.sqrt(simulations)
    edge = np.int64(tree.first[node])
    while edge >= 0:
        action = tree.actions[edge]
        if action == expected or (action < size and mask[action]):
            visits = tree.visits[edge]
            if expected < 0:
                log = tree.logs[min(tree.available[edge], len(tree.logs) - 1)]
                bonus = explore * np.sqrt(log / visits)
            else:
                bonus = reach * (even + (share if action == expected else 0.0)) / (1 + visits)
            bound = tree.totals[edge] / visits + bonus
            if bound > highest:
                best, highest = edge, bound
            if action < size:
                mask[action] = False
        edge = np.int64(tree.after[edge])
    untried = how_many(mask)
    if untried == 0 or (expected >= 0 and highest >= total / simulations + reach * even):
        return best
    return new_edge(tree, node, place_of(mask, draw(stream, number, untried)))


@loop_kernel
def new_edge(tree, node, action):
    """Add an edge for an untried action at a node; return it."""
    edge = tree.sizes[EDGES]
    tree.sizes[EDGES] += 1
    tree.actions[edge] = action
    tree.visits[edge], tree.available[edge], tree.totals[edge] = 0, 1, 0.0
    tree.after[edge] = tree.first[node]
    tree.first[node] = edge
    return edge


@loop_kernel
def simulate(
    states, simulations, work, seat, observed, words, key, c, share, bots, alone, most, tree, mask, gained, path, movers
):
    """Run simulations from ``states``, which the searching seat cannot tell apart.

    Simulation k of each action begins in state k. So actions are compared on the same hidden dice, and on the same dice
    to come while they need the same number. An action with more simulations than states repeats them with fresh
    dice.

    A simulation descends the tree to a new edge or node, is played to its end, and adds to each edge of its path the
    return of the seat that moved there.

    Args:
        states: records[any].
        simulations: the number of simulations.
        work: records[1], scratch.
        seat: the searching seat.
        observed: float32[observation_size], scratch.
        words: uint64[any], the memory of ``observed``.
        key: uint64, names the random numbers.
        c: exploration, in standard deviations of the returns.
        share: the prior of the action that the policy expects; see `edge_of`.
        bots: int64[players], the policies: numbers of compiled twins, or `UNIFORM`.
        alone: whether the tree has decisions of the searching seat only; the other seats then play by their policies.
        most: decisions after which a game is not played on.
        tree: a `SearchTree` with room for all simulations.
        mask: bool[n_actions], scratch.
        gained: float32[players], scratch.
        path: int64[edges], scratch; its length bounds the edges of a simulation.
        movers: int64[edges], scratch.
    """
    for number in range(simulations):
        work[0] = states[number % len(states)]
        stream = turn_stream(key, HOST_SEAT, number)
        count = max(tree.spread[RESULTS], 1.0)
        mean = tree.spread[SUM] / count
        explore = c * np.sqrt(max(tree.spread[SQUARES] / count - mean * mean, 0.0))
        drawn, node, length = 0, np.int64(0), 0
        while length < len(path):
            mover = work[0].player
            legal(work[0], mask)
            expected = np.int64(-1)
            if bots[mover] != UNIFORM:
                expected = choose(work[0], bots[mover])
                if expected < 0 or (expected < len(mask) and not mask[expected]):
                    expected = np.int64(-1)
            edges = tree.sizes[EDGES]
            edge = edge_of(tree, node, mask, expected, share, explore, stream, drawn)
            drawn += 1
            if length == 0:
                visits = tree.visits[edge]
                work[0] = states[visits % len(states)]
                if visits >= len(states):
                    work[0].key = mix(work[0].key ^ np.uint64(visits))
            path[length], movers[length] = edge, mover
            length += 1
            step(work[0], tree.actions[edge])
            while alone and not work[0].over and work[0].player != seat and drawn < most:
                step(work[0], policy_action(work[0], bots[work[0].player], mask, stream, drawn))
                drawn += 1
            if work[0].over or edge == edges:
                break
            nodes = tree.sizes[NODES]
            observe(work[0], seat, observed)
            node = node_of(tree, hash_of(words, work[0].player))
            if node == nodes:
                break
        while not work[0].over and drawn < most:
            step(work[0], policy_action(work[0], bots[work[0].player], mask, stream, drawn))
            drawn += 1
        returns(work[0], gained)
        for gain in gained:
            tree.spread[RESULTS] += 1
            tree.spread[SUM] += gain
            tree.spread[SQUARES] += gain * gain
        for place in range(length):
            tree.visits[path[place]] += 1
            tree.totals[path[place]] += gained[movers[place]]
