"""One hand of Liar's Dice for two as tables: what solvers need to know, asked of the rules of the game.

Who bids first is the *opener*, place 0; the *other* is place 1. Bids fall into levels: any bid of a higher level may
follow. So what has been bid is a number with one digit for each level, 0 for none of its bids, the highest level last:
a *node* of the public tree. The nodes below a node follow it without a gap, one's bid more is the addition of
``step[bid]``, and the number of bids says who is to move.

Which bids there are and which may follow, which calls there are, and what they come to for each pair of rolls, is found
by playing the game's rules out (`tabulate`); nothing of it is written here. Bids above the dice on the table are no
part of the tree: whoever makes one is told so and loses the call. What that comes to is kept in ``overbid``, so that a
best reply may make them all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import chance
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.bidding.view import bid_of

NOT_ALLOWED = -1
"""Among `Hand.endings`: a call that may not be made."""


class Ending(NamedTuple):
    """What a hand may come to, told by place: the dice that are left, and who opens the next hand."""

    left: tuple[int, int]
    next_opener: int
    """The place that opens; with one who has no dice left, the winner's."""


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
    """By place of who calls: the actions that may answer a bid."""
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
    endings: tuple[Ending, ...]
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

    def numbers_of(self, actions: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of bids. Raises KeyError if one is not among `bids`."""
        return tuple(self._numbers[action] for action in actions)

    def roll_of(self, place: int, counts: Any) -> int:
        """Return the number of a roll of a place: ``counts`` is how many dice show each face.

        Raises ParameterError if it has not as many dice.
        """
        found = self._rolls[place].get(tuple(map(int, counts)))
        if found is None:
            raise ParameterError(
                f"{self.dice[place]} dice cannot show each face {list(map(int, counts))} times: give a record "
                "with everything in it, as the game makes it"
            )
        return found

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {int(action): number for number, action in enumerate(self.bids)}

    @cached_property
    def _rolls(self) -> tuple[dict[tuple[int, ...], int], ...]:
        return tuple({tuple(map(int, roll)): number for number, roll in enumerate(rolls)} for rolls in self.rolls)


def rolls_of(game: Game, dice: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every roll of some of the game's dice, and how likely each is: int8[rolls, 6] and float64[rolls].

    A roll is given by how many dice show each face.
    """
    found = [(probability, counts) for probability, _, counts in chance.rolls(dice, game.all_parameters["faces"])]
    return np.array([counts for _, counts in found], np.int8), np.array([probability for probability, _ in found])


def assemble(
    dice: tuple[int, int],
    rolls: tuple[np.ndarray, np.ndarray],
    chances: tuple[np.ndarray, np.ndarray],
    actions: Sequence[int],
    follow: np.ndarray,
    calls: tuple[tuple[int, ...], tuple[int, ...]],
    pairs: np.ndarray,
    endings: Sequence[Ending],
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
    """Return which rolls no call on a bid can tell apart, and what calls come to by these classes."""
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
    rolls, chances = zip(rolls_of(game, opener), rolls_of(game, other), strict=True)
    start = game.new_game()[0]
    start["left"][:2] = start["rolled"][:2] = (opener, other)
    start["player"] = 0
    legal = game.legal(start)
    possible = [int(bid) for bid in np.flatnonzero(legal[:N_BIDS]) if _quantity(bid) <= opener + other]
    impossible = [int(bid) for bid in np.flatnonzero(legal[:N_BIDS]) if _quantity(bid) > opener + other]
    after = [game.legal(_after_bid(start, bid, 1)) for bid in possible]
    follow = np.array([mask[possible] for mask in after])
    all_calls = tuple(range(N_BIDS, game.n_actions))
    calls = tuple(
        tuple(call for call in all_calls if game.legal(_after_bid(start, possible[0], place))[call]) for place in (0, 1)
    )
    endings: dict[Ending, int] = {}
    pairs = np.full((2, len(possible), max(map(len, calls)), len(rolls[0]), len(rolls[1])), NOT_ALLOWED, np.int64)
    for place in (0, 1):
        for number, bid in enumerate(possible):
            for slot, call in enumerate(calls[place]):
                pairs[place, number, slot] = _play_out(game, _after_bid(start, bid, place), call, rolls, endings)
    overbid = [NOT_ALLOWED, NOT_ALLOWED]
    for place in (0, 1) if impossible else ():
        found = _play_out(game, _after_bid(start, impossible[0], 1 - place), calls[1 - place][0], rolls, endings)
        if len(np.unique(found)) > 1:
            raise ParameterError(f"{game!r}: a bid above all dice may win, so it cannot be left out of a hand's tree")
        overbid[place] = int(found[0, 0])
    refused = NOT_ALLOWED
    if game.spec.forfeit is not None:
        refused = int(_play_out(game, start, game.spec.forfeit, rolls, endings)[0, 0])
    return assemble(
        (opener, other), (rolls[0], rolls[1]), (chances[0], chances[1]), possible, follow, (calls[0], calls[1]), pairs,
        list(endings), overbid, impossible, refused,
    )  # fmt: skip


def _quantity(bid: Any) -> int:
    return bid_of(int(bid) * SEATS).quantity


def _after_bid(start: Any, bid: int, caller: int) -> Any:
    """Return the record when the place ``caller`` is to answer this bid of the other place."""
    state = start.copy()
    state["bids"][0] = bid * SEATS + 1 - caller
    state["n_bids"] = 1
    state["player"] = caller
    return state


def _play_out(
    game: Game, state: Any, action: int, rolls: Sequence[np.ndarray], endings: dict[Ending, int]
) -> np.ndarray:
    """Play what ends a hand for each pair of rolls: int64[rolls, rolls], numbers of endings, new ones added."""
    shape = len(rolls[0]), len(rolls[1])
    states = game.new_states(shape[0] * shape[1])
    states[:] = state
    states["hands"] = 0
    states["hands"][:, 0] = np.repeat(rolls[0], shape[1], axis=0)
    states["hands"][:, 1] = np.tile(rolls[1], (shape[0], 1))
    rows = np.arange(len(states))
    loops.step_rows(states, rows, np.full(len(rows), action, np.int64), np.zeros(len(rows), np.int64))
    told = np.column_stack([states["left"][:, :2], states["player"]])
    distinct, inverse = np.unique(told, axis=0, return_inverse=True)
    numbers = [
        endings.setdefault(Ending((int(left), int(right)), int(player)), len(endings))
        for left, right, player in distinct
    ]
    return np.array(numbers, np.int64)[inverse.ravel()].reshape(shape)
