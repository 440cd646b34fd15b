"""What a best response to a known player wins in one hand of Liar's Dice for two, between two bounds.

The player answers by a policy that can be asked with all its rolls at once, so what is said in the hand makes a belief
over its rolls, and each of the responder's rolls has a value at each public point: the expectation where the player
moves, and the maximum where the responder does (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response
calculation in large extensive games", IJCAI 2011). Values are those times the probability that the player does its
part.

Points form levels, one for each number of bids, and all points of a level are worked on together. A point of the
responder is *open* until its bids and the player's answers to them were looked at. At an open point the responder may
at least challenge the bid, and may at most end the hand as well as hands can end. The tree grows in one of two ways:
`ResponseTree.grow` looks at all that is likely, and depends on no clock; `ResponseTree.improve` looks where the bounds
differ most, until the time is over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_rules import CALL, GOES_ON, HandEndings, Policy, Start, opening_record
from dicegym.games.bidding.table import FACES
from dicegym.games.worth import SearchTime

RESPONDER, PLAYER = 0, 1
"""Seats."""
ASKED_AT_ONCE = 1 << 14
"""Records about which the player is asked in one call, about."""
NEGLECTED = 0.05
"""Part of the threshold below which a single roll of the player is not asked about either."""
SHARE = 0.15
"""Of the open points, those that are looked at between two looks at the bounds."""
MOST_CELLS = 1 << 24
"""Points times rolls of the responder that `ResponseTree.improve` makes room for, at most: 128 MB for an array."""


class ResponseBounds(NamedTuple):
    """A value lies between these."""

    low: float
    high: float


Worths = Mapping[Start, ResponseBounds]
"""What hands are worth to the responder, in seat 0: how likely it wins the game."""


def worth_of(end: Start, worths: Worths) -> ResponseBounds:
    """Return what the beginning of a hand, or the end of the game, is worth to the responder."""
    if end.first == 0 or end.second == 0:
        return ResponseBounds(float(end.first > 0), float(end.first > 0))
    return worths[end]


@dataclass
class _Calls:
    """Ways to end the hand at points of one level: entry k is at point ``points[k]``."""

    points: np.ndarray
    """int64[k]."""
    kinds: np.ndarray
    """int64[k]: as of `HandEndings.kinds`."""
    reach: np.ndarray
    """float64[k, dice + 1]: the probability that the player's choices lead here, by its number of matching dice."""


@dataclass
class _Level:
    """Public points after the same number of bids."""

    records: np.ndarray
    reach: np.ndarray
    """float64[points, rolls]: how likely the player has each roll and does its part."""
    parents: np.ndarray
    """int64[points]: which point of the level before each follows."""
    calls: _Calls
    cut: _Calls
    """What follows by bids of the player that are too unlikely to be looked at, as though challenged at once."""
    lost: np.ndarray
    """float64[points]: how likely the player comes there with rolls that were not asked about."""
    open: np.ndarray
    """bool[points]."""


class ResponseTree:
    """A hand as far as it was looked at.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with; the responder is in seat 0, the player in seat 1.
        policy: how the player plays.
        least: points that the player lets come about less often are not looked at; 0: all may be.

    Attributes:
        start: the same.
        points: how many were looked at or stand open.
    """

    def __init__(self, game: Game, start: Start, policy: Policy, least: float = 0.0) -> None:
        self._game, self._policy, self._least, self.start = game, policy, least, start
        self._endings = HandEndings(game, start)
        self._rolls = self._endings.rolls
        self._limits = _could_follow(start, int(game.parameters["dice"]))
        self._levels: list[_Level] = []
        self.points = 0
        record = opening_record(game, start)[None].copy()
        reach, root = self._rolls[PLAYER].chances[None].copy(), np.zeros(1, np.int64)
        if start.opener == RESPONDER:
            self._add_open(0, record, reach, root)
        else:
            self._answer(0, record, reach, root)

    # --- growing ---------------------------------------------------------------------------------------------

    def grow(self, most: int) -> None:
        """Look at all points, or the likeliest if there were more than about ``most``."""
        depth = 0 if self.start.opener == RESPONDER else 1
        while depth < len(self._levels):
            self._look(depth, np.arange(len(self._levels[depth].open)), most)
            depth += 2

    def improve(
        self, worths: Worths, seconds: float, gap: float = 0.0, whole: SearchTime | None = None
    ) -> ResponseBounds:
        """Look further for ``seconds``, or until the bounds are ``gap`` apart or all was looked at; return them.

        A look that has begun may end after ``seconds``. No look begins once the time for the ``whole`` search is over.
        """
        end = time.monotonic() + seconds
        bids = FACES * (self.start.first + self.start.second)
        at_once = max(1, ASKED_AT_ONCE // (bids * len(self._rolls[PLAYER].chances)))
        room = MOST_CELLS // len(self._rolls[RESPONDER].chances)
        while True:
            values = self._values(worths)
            found = self._mean(values)
            if found.high - found.low <= gap or self.points >= room:
                return found
            depths, points = self._wanted(values)
            chosen = max(1, int(len(points) * SHARE))
            for first in range(0, min(chosen, len(points)), at_once):
                if time.monotonic() >= end or (whole is not None and whole.over):
                    return self.bounds(worths)
                part = slice(first, min(first + at_once, chosen))
                for depth in np.unique(depths[part]).tolist():
                    self._look(depth, points[part][depths[part] == depth])
            if not len(points):
                return found

    def _look(self, depth: int, points: np.ndarray, most: int | None = None) -> None:
        """Ask what the player answers to all that the responder may bid at open points of a level."""
        level = self._levels[depth]
        level.open[points] = False
        at, actions = np.nonzero(self._legal(level.records[points]))
        at = points[at]
        on = self._kinds_of(level.records, at, actions) == GOES_ON
        if on.any():
            records = self._step(level.records, at[on], actions[on])
            self._answer(depth + 1, records, level.reach[at[on]], at[on], most)

    def _add_open(self, depth: int, records: np.ndarray, reach: np.ndarray, parents: np.ndarray) -> None:
        """Add open points, and what the responder may end the hand in there."""
        points, actions = np.nonzero(self._legal(records))
        calls = self._calls(records, points, actions, reach[points])
        nothing = self._calls(records, points[:0], actions[:0], reach[:0])
        n = len(records)
        self._add(depth, _Level(records, reach, parents, calls, nothing, np.zeros(n), np.ones(n, np.bool_)))

    def _answer(
        self, depth: int, records: np.ndarray, reach: np.ndarray, parents: np.ndarray, most: int | None = None
    ) -> None:
        """Add points at which the player moves, what it does there, and the open points that follow.

        The likeliest alone follow where otherwise more than ``most`` points would have to be looked at.
        """
        at_once = max(1, ASKED_AT_ONCE // reach.shape[1])
        parts = [
            self._ask(records[first : first + at_once], reach[first : first + at_once])
            for first in range(0, len(records), at_once)
        ]
        points = np.concatenate([part[0] + number * at_once for number, part in enumerate(parts)])
        actions, left, lost = (np.concatenate([part[at] for part in parts]) for at in (1, 2, 3))
        goes_on = self._kinds_of(records, points, actions) == GOES_ON
        calls = self._calls(records, points[~goes_on], actions[~goes_on], left[~goes_on])
        mass = left.sum(axis=1)
        on = goes_on & (mass >= self._least)
        after = self._step(records, points[on], actions[on])
        if most is not None:
            likeliest = np.argsort(-mass[on], kind="stable")
            follow = self._legal(after).sum(axis=1)[likeliest].cumsum()
            kept = np.zeros(len(after), np.bool_)
            kept[likeliest[follow <= most - self.points - len(records)]] = True
            on[np.flatnonzero(on)[~kept]] = False
            after = after[kept]
        off = goes_on & ~on
        bid = self._step(records, points[off], actions[off])
        cut = self._calls(bid, np.arange(len(bid)), np.full(len(bid), CALL), left[off])
        cut.points = points[off]
        before = self._add(depth, _Level(records, reach, parents, calls, cut, lost, np.zeros(len(records), np.bool_)))
        if len(after):
            self._add_open(depth + 1, after, left[on], before + points[on])

    def _ask(self, records: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what the player may do at some points.

        Returns:
            By what it may do: the points (int64[k]), the actions (int64[k]), and how likely it comes there with each
            roll and does so (float64[k, rolls]); and by point how likely it comes there with rolls that were not asked
            about (float64[points]).
        """
        n, width = reach.shape
        at, held = np.nonzero(reach > NEGLECTED * self._least / width)
        asked = records[at]
        asked["hands"][:, PLAYER] = self._rolls[PLAYER].counts[held]
        actions, chances = self._policy(asked)
        found = np.zeros((n, len(actions), width))
        found[at, :, held] = chances * reach[at, held][:, None]
        points, columns = np.nonzero(found.any(axis=2))
        asked_about = np.zeros_like(reach)
        asked_about[at, held] = reach[at, held]
        return points, actions[columns], found[points, columns], (reach - asked_about).sum(axis=1)

    def _add(self, depth: int, new: _Level) -> int:
        """Add points to a level; return how many it had before."""
        self.points += len(new.records)
        if depth == len(self._levels):
            self._levels.append(new)
            return 0
        level = self._levels[depth]
        before = len(level.records)
        for found, more in ((level.calls, new.calls), (level.cut, new.cut)):
            found.points = np.concatenate([found.points, more.points + before])
            found.kinds = np.concatenate([found.kinds, more.kinds])
            found.reach = np.concatenate([found.reach, more.reach])
        for name in ("records", "reach", "parents", "lost", "open"):
            setattr(level, name, np.concatenate([getattr(level, name), getattr(new, name)]))
        return before

    # --- the rules -------------------------------------------------------------------------------------------

    def _legal(self, records: np.ndarray) -> np.ndarray:
        n = len(records)
        masks = np.zeros((n, self._game.n_actions), np.bool_)
        seen = np.zeros((n, self._game.observation_size), np.float32)
        gained = np.zeros((n, self._game.players), np.float32)
        loops.observe_rows(records, np.arange(n), records["player"].astype(np.int64), seen, masks, gained)
        return masks

    def _step(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the records after actions."""
        after: np.ndarray = records[points]
        loops.step_rows(after, np.arange(len(after)), actions.astype(np.int64), np.zeros(len(after), np.int64))
        return after

    def _kinds_of(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return what actions end the hand in: int64[k], `GOES_ON` where they do not.

        The last bid decides. All points of a level have the same player to move.
        """
        count = records["n_bids"].astype(np.int64)[points]
        last = np.where(count > 0, records["bids"][points, np.maximum(count - 1, 0)], -1).astype(np.int64)
        codes = (last + 1 << 32) + actions
        _, firsts, which = np.unique(codes, return_index=True, return_inverse=True)
        kinds = [self._endings.kind(records[points[first]], int(actions[first])) for first in firsts.tolist()]
        found: np.ndarray = np.array(kinds, np.int64)[which.reshape(-1)]
        return found

    def _calls(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray, reach: np.ndarray) -> _Calls:
        """Return those of some actions that end the hand; ``reach`` is float64[k, rolls of the player]."""
        kinds = self._kinds_of(records, points, actions)
        ends = kinds != GOES_ON
        kinds, points, reach = kinds[ends], points[ends], reach[ends]
        matching = np.zeros((len(kinds), self.start.second + 1))
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            matching[rows] = reach[rows] @ np.eye(matching.shape[1])[self._endings.kinds[kind].counts[PLAYER]]
        return _Calls(points, kinds, matching)

    # --- what it is worth ------------------------------------------------------------------------------------

    def bounds(self, worths: Worths) -> ResponseBounds:
        """Return how likely the responder wins the game, by what hands are worth now, without looking further."""
        return self._mean(self._values(worths))

    def _mean(self, values: list[np.ndarray]) -> ResponseBounds:
        """Return the mean over the responder's rolls at the beginning of the hand."""
        low, high = (values[0][:, 0] @ self._rolls[RESPONDER].chances).tolist()
        return ResponseBounds(low, high)

    def _moves(self, depth: int) -> bool:
        """Return whether the responder is to move at the points of a level."""
        return (depth % 2 == 0) == (self.start.opener == RESPONDER)

    def _values(self, worths: Worths) -> list[np.ndarray]:
        """Return what points are worth, by level: float64[2 bounds, points, rolls of the responder]."""
        found = []
        for side in (0, 1):
            limit = (min, max)[side](worth_of(end, worths)[side] for end in self._limits)
            worth = np.array([worth_of(end, worths)[side] for end in self._endings.ends])
            matching = np.arange(self.start.second + 1)[:, None]
            payoffs = [worth[kind.ends[matching + kind.counts[RESPONDER]]] for kind in self._endings.kinds]
            found.append(self._values_of(payoffs, limit, side))
        return [np.stack(both) for both in zip(*found, strict=True)]

    def _values_of(self, payoffs: list[np.ndarray], limit: float, side: int) -> list[np.ndarray]:
        """Return one bound of what points are worth, by level: float64[points, rolls of the responder].

        Args:
            payoffs: by kind float64[dice + 1, rolls]: what it is worth to the responder, by its roll and the player's
                matching dice.
            limit: what a hand can be worth, least or most.
            side: which bound.
        """
        width = len(self._rolls[RESPONDER].chances)
        found: list[np.ndarray] = []
        for depth in range(len(self._levels) - 1, -1, -1):
            level, moves = self._levels[depth], self._moves(depth)
            values = np.full((len(level.records), width), -np.inf if moves else 0.0)
            best_or_sum = np.maximum if moves else np.add
            if found:
                _merge(best_or_sum, values, self._levels[depth + 1].parents, found[-1])
            _merge(best_or_sum, values, level.calls.points, _called(level.calls, payoffs, width))
            if moves:
                mass = level.reach.sum(axis=1)[:, None] * limit
                values = np.where(level.open[:, None] & ((values < mass) if side else np.isinf(values)), mass, values)
            else:
                values += limit * level.lost[:, None]
                cut = limit * np.repeat(level.cut.reach.sum(axis=1)[:, None], width, axis=1)
                _merge(np.add, values, level.cut.points, cut if side else _called(level.cut, payoffs, width))
            found.append(values)
        return found[::-1]

    def _wanted(self, values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the level and the number of each open point, the first that which may matter most.

        That is the gap of its bounds, of the rolls with which a best response may want to come there.
        """
        depths, points, wanted = [], [], []
        weights = np.broadcast_to(self._rolls[RESPONDER].chances, values[0].shape)
        for depth, level in enumerate(self._levels):
            if depth:
                weights = weights[:, level.parents]
                if self._moves(depth - 1):
                    weights = np.where(values[depth] >= values[depth - 1][:, level.parents], weights, 0.0)
            (left,) = np.nonzero(level.open)
            gap = values[depth][1, left] - values[depth][0, left]
            depths.append(np.full(len(left), depth))
            points.append(left)
            wanted.append((weights[:, left].max(axis=0) * gap).sum(axis=1))
        order = np.argsort(-np.concatenate(wanted), kind="stable")
        return np.concatenate(depths)[order], np.concatenate(points)[order]


def _called(calls: _Calls, payoffs: list[np.ndarray], width: int) -> np.ndarray:
    """Return what ending the hand so is worth: float64[k, rolls of the responder]."""
    found = np.zeros((len(calls.points), width))
    order = np.argsort(calls.kinds, kind="stable")
    kinds, firsts = np.unique(calls.kinds[order], return_index=True)
    for kind, rows in zip(kinds.tolist(), np.split(order, firsts[1:]), strict=False):
        found[rows] = calls.reach[rows] @ payoffs[kind]
    return found


def _merge(ufunc: np.ufunc, into: np.ndarray, points: np.ndarray, values: np.ndarray) -> None:
    """Let ``ufunc`` take up values into the rows ``points``, which may name a row several times."""
    if len(points):
        order = np.argsort(points, kind="stable")
        rows, firsts = np.unique(points[order], return_index=True)
        into[rows] = ufunc(into[rows], ufunc.reduceat(values[order], firsts))


def _could_follow(start: Start, dice: int) -> list[Start]:
    """Return what a hand could be followed by: either loses or regains up to two dice, and either opens."""
    found = [
        Start(first, second, opener)
        for first in range(max(0, start.first - 2), min(dice, start.first + 2) + 1)
        for second in range(max(0, start.second - 2), min(dice, start.second + 2) + 1)
        for opener in (0, 1)
    ]
    return [end for end in found if end[:2] not in (start[:2], (0, 0))]
