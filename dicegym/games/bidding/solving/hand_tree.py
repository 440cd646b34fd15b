"""A hand of Liar's Dice for two as a tree of what is said: where it leads to, and what a best response wins in it.

A hand is public but for the dice. So a point of the tree has, for each roll of a player, its *reach*: how likely it
rolled so and did its part of what was said. The reaches of both are independent, as nobody's actions depend on the
other's dice. Points form levels, one for each number of bids, and all points of a level are worked on together.

What the players let come about too rarely is cut off: there the hand is taken to be called at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.games.bidding.solving.hand import CALL, GOES_ON, HandEndings, Policy, Start, opening_record

RESPONDER, PLAYER = 0, 1
"""Seats of a `ResponseTree`."""
ASKED_AT_ONCE = 1 << 14
"""Records about which a player is asked in one call, about."""
MOST_OUTCOMES = 16
"""More than a hand for two can end in: either loses one or two dice or regains one, and either opens."""
ENDED, CUT = -1, -2
"""What follows a move that ends the hand, and one that is cut off."""
NEVER = 2.0
"""A threshold that no probability reaches."""
Reach = Sequence[np.ndarray]
"""By seat float64[points, rolls]; not read of a seat that responds, as that does all that it may."""


class _Level(NamedTuple):
    """Public points after the same number of bids, and the moves there, in the order of their points."""

    responds: bool
    """Whether the player to move does all that it may."""
    size: int
    """How many points there are."""
    points: np.ndarray
    """int64[moves]."""
    actions: np.ndarray
    """int64[moves]."""
    following: np.ndarray
    """int64[moves]: which point of the next level each leads to, or `ENDED` or `CUT`."""
    kinds: np.ndarray
    """int64[moves]: as of `HandEndings.kinds`, of those that lead to no point."""
    matching: Reach
    """By seat float64[moves, dice + 1]: the same moves' reach by the number of matching dice."""

    def ends(self) -> list[tuple[int, np.ndarray]]:
        """Return the kinds of ending, each with the moves that lead to no point and are of that kind."""
        ended = self.following < 0
        return [(kind, np.flatnonzero(ended & (self.kinds == kind))) for kind in np.unique(self.kinds[ended]).tolist()]


class HandTree:
    """The part of a hand that its players let come about.

    Args:
        hand: what the hand begins with, and what ends it.
        policies: how the players play, by seat; None: it does all that it may.
        least: points that come about less often are not looked at; 0: all are.
        most: about how many moves are looked at, those of the likeliest points, where there are more.
        begin: the records and the reaches of the first point; None: the hand has just begun.

    Attributes:
        hand: the same.
        points: how many were looked at.
        moves: how many there are at these.
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
        """Add the level of some points; return the records and reaches of those that follow."""
        mover = int(records["player"][0])
        points, actions, left = self._list_moves(records, reach[mover], mover)
        kinds = self._kinds_of(records, points, actions)
        bids = np.flatnonzero(kinds == GOES_ON)
        after = self._step(records, points[bids], actions[bids])
        kept = np.ones(len(bids), np.bool_)
        if mover in self._known:
            others = reach[1 - mover].sum(axis=1) if 1 - mover in self._known else np.ones(len(records))
            kept = self._choose(after, left[bids].sum(axis=1) * others[points[bids]])
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

    def _choose(self, after: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return which points to look at, bool[points]: the likeliest, which come about with the chance ``mass``."""
        likeliest = np.argsort(-mass, kind="stable")
        work = self._legal(after).sum(axis=1)[likeliest].cumsum()
        kept = np.zeros(len(after), np.bool_)
        kept[likeliest[work <= self._most - self.points]] = True
        kept &= mass >= self._least
        return kept

    def _list_moves(
        self, records: np.ndarray, reach: np.ndarray, mover: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what may be played: points and actions (int64[moves]), and the mover's reach after it.

        ``reach`` is the mover's before it.
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
        """Return what actions end the hand in: int64[k], `GOES_ON` where they do not.

        The last bid decides. All points of a level have the same player to move.
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
    """Of the point in its level."""


class Played(NamedTuple):
    """What an action meant: how likely each ending of the hand is (float64[MOST_OUTCOMES], by `HandEndings.ends`)."""

    expected: np.ndarray
    """Before the action, by all that may be played."""
    outcomes: np.ndarray
    """After it."""
    point: PublicPoint | None
    """Where the hand stands now; None if it has ended."""


class ExpectationTree(HandTree):
    """What becomes of a hand between two whose ways to play are known.

    Where it is cut off its values are guesses, and it grows a point at a time if it is asked about more. What is
    computed from them has still the mean that it should have, and varies more.

    Args:
        hand: as of `HandTree`, as are the others.
        policies: how the two play, by seat.
        least: see there.
        most: see there.
        begin: see there.

    Attributes:
        root: where the tree begins.
        expected: float64[MOST_OUTCOMES], how likely the hand ends in what from there, by `HandEndings.ends`.
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
        """Return how likely each move comes about and ends the hand in each outcome: float64[moves, MOST_OUTCOMES]."""
        found = np.zeros((len(level.points), MOST_OUTCOMES))
        for kind, moves in level.ends():
            first, second = (matching[moves] for matching in level.matching)
            for one in range(first.shape[1]):
                for other in range(second.shape[1]):
                    found[moves, self.hand.kinds[kind].ends[one + other]] += first[:, one] * second[:, other]
        return found

    def follow(self, point: PublicPoint, action: int) -> Played | None:
        """Return what an action leads to from a point of the tree, or None if no player chooses it there."""
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
        """Return the point that a move of a level leads to where it is cut off."""
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
    """A value lies between these."""

    low: float
    high: float


Worths = Mapping[Start, ResponseBounds]
"""What hands are worth to the responder, in seat 0: how likely it wins the game."""


def _worth_of(end: Start, worths: Worths) -> ResponseBounds:
    """Return what the beginning of a hand, or the end of the game, is worth to the responder."""
    if end.first == 0 or end.second == 0:
        return ResponseBounds(float(end.first > 0), float(end.first > 0))
    return worths[end]


class ResponseTree(HandTree):
    """What a best response in seat 0 wins against a known player in seat 1, between two bounds.

    Each of the responder's rolls has a value at each public point: the expectation where the player moves, and the
    maximum where the responder does (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response calculation in
    large extensive games", IJCAI 2011). Values are those times the probability that the player does its part. Where the
    tree is cut off the responder may at least challenge, and may at most end the hand as well as hands can end.

    Args:
        hand: as of `HandTree`, as are ``least`` and ``most``.
        policy: how the player plays.
        least: see there.
        most: see there.
    """

    def __init__(self, hand: HandEndings, policy: Policy, least: float, most: int) -> None:
        super().__init__(hand, (None, policy), least, most)

    def bounds(self, worths: Worths) -> ResponseBounds:
        """Return how likely the responder wins the game, by what hands are worth."""
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
    """Return what a hand could be followed by: either loses or regains up to two dice, and either opens."""
    found = [
        Start(first, second, opener)
        for first in range(max(0, start.first - 2), min(dice, start.first + 2) + 1)
        for second in range(max(0, start.second - 2), min(dice, start.second + 2) + 1)
        for opener in (0, 1)
    ]
    return [end for end in found if end[:2] not in (start[:2], (0, 0))]
