"""One hand of Liar's Dice for two as tables: what solvers need to know, asked of the rules of the game.

The player that bids first is the *opener*, place 0; the *other* is place 1. Bids fall into levels: any bid of a higher
level may follow. So what has been bid is a number with one digit for each level, 0 for none of its bids, the highest
level last: a *node* of the public tree. The nodes below a node follow it without a gap, one's bid more is the addition
of ``step[bid]``, and the number of bids says which player is to move.

Which bids there are and which may follow, which calls there are, and what they lead to for each pair of rolls, is found
by playing the game's rules out (`tabulate`); nothing of it is written here. Bids above the dice on the table are no
part of the tree: a player that makes one is called, and loses. That ending is kept in ``overbid``, so that a
best response may make them all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.hand_rules import HandEndings, Start, after_bid, opening_record
from dicegym.games.bidding.table import FACES, N_BIDS

NOT_ALLOWED = -1
"""Among `Hand.endings`: a call that may not be made."""


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand, from the opener's first bid on."""

    dice: tuple[int, int]
    """Of the opener and of the other."""
    rolls: tuple[np.ndarray, np.ndarray]
    """By place: int8[rolls, 6], how many dice show each face."""
    chances: tuple[np.ndarray, np.ndarray]
    """By place: float64[rolls], how likely each is."""
    bids: np.ndarray
    """int64[bids]: their actions, by rising level."""
    calls: tuple[tuple[int, ...], tuple[int, ...]]
    """By place of the caller: the actions that may answer a bid."""
    first: np.ndarray
    """int64[bids + 1]: number of the lowest bid that may follow the bid i - 1; first[0] = 0: none was made yet."""
    step: np.ndarray
    """int64[bids]: what each bid adds to a node."""
    nodes: int
    classes: np.ndarray
    """int64[2, bids, rolls]: by place and last bid, rolls that no call on it can tell apart have one number."""
    outcome: np.ndarray
    """int64[2, bids, calls, classes, classes]: by place of the caller, bid, number of the call, and both classes, the
    number of the ending; `NOT_ALLOWED` where the caller has no such call."""
    endings: tuple[Start, ...]
    """The endings that the hand may have, by place for seat."""
    overbid: np.ndarray
    """int64[2]: the ending when this place bids what cannot be and the other calls; `NOT_ALLOWED` if it may not."""
    impossible: np.ndarray
    """int64[...]: actions that bid more than there are dice."""
    refused: int
    """The ending when the opener plays nothing that is allowed; `NOT_ALLOWED` if that is worth nothing."""

    @property
    def width(self) -> int:
        """Rolls that a row of a table has room for: the larger number of both places."""
        return max(len(chances) for chances in self.chances)

    @property
    def n_calls(self) -> np.ndarray:
        """int64[2]: how many calls each place may choose among."""
        return np.array([len(calls) for calls in self.calls])

    @property
    def squeeze(self) -> int:
        """Nodes that share one row for calls: where there is one call, those that no bid can follow need none."""
        return 1 + int((self.first[1:] == len(self.bids)).sum()) if self.outcome.shape[2] == 1 else 1

    @property
    def call_rows(self) -> int:
        """Rows of calls that a table needs."""
        return -(-self.nodes // self.squeeze)

    def wins(self, values: np.ndarray, place: int) -> np.ndarray:
        """Return what each outcome is worth to a place: float64[2, bids, calls, classes, classes].

        Args:
            values: float64[endings], win probabilities of the opener.
            place: whose win probabilities are asked for.
        """
        own = values if place == 0 else 1 - values
        return np.where(self.outcome == NOT_ALLOWED, 0.0, own[self.outcome])

    def numbers_of(self, actions: Iterable[int]) -> tuple[int, ...] | None:
        """Return the numbers of bids, or None if one is not among `bids`."""
        found = [self._numbers.get(action) for action in actions]
        return None if None in found else tuple(number for number in found if number is not None)

    @property
    def tree(self) -> tuple[np.ndarray, np.ndarray, int, np.ndarray, np.ndarray]:
        """What sweeps go through the nodes by: first, step, squeeze, n_calls, and int64[2], rolls of each place."""
        return self.first, self.step, self.squeeze, self.n_calls, np.array([len(one) for one in self.chances])

    def last_of(self, node: int) -> tuple[int, int]:
        """Return the last bid that led to a node, -1 if there was none, and how many there were."""
        last, depth, bid = -1, 0, 0
        while node and bid < len(self.bids):
            below = int(self.step[bid])
            digit = node // below
            if digit:
                last, depth = bid + digit - 1, depth + 1
                node -= digit * below
            bid = int(self.first[bid + 1])
        return last, depth

    def node_of(self, path: Iterable[int]) -> int:
        """Return the node that bids, by their numbers, lead to."""
        return sum(int(self.step[number]) for number in path)

    def actions_of(self, path: Sequence[int]) -> np.ndarray:
        """Return the actions of all choices after bids, in the order of choices: int64[choices]."""
        return np.concatenate([self.bids, self.calls[len(path) % 2] if path else ()]).astype(np.int64)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {int(action): number for number, action in enumerate(self.bids)}


def assemble(
    dice: tuple[int, int],
    rolls: tuple[np.ndarray, np.ndarray],
    chances: tuple[np.ndarray, np.ndarray],
    actions: Sequence[int],
    follow: np.ndarray,
    calls: tuple[tuple[int, ...], tuple[int, ...]],
    pairs: np.ndarray,
    endings: Sequence[Start],
    overbid: Sequence[int] = (NOT_ALLOWED, NOT_ALLOWED),
    impossible: Sequence[int] = (),
    refused: int = NOT_ALLOWED,
) -> Hand:
    """Make a hand of what the rules say.

    Args:
        dice: as in `Hand`, as are ``rolls``, ``chances``, ``calls``, ``endings``, ``overbid`` and ``refused``.
        rolls: see there.
        chances: see there.
        actions: of the bids, in any order.
        follow: bool[bids, bids]: whether a bid (column) may follow another (row).
        calls: see there.
        pairs: int64[2, bids, calls, rolls, rolls]: by place of the caller, bid, call, and the rolls of the opener and
            of the other, the number of the ending.
        endings: see there.
        overbid: see there.
        impossible: see there.
        refused: see there.

    Raises ParameterError if bids have no levels: then nodes have no numbers.
    """
    above = follow.sum(axis=1)
    order = np.argsort(-above, kind="stable")
    level = -above[order]
    if not np.array_equal(follow[np.ix_(order, order)], level[:, None] < level[None, :]):
        raise ParameterError("these bids have no levels: whether one may follow must depend on how many may follow it")
    step, below = np.zeros(len(order), np.int64), 1
    for value in np.unique(level)[::-1]:
        numbers = np.flatnonzero(level == value)
        step[numbers] = below * np.arange(1, len(numbers) + 1)
        below *= len(numbers) + 1
    first = np.array([0, *(int((level <= value).sum()) for value in level)])
    pairs = pairs[:, order]
    width = max(map(len, rolls))
    classes, small = _classify(pairs, width)
    return Hand(
        dice, rolls, chances, np.asarray(actions, np.int64)[order], calls, first, step, below, classes, small,
        tuple(endings), np.asarray(overbid, np.int64), np.array(impossible, np.int64), refused,
    )  # fmt: skip


def _classify(pairs: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rolls no call on a bid can tell apart, and how calls end by these classes."""
    places, n_bids, n_calls, *sizes = pairs.shape
    classes = np.zeros((places, n_bids, width), np.int64)
    most = 0
    kept: list[np.ndarray] = []
    for bid in range(n_bids):
        examples = []
        for place in (0, 1):
            told = np.moveaxis(pairs[:, bid], 2 + place, 0).reshape(sizes[place], -1)
            _, index, inverse = np.unique(told, axis=0, return_index=True, return_inverse=True)
            classes[place, bid, : len(told)] = inverse.ravel()
            examples.append(index)
        kept.append(np.take(np.take(pairs[:, bid], examples[0], axis=2), examples[1], axis=3))
        most = max(most, *(len(index) for index in examples))
    small = np.zeros((places, n_bids, n_calls, most, most), np.int64)
    for bid, table in enumerate(kept):
        small[:, bid, :, : table.shape[2], : table.shape[3]] = table
    return classes, small


@lru_cache(maxsize=32)
def tabulate(game: Game, opener: int, other: int) -> Hand:
    """Return the hand that a player with ``opener`` dice opens against one with ``other``, by the rules of ``game``."""
    start = Start(opener, other, 0)
    endings, state = HandEndings(game, start), opening_record(game, start)
    bids = np.flatnonzero(game.legal(state)[:N_BIDS])
    is_possible = bids // FACES + 1 <= opener + other
    possible, impossible = bids[is_possible].tolist(), bids[~is_possible].tolist()
    follow = np.array([game.legal(after_bid(state, bid, 0))[possible] for bid in possible])
    calls = [endings.calls(possible, place) for place in (0, 1)]
    rolls, chances = zip(*endings.rolls, strict=True)
    most, sizes = max(len(each.actions) for each in calls), [len(counts) for counts in rolls]
    pairs = np.full((2, len(possible), most, *sizes), NOT_ALLOWED, np.int64)
    for place, (actions, (mine, theirs), ends) in enumerate(calls):
        matching = mine[:, : sizes[0], None] + theirs[:, None, : sizes[1]]
        pairs[place, :, : len(actions)] = ends[:, np.arange(len(possible))[:, None, None], matching].swapaxes(0, 1)
    overbid = [NOT_ALLOWED, NOT_ALLOWED]
    for place in (0, 1) if impossible else ():
        called = endings.calls(impossible[:1], 1 - place)
        mine, theirs = called.counting[:, 0]
        found = np.unique(called.ends[0, 0, mine[: sizes[0], None] + theirs[: sizes[1]]])
        if len(found) > 1:
            raise ParameterError(f"{game!r}: a bid above all dice may win, so it cannot be left out of a hand's tree")
        overbid[place] = int(found[0])
    forfeit = game.spec.forfeit
    refused = NOT_ALLOWED if forfeit is None else int(endings.kinds[endings.kind(state, forfeit)].ends[0])
    return assemble(
        (opener, other), (rolls[0], rolls[1]), (chances[0], chances[1]), possible, follow,
        (calls[0].actions, calls[1].actions), pairs, endings.ends, overbid, impossible, refused,
    )  # fmt: skip
