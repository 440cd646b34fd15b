"""A hand of Liar's Dice for two as a tree of bids: how it ends, and what a best response wins in it.

All of a hand but the dice is public. So a point of the tree has, for each roll of a player, its *reach*: the
probability of the roll times that of its own actions. The reaches of both players are independent, as actions do not
depend on the other's dice. Points form levels, one for each number of bids, and all points of a level are worked on
together.

Rare points are cut off: there the hand is taken to be called at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, product
from typing import NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.games.bidding.solving.hand import CALL, GOES_ON, HandEndings, Policy, Start, opening_record

RESPONDER, PLAYER = 0, 1
"""Seats of a `ResponseTree`."""
ASKED_AT_ONCE = 1 << 14
"""About how many records a player is asked about in one call."""
MOST_OUTCOMES = 16
"""More than the ends of a hand for two: a seat loses one or two dice or regains one, and either seat opens."""
ENDED, CUT = -1, -2
"""In place of the point after a move: the move ends the hand, or is cut off."""
NEVER = 2.0
"""A threshold that no probability reaches."""
Reach = Sequence[np.ndarray]
"""By seat float64[points, rolls]; unused for a seat that responds, as it makes every legal move."""


class _Level(NamedTuple):
    """Public points after the same number of bids, and the moves there, in the order of their points."""

    responds: bool
    """Whether the player to move makes every legal move."""
    size: int
    """The number of points."""
    points: np.ndarray
    """int64[moves]."""
    actions: np.ndarray
    """int64[moves]."""
    following: np.ndarray
    """int64[moves]: the point of the next level after each move, or `ENDED` or `CUT`."""
    kinds: np.ndarray
    """int64[moves]: numbers in `HandEndings.kinds`, for moves without a following point."""
    matching: Reach
    """By seat float64[moves, dice + 1]: the reach of these moves by the number of matching dice."""

    def ends(self) -> list[tuple[int, np.ndarray]]:
        """Return each kind of ending with its moves."""
        ended = self.following < 0
        return [(kind, np.flatnonzero(ended & (self.kinds == kind))) for kind in np.unique(self.kinds[ended]).tolist()]


class HandTree:
    """The likely part of a hand between two players.

    Args:
        hand: the hand and its ends.
        policies: the players' strategies, by seat; None: the seat makes every legal move.
        least: points with a smaller probability are cut off; 0 keeps all.
        most: about how many moves to keep, those of the likeliest points.
        begin: the records and the reaches of the first point; default: the beginning of the hand.

    Attributes:
        hand: the same.
        points: the number of points in the tree.
        moves: the number of moves there.
    """

    def __init__(
        self,
        hand: HandEndings,
        policies: Sequence[Policy | None],
        least: float,
        most: int,
        begin: tuple[np.ndarray, Reach] | None = None,
    ) -> None:
        self.hand, self.points, self.moves = hand, 0, 0
        self._policies, self._least, self._most = policies, least, most
        self._known = [seat for seat in (0, 1) if policies[seat] is not None]
        self._levels: list[_Level] = []
        self._at: list[tuple[np.ndarray, Reach]] = []  # records and reaches of each level, if both players are known
        if begin is None:
            begin = opening_record(hand.game, hand.start)[None].copy(), [held.chances[None] for held in hand.rolls]
        records, reach = begin
        while len(records):
            self.points += len(records)
            if len(self._known) == len(policies):
                self._at.append((records, reach))
            records, reach = self._add_level(records, reach)

    def _add_level(self, records: np.ndarray, reach: Reach) -> tuple[np.ndarray, Reach]:
        """Add a level of points; return the records and reaches of the points that follow."""
        mover = int(records["player"][0])
        points, actions, left = self._list_moves(records, reach[mover], mover)
        kinds = self._kinds_of(records, points, actions)
        bids = np.flatnonzero(kinds == GOES_ON)
        after = self._step(records, points[bids], actions[bids])
        kept = np.ones(len(bids), np.bool_)
        if mover in self._known:  # keep the likeliest points
            others = reach[1 - mover].sum(axis=1) if 1 - mover in self._known else np.ones(len(records))
            mass = left[bids].sum(axis=1) * others[points[bids]]
            likeliest = np.argsort(-mass, kind="stable")
            work = self._legal(after).sum(axis=1)[likeliest].cumsum()
            kept[likeliest] = work <= self._most - self.points
            kept &= mass >= self._least
        kinds[bids[~kept]] = self._kinds_of(after[~kept], np.arange((~kept).sum()), np.full((~kept).sum(), CALL))
        following = np.full(len(points), ENDED)
        following[bids] = np.where(kept, kept.cumsum() - 1, CUT)

        def reach_after(seat: int, moves: np.ndarray) -> np.ndarray:
            found: np.ndarray = reach[seat]
            if seat in self._known:
                found = left[moves] if seat == mover else found[points[moves]]
            return found

        matching = [np.zeros((len(points), self.hand.start[seat] + 1)) for seat in (0, 1)]
        level = _Level(mover not in self._known, len(records), points, actions, following, kinds, matching)
        for kind, moves in level.ends():
            for seat in self._known:
                counts = self.hand.kinds[kind].counts[seat]
                matching[seat][moves] = reach_after(seat, moves) @ np.eye(self.hand.start[seat] + 1)[counts]
        self._levels.append(level)
        self.moves += len(points)
        return after[kept], [reach_after(seat, bids[kept]) for seat in (0, 1)]

    def _list_moves(
        self, records: np.ndarray, reach: np.ndarray, mover: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all moves: their points and actions, int64[moves], and the mover's reach after them.

        ``reach`` is the mover's reach of the points.
        """
        policy = self._policies[mover]
        if policy is None:
            points, actions = np.nonzero(self._legal(records))
            return points, actions, reach
        at_once = max(1, ASKED_AT_ONCE // reach.shape[1])
        found = []
        for first in range(0, len(records), at_once):
            before = reach[first : first + at_once]
            rows, rolls = np.nonzero(before)
            asked = records[first + rows]
            asked["hands"][:, mover] = self.hand.rolls[mover].counts[rolls]
            actions, chances = policy(asked)
            left = np.zeros((len(before), len(actions), before.shape[1]))
            left[rows, :, rolls] = chances * before[rows, rolls][:, None]
            points, columns = np.nonzero(left.any(axis=2))
            found.append((points + first, actions[columns], left[points, columns]))
        points, actions, left = (np.concatenate([part[number] for part in found]) for number in range(3))
        return points, actions, left

    def _legal(self, records: np.ndarray) -> np.ndarray:
        game, n = self.hand.game, len(records)
        masks = np.zeros((n, game.n_actions), np.bool_)
        seen = np.zeros((n, game.observation_size), np.float32)
        gained = np.zeros((n, game.players), np.float32)
        loops.observe_rows(records, np.arange(n), records["player"].astype(np.int64), seen, masks, gained)
        return masks

    def _step(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        after: np.ndarray = records[points]
        loops.step_rows(after, np.arange(len(after)), actions.astype(np.int64), np.zeros(len(after), np.int64))
        return after

    def _kinds_of(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the kind of each action, or `GOES_ON`: int64[k].

        It depends on the last bid alone, as all points of a level have the same player to move.
        """
        made = records["n_bids"].astype(np.int64)[points]
        last = np.where(made > 0, records["bids"][points, np.maximum(made - 1, 0)], -1).astype(np.int64)
        _, firsts, which = np.unique((last + 1 << 32) + actions, return_index=True, return_inverse=True)
        kinds = [self.hand.kind(records[points[first]], int(actions[first])) for first in firsts.tolist()]
        found: np.ndarray = np.array(kinds, np.int64)[which.reshape(-1)]
        return found


class PublicPoint(NamedTuple):
    """A public point of a hand."""

    tree: ExpectationTree
    level: int
    number: int
    """The number of the point in its level."""


class Played(NamedTuple):
    """The effect of an action on the probabilities of the hand's ends, float64[MOST_OUTCOMES] by `HandEndings.ends`."""

    expected: np.ndarray
    """The probabilities before the action."""
    outcomes: np.ndarray
    """The probabilities after it."""
    point: PublicPoint | None
    """The point after it; None if the hand has ended."""


class ExpectationTree(HandTree):
    """The probabilities of a hand's ends between two players of known strategies. Arguments as for `HandTree`.

    Values of cut-off points are guesses; the tree grows by a point when such a point is reached. A luck meter that uses
    them still has the right mean, and varies more.

    Attributes:
        root: the first point.
        expected: float64[MOST_OUTCOMES], the probabilities there, by `HandEndings.ends`.
    """

    def __init__(
        self,
        hand: HandEndings,
        policies: Sequence[Policy],
        least: float,
        most: int,
        begin: tuple[np.ndarray, Reach] | None = None,
    ) -> None:
        super().__init__(hand, policies, least, most, begin)
        self._beyond: dict[tuple[int, int], PublicPoint] = {}
        self._found: list[tuple[dict[tuple[int, int], int], np.ndarray, np.ndarray]] = []
        expected = np.zeros((0, MOST_OUTCOMES))
        for level in reversed(self._levels):
            outcomes = self._end(level)
            follows = level.following >= 0
            outcomes[follows] = expected[level.following[follows]]
            expected = np.zeros((level.size, MOST_OUTCOMES))
            np.add.at(expected, level.points, outcomes)
            numbers = dict(zip(zip(level.points.tolist(), level.actions.tolist(), strict=True), count()))
            means, chances = (one / one.sum(axis=1, keepdims=True) for one in (expected, outcomes))
            self._found.insert(0, (numbers, means, chances))
        self.root, self.expected = PublicPoint(self, 0, 0), self._found[0][1][0]

    def _end(self, level: _Level) -> np.ndarray:
        """Return the probability of each move together with each end of the hand: float64[moves, MOST_OUTCOMES]."""
        found = np.zeros((len(level.points), MOST_OUTCOMES))
        for kind, moves in level.ends():
            first, second = (matching[moves] for matching in level.matching)
            for one in range(first.shape[1]):
                for other in range(second.shape[1]):
                    found[moves, self.hand.kinds[kind].ends[one + other]] += first[:, one] * second[:, other]
        return found

    def follow(self, point: PublicPoint, action: int) -> Played | None:
        """Return the effect of an action at a point of the tree, or None if the player never chooses it there."""
        numbers, expected, outcomes = self._found[point.level]
        move = numbers.get((point.number, action))
        if move is None:
            return None
        to = int(self._levels[point.level].following[move])
        now = PublicPoint(self, point.level + 1, to) if to >= 0 else None
        if to == CUT:
            now = self._grow(point.level, move)
        return Played(expected[point.number], outcomes[move], now)

    def _grow(self, number: int, move: int) -> PublicPoint:
        """Return the point after a move that was cut off."""
        if (number, move) not in self._beyond:
            level, (records, reach) = self._levels[number], self._at[number]
            mover, at = int(records["player"][0]), level.points[move : move + 1]
            points, actions, left = self._list_moves(records[at], reach[mover][at], mover)
            chosen = np.flatnonzero(actions == level.actions[move])
            after = [left[chosen] if seat == mover else reach[seat][at] for seat in (0, 1)]
            begin = self._step(records[at], points[chosen], actions[chosen]), after
            policies = [policy for policy in self._policies if policy is not None]
            self._beyond[number, move] = ExpectationTree(self.hand, policies, NEVER, self._most, begin).root
        return self._beyond[number, move]


class ResponseBounds(NamedTuple):
    """Bounds of a value."""

    low: float
    high: float


Worths = Mapping[Start, ResponseBounds]
"""The responder's win probability from the beginning of each hand."""


def _worth_of(end: Start, worths: Worths) -> ResponseBounds:
    """Return the responder's win probability at the beginning of a hand, or at the end of the game."""
    if end.first == 0 or end.second == 0:
        return ResponseBounds(float(end.first > 0), float(end.first > 0))
    return worths[end]


class ResponseTree(HandTree):
    """Bounds on what a best response in seat 0 wins against a known player in seat 1. Arguments as for `HandTree`.

    Each of the responder's rolls has a value at each public point: the expectation where the player moves, and the
    maximum where the responder does (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response calculation in
    large extensive games", IJCAI 2011). Values are multiplied by the player's reach. At a cut-off point the lower bound
    is that of a challenge, and the upper one that of the best possible end of the hand.
    """

    def __init__(self, hand: HandEndings, policy: Policy, least: float, most: int) -> None:
        super().__init__(hand, (None, policy), least, most)

    def bounds(self, worths: Worths) -> ResponseBounds:
        """Return bounds on the responder's win probability, from those of the next hands."""
        return ResponseBounds(self._value(worths, 0), self._value(worths, 1))

    def _value(self, worths: Worths, side: int) -> float:
        """Return the lower (0) or the upper (1) bound."""
        hand, chances = self.hand, self.hand.rolls[RESPONDER].chances
        worth = np.array([_worth_of(end, worths)[side] for end in hand.ends])
        best = max(_worth_of(end, worths)[side] for end in _could_follow(hand.start, int(hand.game.parameters["dice"])))
        matching = np.arange(hand.start[PLAYER] + 1)[:, None]
        below = np.zeros((0, len(chances)))
        for level in reversed(self._levels):
            reach, follows = level.matching[PLAYER], level.following >= 0
            values = np.empty((len(level.points), len(chances)))
            values[follows] = below[level.following[follows]]
            for kind, moves in level.ends():
                counts, ends = hand.kinds[kind]
                values[moves] = reach[moves] @ worth[ends[matching + counts[RESPONDER]]]
            if side:
                cut = level.following == CUT
                values[cut] = best * reach[cut].sum(axis=1, keepdims=True)
            firsts = np.searchsorted(level.points, np.arange(level.size))
            below = (np.maximum if level.responds else np.add).reduceat(values, firsts)
        return float(below[0] @ chances)


def _could_follow(start: Start, dice: int) -> list[Start]:
    """Return all beginnings that could follow a hand: a seat loses or regains up to two dice, and either opens."""
    firsts, seconds = (range(max(0, own - 2), min(dice, own + 2) + 1) for own in start[:2])
    found = [Start(*end) for end in product(firsts, seconds, (0, 1))]
    return [end for end in found if end[:2] not in (start[:2], (0, 0))]
