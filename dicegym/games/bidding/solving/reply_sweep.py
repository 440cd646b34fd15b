"""What a best reply to a known player can win in one hand of Liar's Dice for two: all that is likely, level by level.

As `dicegym.games.bidding.solving.reply_tree`, for hands of few dice and players that draw: every public point that the
player lets come about more often than a threshold is looked at, all points of a level in one go. What is left out is
put between a challenge at once and the best end there is, so what comes out are two bounds, which depend on the
threshold and on nothing else: no clock, no order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_tree import Policy, Start, faces_of, rolls, start_of
from dicegym.games.bidding.solving.reply_tree import CALL, PLAYER, REPLIER, ReplyBounds, Worths, could_follow, worth_of

POINTS_AT_ONCE = 1 << 10
"""Public points about which the player is asked in one call."""
NEGLECTED = 0.05
"""Part of the threshold below which a single roll of the player is not asked about either."""


@dataclass
class _Calls:
    """Ways to end the hand at points of one level: entry k is at point ``points[k]``."""

    points: np.ndarray
    """int64[k], rising."""
    kinds: np.ndarray
    """int64[k]: what the hand ends in, by number of a table that says it for each pair of rolls."""
    reach: np.ndarray
    """float64[k, rolls of the player]."""


@dataclass
class _Level:
    """Public points after so many bids."""

    mover: int
    count: int
    calls: _Calls
    parents: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """int64[points of the next level], rising: which point of this one each follows."""
    cut: _Calls | None = None
    """What follows by bids of the player that are too unlikely to be looked at: as though challenged at once."""
    lost: np.ndarray | None = None
    """float64[count]: how likely the player comes there with rolls that were not asked about."""


class ReplySweep:
    """A hand, as far as it is likely.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with; the replier is in seat 0, the player in seat 1.
        policy: how the player plays.
        least: points that the player lets come about less often are not looked at.
        most: points that are looked at in all, about; of what would be more, the likeliest.

    Attributes:
        start: the same.
        points: how many were looked at.
    """

    def __init__(self, game: Game, start: Start, policy: Policy, least: float, most: int) -> None:
        self._game, self._policy, self._least, self.start = game, policy, least, start
        self._rolls = tuple(rolls(dice, faces_of(game)) for dice in start[:2])
        self._limits = list(could_follow(start, int(game.parameters["dice"])))
        self._ends: list[Start] = []
        self._kinds: dict[tuple[int, int, int], int] = {}  # by who acts, the last bid and the action
        self._outcomes: list[np.ndarray] = []
        self._levels: list[_Level] = []
        self.points = 0
        record = game.new_game()[0:1].copy()
        record["left"][:, :2] = record["rolled"][:, :2] = start[:2]
        record["hands"] = 0
        record["player"] = start.opener
        self._grow(record, self._rolls[PLAYER].chances[None].copy(), most)

    def _grow(self, records: np.ndarray, reach: np.ndarray, most: int) -> None:
        mover = self.start.opener
        while len(records):
            self.points += len(records)
            if mover == REPLIER:
                level, records, reach = self._reply(records, reach)
            else:
                level, records, reach = self._answer(records, reach, most - self.points)
            self._levels.append(level)
            mover = 1 - mover

    def _reply(self, records: np.ndarray, reach: np.ndarray) -> tuple[_Level, np.ndarray, np.ndarray]:
        """Return what the replier may do at each point, and the points that follow by its bids."""
        points, actions = np.nonzero(self._legal(records))
        kinds = self._kinds_of(records, points, actions)
        ends, on = kinds >= 0, kinds < 0
        calls = _together(points[ends], kinds[ends], reach[points[ends]], add=False)
        after = self._bid(records, points[on], actions[on])
        return _Level(REPLIER, len(records), calls, points[on]), after, reach[points[on]]

    def _answer(self, records: np.ndarray, reach: np.ndarray, room: int) -> tuple[_Level, np.ndarray, np.ndarray]:
        """Return what the player does at each point, and the points that follow by bids that are likely enough.

        The likeliest alone go on where otherwise more than ``room`` points would follow them.
        """
        parts = [
            self._asked(records[first : first + POINTS_AT_ONCE], reach[first : first + POINTS_AT_ONCE])
            for first in range(0, len(records), POINTS_AT_ONCE)
        ]
        points = np.concatenate([part[0] + number * POINTS_AT_ONCE for number, part in enumerate(parts)])
        actions, left = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
        kinds = self._kinds_of(records, points, actions)
        ends = kinds >= 0
        calls = _together(points[ends], kinds[ends], left[ends])
        mass = left.sum(axis=1)
        on = ~ends & (mass >= self._least)
        after = self._bid(records, points[on], actions[on])
        kept = np.zeros(len(after), np.bool_)
        likeliest = np.argsort(-mass[on], kind="stable")
        follow = self._legal(after).sum(axis=1)[likeliest].cumsum()
        kept[likeliest[follow <= room]] = True
        on[np.flatnonzero(on)[~kept]] = False
        level = _Level(PLAYER, len(records), calls, points[on], lost=np.concatenate([part[3] for part in parts]))
        cut = ~ends & ~on
        if cut.any():
            called = self._kinds_called(records, points[cut], actions[cut])
            level.cut = _together(points[cut], called, left[cut])
        return level, after[kept], left[on]

    def _asked(self, records: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
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

    def _legal(self, records: np.ndarray) -> np.ndarray:
        n = len(records)
        masks = np.zeros((n, self._game.n_actions), np.bool_)
        seen = np.zeros((n, self._game.observation_size), np.float32)
        gained = np.zeros((n, self._game.players), np.float32)
        seats = records["player"].astype(np.int64)
        loops.observe_rows(records, np.arange(n), seats, seen, masks, gained)
        return masks

    def _bid(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the records after bids."""
        after: np.ndarray = records[points]
        loops.step_rows(after, np.arange(len(after)), actions.astype(np.int64), np.zeros(len(after), np.int64))
        return after

    def _kinds_of(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the number of what each action ends the hand in (int64[k]), -1 where it goes on.

        What counts is the last bid; who is to move is the same at all points of a level.
        """
        if not len(points):
            return np.zeros(0, np.int64)
        count = records["n_bids"].astype(np.int64)
        last = np.where(count > 0, records["bids"][np.arange(len(records)), np.maximum(count - 1, 0)], -1)
        codes = (last.astype(np.int64)[points] + 1) * self._game.n_actions + actions
        _, firsts, which = np.unique(codes, return_index=True, return_inverse=True)
        numbers = np.zeros(len(firsts), np.int64)
        for number, first in enumerate(firsts.tolist()):
            record, action = records[points[first]], int(actions[first])
            key = int(record["player"]), int(last[points[first]]), action
            if key not in self._kinds:
                self._kinds[key] = self._kind(record, action)
            numbers[number] = self._kinds[key]
        found: np.ndarray = numbers[which.reshape(-1)]
        return found

    def _kinds_called(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the number of what a challenge after each bid ends the hand in: int64[k]."""
        _, firsts, which = np.unique(actions, return_index=True, return_inverse=True)
        after = self._bid(records, points[firsts], actions[firsts])
        numbers = self._kinds_of(after, np.arange(len(after)), np.full(len(after), CALL))
        found: np.ndarray = numbers[which.reshape(-1)]
        return found

    def _kind(self, record: Any, action: int) -> int:
        """Return the number of what an action ends the hand in, -1 if it goes on. What comes to the same has one."""
        after = record.copy()
        self._game.step(after, action)
        if not (after["over"] or after["finished"] != record["finished"]):
            return -1
        outcome = self._outcome(record, action)
        for number, known in enumerate(self._outcomes):
            if np.array_equal(outcome, known):
                return number
        self._outcomes.append(outcome)
        return len(self._outcomes) - 1

    def _outcome(self, record: Any, action: int) -> np.ndarray:
        """Return what the hand ends in with each roll of either (int64[rolls, rolls]), by number of `_ends`."""
        mine, theirs = (one.counts for one in self._rolls)
        shown = np.repeat(np.atleast_1d(record), len(mine) * len(theirs))
        shown["hands"][:, REPLIER] = np.repeat(mine, len(theirs), axis=0)
        shown["hands"][:, PLAYER] = np.tile(theirs, (len(mine), 1))
        after = self._bid(shown, np.arange(len(shown)), np.full(len(shown), action))
        found = np.zeros(len(after), np.int64)
        told = np.stack([after["left"][:, 0], after["left"][:, 1], after["player"], after["over"]], axis=1)
        _, firsts, which = np.unique(told, axis=0, return_index=True, return_inverse=True)
        for number, first in enumerate(firsts.tolist()):
            end = start_of(after[first])
            if end not in self._ends:
                self._ends.append(end)
            found[which.reshape(-1) == number] = self._ends.index(end)
        return found.reshape(len(mine), len(theirs))

    def bounds(self, worths: Worths) -> ReplyBounds:
        """Return how likely the replier wins the game from the beginning of the hand, between two bounds.

        Args:
            worths: what hands are worth to it.
        """
        found = []
        for side in (0, 1):
            least = min(worth_of(end, worths)[0] for end in self._limits)
            most = max(worth_of(end, worths)[1] for end in self._limits)
            worth = np.array([worth_of(end, worths)[side] for end in self._ends])
            payoffs = np.stack([worth[one] for one in self._outcomes])
            values = np.zeros((0, len(self._rolls[REPLIER].chances)))
            for level in reversed(self._levels):
                values = self._values(level, values, payoffs, (least, most)[side], side)
            found.append(float(self._rolls[REPLIER].chances @ values[0]))
        return ReplyBounds(*found)

    def _values(self, level: _Level, after: np.ndarray, payoffs: np.ndarray, limit: float, side: int) -> np.ndarray:
        """Return what every point of a level is worth with each roll of the replier: float64[points, rolls]."""
        called = _called(level.calls, payoffs)
        values = np.zeros((level.count, len(self._rolls[REPLIER].chances)))
        if level.mover == REPLIER:
            values[:] = -np.inf
            np.maximum.at(values, level.parents, after)
            np.maximum.at(values, level.calls.points, called)
            return values
        np.add.at(values, level.parents, after)
        np.add.at(values, level.calls.points, called)
        if level.lost is not None:
            values += limit * level.lost[:, None]
        if level.cut is not None:
            cut = _called(level.cut, payoffs) if side == 0 else limit * level.cut.reach.sum(axis=1)[:, None]
            np.add.at(values, level.cut.points, np.broadcast_to(cut, (len(level.cut.points), values.shape[1])))
        return values


def _together(points: np.ndarray, kinds: np.ndarray, reach: np.ndarray, add: bool = True) -> _Calls:
    """Return ways to end the hand, of one kind at one point those together: their reach added, or that of one."""
    codes = points * (1 + int(kinds.max(initial=0))) + kinds
    different, firsts, which = np.unique(codes, return_index=True, return_inverse=True)
    found = reach[firsts]
    if add and len(different) < len(codes):
        found = np.zeros((len(different), reach.shape[1]))
        np.add.at(found, which.reshape(-1), reach)
    return _Calls(points[firsts], kinds[firsts], found)


def _called(calls: _Calls, payoffs: np.ndarray) -> np.ndarray:
    """Return what ending the hand so is worth: float64[k, rolls of the replier]."""
    found = np.zeros((len(calls.points), payoffs.shape[1]))
    order = np.argsort(calls.kinds, kind="stable")
    kinds, firsts = np.unique(calls.kinds[order], return_index=True)
    for kind, rows in zip(kinds.tolist(), np.split(order, firsts[1:]), strict=False):
        found[rows] = calls.reach[rows] @ payoffs[kind].T
    return found
