"""What a best response to a known player wins in one hand of Liar's Dice for two, between two bounds.

The player answers by a policy that can be asked with all its rolls at once, so what is said in the hand makes a belief
over its rolls, and each of the responder's rolls has a value at each public point: the expectation where the player
moves, and the maximum where the responder does (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response
calculation in large extensive games", IJCAI 2011). Values are those times the probability that the player does its
part.

Points form levels, one for each number of bids, and all points of a level are worked on together. What the player lets
come about too rarely is cut off. There the responder may at least challenge, and may at most end the hand as well as
hands can end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand import CALL, GOES_ON, HandEndings, Policy, Start, opening_record

RESPONDER, PLAYER = 0, 1
"""Seats."""
ASKED_AT_ONCE = 1 << 14
"""Records about which the player is asked in one call, about."""
NEGLECTED = 0.05
"""Part of the threshold below which a single roll of the player is not asked about either."""


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


class _Calls(NamedTuple):
    """Ways to end the hand at points of one level: entry k is at point ``points[k]``."""

    points: np.ndarray
    """int64[k]."""
    kinds: np.ndarray
    """int64[k]: as of `HandEndings.kinds`."""
    reach: np.ndarray
    """float64[k, dice + 1]: the probability that the player's choices lead here, by its number of matching dice."""


class _Level(NamedTuple):
    """Public points after the same number of bids."""

    responds: bool
    """Whether the responder is to move."""
    parents: np.ndarray
    """int64[points]: which point of the level before each follows."""
    calls: _Calls
    cut: _Calls
    """What follows by bids of the player that are too unlikely to be looked at, as though challenged at once."""
    lost: np.ndarray
    """float64[points]: how likely the player comes there with rolls that were not asked about."""


class ResponseTree:
    """The part of a hand that the player lets come about.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with; the responder is in seat 0, the player in seat 1.
        policy: how the player plays.
        least: points that the player lets come about less often are not looked at; 0: all may be.
        most: about how many points are looked at, the likeliest, where there are more.

    Attributes:
        start: the same.
        points: how many were looked at.
    """

    def __init__(self, game: Game, start: Start, policy: Policy, least: float, most: int) -> None:
        self._game, self._policy, self._least, self._most, self.start = game, policy, least, most, start
        self._endings = HandEndings(game, start)
        self._rolls = self._endings.rolls
        self._limits = _could_follow(start, int(game.parameters["dice"]))
        self._levels: list[_Level] = []
        self.points = 0
        records = opening_record(game, start)[None].copy()
        reach, parents = self._rolls[PLAYER].chances[None], np.zeros(1, np.int64)
        responds = start.opener == RESPONDER
        while len(records):
            self.points += len(records)
            follow = self._respond if responds else self._answer
            records, reach, parents = follow(records, reach, parents)
            responds = not responds

    def _respond(
        self, records: np.ndarray, reach: np.ndarray, parents: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add a level in which the responder does all that it may; return the points that follow by its bids.

        Returns:
            Their records, the player's reach (float64[points, rolls]), and the point that each follows.
        """
        points, actions = np.nonzero(self._legal(records))
        bids = self._kinds_of(records, points, actions) == GOES_ON
        ends, none = np.flatnonzero(~bids), np.zeros(0, np.int64)
        calls, nothing = (self._calls(records, points[on], actions[on], reach[points[on]]) for on in (ends, none))
        self._levels.append(_Level(True, parents, calls, nothing, np.zeros(len(records))))
        points, actions = points[bids], actions[bids]
        return self._step(records, points, actions), reach[points], points

    def _answer(
        self, records: np.ndarray, reach: np.ndarray, parents: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add a level in which the player moves; return the points that follow by its likely bids, as `_respond`."""
        at_once = max(1, ASKED_AT_ONCE // reach.shape[1])
        parts = [self._ask(records, reach, slice(first, first + at_once)) for first in range(0, len(records), at_once)]
        points, actions, left = (np.concatenate([part[at] for part in parts]) for at in range(3))
        bids = self._kinds_of(records, points, actions) == GOES_ON
        calls = self._calls(records, points[~bids], actions[~bids], left[~bids])
        points, actions, left = points[bids], actions[bids], left[bids]
        after, mass = self._step(records, points, actions), left.sum(axis=1)
        likeliest = np.argsort(-mass, kind="stable")
        work = self._legal(after).sum(axis=1)[likeliest].cumsum()
        kept = np.zeros(len(after), np.bool_)
        kept[likeliest[work <= self._most - self.points]] = True
        kept &= mass >= self._least
        cut = self._calls(after[~kept], np.arange((~kept).sum()), np.full((~kept).sum(), CALL), left[~kept])
        lost = np.concatenate([part[3] for part in parts])
        self._levels.append(_Level(False, parents, calls, cut._replace(points=points[~kept]), lost))
        return after[kept], left[kept], points[kept]

    def _ask(
        self, records: np.ndarray, reach: np.ndarray, part: slice
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what the player may do at some points.

        Returns:
            By what it may do: the points (int64[k]), the actions (int64[k]), and how likely it comes there with each
            roll and does so (float64[k, rolls]); and by point how likely it comes there with rolls that were not asked
            about (float64[points]).
        """
        records, reach = records[part], reach[part]
        likely = reach > NEGLECTED * self._least / reach.shape[1]
        at, held = np.nonzero(likely)
        asked = records[at]
        asked["hands"][:, PLAYER] = self._rolls[PLAYER].counts[held]
        actions, chances = self._policy(asked)
        found = np.zeros((len(records), len(actions), reach.shape[1]))
        found[at, :, held] = chances * reach[at, held][:, None]
        points, columns = np.nonzero(found.any(axis=2))
        return points + part.start, actions[columns], found[points, columns], np.where(likely, 0, reach).sum(axis=1)

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
        _, firsts, which = np.unique((last + 1 << 32) + actions, return_index=True, return_inverse=True)
        kinds = [self._endings.kind(records[points[first]], int(actions[first])) for first in firsts.tolist()]
        found: np.ndarray = np.array(kinds, np.int64)[which.reshape(-1)]
        return found

    def _calls(self, records: np.ndarray, points: np.ndarray, actions: np.ndarray, reach: np.ndarray) -> _Calls:
        """Return actions that end the hand; ``reach`` is float64[k, rolls of the player]."""
        kinds = self._kinds_of(records, points, actions)
        matching = np.zeros((len(kinds), self.start.second + 1))
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            matching[rows] = reach[rows] @ np.eye(matching.shape[1])[self._endings.kinds[kind].counts[PLAYER]]
        return _Calls(points, kinds, matching)

    # --- what it is worth ------------------------------------------------------------------------------------

    def bounds(self, worths: Worths) -> ResponseBounds:
        """Return how likely the responder wins the game, by what hands are worth."""
        return ResponseBounds(self._value(worths, 0), self._value(worths, 1))

    def _value(self, worths: Worths, side: int) -> float:
        """Return the lower (0) or the upper (1) bound."""
        limit = (min, max)[side](_worth_of(end, worths)[side] for end in self._limits)
        worth = np.array([_worth_of(end, worths)[side] for end in self._endings.ends])
        matching, width = np.arange(self.start.second + 1)[:, None], len(self._rolls[RESPONDER].chances)
        payoffs = [worth[kind.ends[matching + kind.counts[RESPONDER]]] for kind in self._endings.kinds]
        below, parents = np.zeros((0, width)), np.zeros(0, np.int64)
        for level in reversed(self._levels):
            best_or_sum = np.maximum if level.responds else np.add
            values = np.full((len(level.parents), width), -np.inf if level.responds else 0.0)
            values += limit * level.lost[:, None]
            _merge(best_or_sum, values, parents, below)
            _merge(best_or_sum, values, level.calls.points, _called(level.calls, payoffs, width))
            cut = np.broadcast_to(limit * level.cut.reach.sum(axis=1)[:, None], (len(level.cut.points), width))
            _merge(np.add, values, level.cut.points, cut if side else _called(level.cut, payoffs, width))
            below, parents = values, level.parents
        return float(below[0] @ self._rolls[RESPONDER].chances)


def _called(calls: _Calls, payoffs: list[np.ndarray], width: int) -> np.ndarray:
    """Return what ending the hand so is worth: float64[k, rolls of the responder]."""
    found = np.zeros((len(calls.points), width))
    for kind in np.unique(calls.kinds).tolist():
        rows = np.flatnonzero(calls.kinds == kind)
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
