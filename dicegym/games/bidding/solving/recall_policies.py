"""How a table plays many records at once, compiled: a teacher asks for millions.

It is `dicegym.games.bidding.solving.recall_values.RecallValues.policy`, one by one; a test compares them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.jit import loop_kernel
from dicegym.games.bidding.solving.hand_rules import rolls
from dicegym.games.bidding.solving.recall_table import PlayedSide
from dicegym.games.bidding.table import FACES, MOST_DICE, N_BIDS, SEATS

RADIX = (MOST_DICE + 1) ** np.arange(FACES)
"""What a die of each face adds to the code of a roll."""


class _Hand(NamedTuple):
    """One side of a hand, as the kernel reads it."""

    cells: np.ndarray
    places: int
    """How many bids the table has."""
    place_of: np.ndarray
    """int64[N_BIDS]: the place of each bid; -1 if the table leaves it out."""
    state_of: np.ndarray
    """int32[(places + 1) ** recall]: the state after the last bids, the oldest first; the last place where is none."""
    recall: int
    roll_of: np.ndarray
    """int64[codes]: the number of each roll; see `RADIX`."""
    row_at: np.ndarray
    """int64[states]: where the cells of a state's first roll begin."""
    roll_step: np.ndarray
    """int64[states]: from there to the next roll's."""
    group_of: np.ndarray
    """int64[states]."""
    action_at: np.ndarray
    """int64[groups + 1]: where the actions of a group's choices begin in ``actions``."""
    actions: np.ndarray
    call: int
    """What is played after a bid that the table leaves out: the first call there is."""


class RowPolicies:
    """Says how a table plays.

    Args:
        game: for two.
        hand: returns a side of the table, by own dice and the other's.
    """

    def __init__(self, game: Game, hand: Callable[[int, int], PlayedSide]) -> None:
        self._game = game
        self._side = hand
        self._hand = lru_cache(maxsize=None)(self._find)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the probability of each action in each record: float64[states, n_actions]; all 0 after the end."""
        out = np.zeros((len(states), self._game.n_actions))
        seats = states["player"].astype(np.int64)
        at = np.arange(len(states))
        own, others = (states["left"][at, seat].astype(np.int64) for seat in (seats, 1 - seats))
        size = np.where(states["over"], -1, own * (MOST_DICE + 1) + others)
        for one in np.unique(size[size >= 0]).tolist():
            rows = np.flatnonzero(size == one)
            _write(states, rows, *self._hand(*divmod(one, MOST_DICE + 1)), RADIX, out)
        return out

    def _find(self, own: int, others: int) -> _Hand:
        played = self._side(own, others)
        side = played.side
        tree, bids = side.tree, side.hand.bids
        place_of = np.full(N_BIDS, -1)
        place_of[bids] = np.arange(len(bids))
        state_of = np.full((len(bids) + 1,) * tree.recall, -1, np.int32)
        group_of = np.repeat(np.arange(side.groups), tree.members)
        for state, (group, member) in tree.states.items():
            state_of[(len(bids),) * (tree.recall - len(state)) + state] = side.state_at[group] + member
        member_of = np.arange(len(group_of)) - side.state_at[group_of]
        roll_of = np.full((MOST_DICE + 1) ** FACES, -1)
        roll_of[rolls(own).counts @ RADIX] = np.arange(len(side.chances))
        each = zip(tree.first[:-1], tree.first[1:], strict=True)
        choices = [[*bids[tree.bid[begin:end]], *side.hand.calls] for begin, end in each]
        return _Hand(
            played.cells,
            len(bids),
            place_of,
            state_of.ravel(),
            tree.recall,
            roll_of,
            side.cell_at[group_of] + member_of * side.choices[group_of],
            (tree.members * side.choices)[group_of],
            group_of,
            side.choice_at,
            np.concatenate(choices).astype(np.int64),
            int(side.hand.calls[side.hand.may_call][0]),
        )


@loop_kernel
def _write(
    states, rows, cells, places, place_of, state_of, recall, roll_of, row_at, roll_step, group_of, action_at, actions,
    call, radix, out,
):  # fmt: skip
    """Write the probabilities of actions, float64[states, n_actions], into the rows ``rows`` of ``out``."""
    for row in rows:
        state = states[row]
        known = True
        for number in range(state.n_bids):
            known = known and place_of[np.int64(state.bids[number]) // SEATS] >= 0
        if not known:
            out[row, call] = 1.0
            continue
        index = np.int64(0)
        for back in range(recall, 0, -1):
            made = np.int64(state.n_bids) - back
            place = place_of[np.int64(state.bids[made]) // SEATS] if made >= 0 else np.int64(places)
            index = index * (places + 1) + place
        code = np.int64(0)
        for face in range(FACES):
            code += state.hands[state.player, face] * radix[face]
        found = np.int64(state_of[index])
        group = group_of[found]
        at = row_at[found] + roll_of[code] * roll_step[found]
        total = 0.0
        for choice in range(action_at[group + 1] - action_at[group]):
            total += cells[at + choice]
        for choice in range(action_at[group + 1] - action_at[group]):
            out[row, actions[action_at[group] + choice]] = cells[at + choice] / total
