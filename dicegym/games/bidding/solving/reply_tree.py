"""What a best reply to a known player can win in one hand of Liar's Dice for two, between two bounds.

The player answers by a policy that can be asked with all its rolls at once, so what is said in the hand makes a belief
over its rolls, and each of the replier's rolls has a value at each public point. Points are looked at where the bounds
differ most, weighed by how likely the player lets them come about and the replier may want them. Where nothing was
looked at, the replier may at least challenge the bid, and may at most end the hand as well as hands can end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_tree import Policy, Start, faces_of, rolls, start_of
from dicegym.games.bidding.table import N_BIDS, last_bid
from dicegym.games.worth import SearchTime

CALL = N_BIDS
"""The challenge that every one of these games has."""
REPLIER, PLAYER = 0, 1
"""Seats."""
SHARE = 0.15
"""Of the points that could be looked at, those that are next, between two looks at the bounds."""
MOST_AT_ONCE = 64
"""Points that are looked at between two looks at the bounds, at most."""


class ReplyBounds(NamedTuple):
    """A value lies between these."""

    low: Any
    high: Any


Worths = Mapping[Start, ReplyBounds]
"""What hands are worth to the replier, in seat 0: how likely it wins the game."""


class _Ending(NamedTuple):
    """Ways to end a hand by calling: for each number of the replier's dice that match, what the hand comes to."""

    matching: np.ndarray
    """int64[rolls]: how many dice of each of the replier's rolls count for the face."""
    weights: np.ndarray
    """float64[6, ends]: the player's reach that brings each of `ReplyTree.ends` about."""


class _Option(NamedTuple):
    """Something that the replier may do: what ends the hand then, and the points where it is to move again."""

    endings: list[_Ending]
    points: list[int]


class _Point:
    """A public point at which the replier is to move."""

    __slots__ = ("calls", "mass", "options", "reach", "record")

    def __init__(self, record: Any, reach: np.ndarray) -> None:
        self.record, self.reach = record, reach
        self.mass = float(reach.sum())
        self.calls: list[_Ending] = []
        self.options: list[_Option] | None = None


class ReplyTree:
    """A hand as far as it was looked at.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with; the replier is in seat 0, the player in seat 1.
        policy: how the player plays.
        wild: whether the highest face counts for all.

    Attributes:
        ends: what the hand may end in.
    """

    def __init__(self, game: Game, start: Start, policy: Policy, wild: bool) -> None:
        self._game, self._policy, self._wild, self.start = game, policy, wild, start
        self.ends: list[Start] = []
        self._known: dict[tuple[int, ...], int] = {}
        self._rolls = tuple(rolls(dice, faces_of(game)) for dice in start[:2])
        self._points: list[_Point] = []
        self._limits = list(could_follow(start, int(game.parameters["dice"])))
        record = game.new_game()[0]
        record["left"][:2] = record["rolled"][:2] = start[:2]
        record["hands"] = 0
        record["player"] = start.opener
        reach = self._rolls[PLAYER].chances
        self._root = (
            _Option([], [self._new_point(record, reach)])
            if start.opener == REPLIER
            else self._answers([record], [reach])[0]
        )

    def improve(self, worths: Worths, seconds: float, gap: float = 0.0, whole: SearchTime | None = None) -> ReplyBounds:
        """Look further for ``seconds``, or until the bounds are ``gap`` apart or all was looked at; return them.

        A look that has begun goes on beyond ``seconds``, but not beyond the time for the ``whole`` search.
        """
        end = time.monotonic() + seconds
        while True:
            values = self._values(worths)
            found = self._mean(values, worths)
            left = [number for number, point in enumerate(self._points) if point.options is None]
            if not left or found.high - found.low <= gap or time.monotonic() >= end:
                return found
            wanted = self._wanted(values, worths)
            left.sort(key=lambda number: -wanted[number])
            for number in left[: max(1, min(MOST_AT_ONCE, int(len(left) * SHARE)))]:
                self._look(self._points[number], whole)
                if time.monotonic() >= end:  # one look takes a quarter of a second and more at five dice
                    break

    def bounds(self, worths: Worths) -> ReplyBounds:
        """Return the bounds, by what hands are worth now, without looking further."""
        return self._mean(self._values(worths), worths)

    def _mean(self, values: list[ReplyBounds], worths: Worths) -> ReplyBounds:
        """Return the mean over the replier's rolls at the beginning of the hand."""
        chances, worth = self._rolls[REPLIER].chances, self._of_ends(worths)
        return ReplyBounds(*(float(chances @ self._worth(self._root, values, worth, side)) for side in (0, 1)))

    def _of_ends(self, worths: Worths) -> tuple[np.ndarray, np.ndarray]:
        found = [worth_of(end, worths) for end in self.ends]
        return np.array([one.low for one in found]), np.array([one.high for one in found])

    def _worth(
        self, option: _Option, values: list[ReplyBounds], worth: tuple[np.ndarray, np.ndarray], side: int
    ) -> Any:
        total = np.zeros(len(self._rolls[REPLIER].chances))
        for ending in option.endings:
            total += self._called(ending, worth, side)
        for number in option.points:
            total += values[number][side]
        return total

    @staticmethod
    def _called(ending: _Ending, worth: tuple[np.ndarray, np.ndarray], side: int) -> np.ndarray:
        found: np.ndarray = (ending.weights[:, : len(worth[side])] @ worth[side][: ending.weights.shape[1]])[
            ending.matching
        ]
        return found

    def _values(self, worths: Worths) -> list[ReplyBounds]:
        """Return what every point is worth: float64[rolls] each, times how likely the player lets it come about."""
        worth = self._of_ends(worths)
        most = max(worth_of(end, worths).high for end in self._limits)
        least = min(worth_of(end, worths).low for end in self._limits)
        values: list[ReplyBounds] = [ReplyBounds(None, None)] * len(self._points)
        for number in range(len(self._points) - 1, -1, -1):  # what follows a point was found after it
            point = self._points[number]
            sides = []
            for side in (0, 1):
                ways = [self._called(call, worth, side) for call in point.calls]
                if point.options is not None:
                    ways += [self._worth(option, values, worth, side) for option in point.options]
                elif side == 1 or not ways:
                    ways = [np.full(len(self._rolls[REPLIER].chances), point.mass * (most if side else least))]
                sides.append(np.max(ways, axis=0))
            values[number] = ReplyBounds(*sides)
        return values

    def _wanted(self, values: list[ReplyBounds], worths: Worths) -> np.ndarray:
        """Return what each point not looked at may matter: its gap, by the rolls that may want to come there."""
        worth = self._of_ends(worths)
        width = len(self._rolls[REPLIER].chances)
        weights = np.zeros((len(self._points), 2, width))
        for number in self._root.points:
            weights[number] += self._rolls[REPLIER].chances
        wanted = np.zeros(len(self._points))
        for number, point in enumerate(self._points):
            if point.options is None:
                gap = values[number].high - values[number].low
                wanted[number] = float((weights[number].max(axis=0) * gap).sum())
                continue
            for side in (0, 1):
                ways = [self._called(call, worth, side) for call in point.calls]
                ways += [self._worth(option, values, worth, side) for option in point.options]
                chosen = np.argmax(ways, axis=0) - len(point.calls)
                for place, option in enumerate(point.options):
                    mine = np.where(chosen == place, weights[number, side], 0.0)
                    for after in option.points:
                        weights[after, side] += mine
        return wanted

    def _new_point(self, record: Any, reach: np.ndarray) -> int:
        """Note a point at which the replier is to move; return its number."""
        point = _Point(record, reach)
        legal = self._game.legal(record)
        for action in np.flatnonzero(legal).tolist():
            if self._ends(record, action):
                point.calls.append(self._ending(record, {action: reach}))
        self._points.append(point)
        return len(self._points) - 1

    def _look(self, point: _Point, whole: SearchTime | None) -> None:
        """Ask what the player answers to all that the replier may bid; forget it if the time is over before."""
        bids = [
            action
            for action in np.flatnonzero(self._game.legal(point.record)).tolist()
            if not self._ends(point.record, action)
        ]
        records = []
        for action in bids:
            record = point.record.copy()
            self._game.step(record, action)
            records.append(record)
        before = len(self._points)
        options = self._answers(records, [point.reach] * len(records), whole) if records else []
        if len(options) == len(records):
            point.options = options
        else:
            del self._points[before:]

    def _answers(self, records: list[Any], reaches: list[np.ndarray], whole: SearchTime | None = None) -> list[_Option]:
        """Return what the player makes of public points at which it is to move, asked in one call.

        Those that are left when the time is over are missing.
        """
        held = [np.flatnonzero(reach > 0) for reach in reaches]
        asked = np.concatenate(
            [np.repeat(np.atleast_1d(record), len(mine)) for record, mine in zip(records, held, strict=True)]
        )
        asked["hands"][:, PLAYER] = self._rolls[PLAYER].counts[np.concatenate(held)]
        actions, chances = self._policy(asked)
        options, first = [], 0
        for record, reach, mine in zip(records, reaches, held, strict=True):
            if whole is not None and whole.over:
                break
            part = chances[first : first + len(mine)]
            first += len(mine)
            calls: dict[int, np.ndarray] = {}
            points = []
            for column in np.flatnonzero(part.any(axis=0)).tolist():
                action, left = int(actions[column]), np.zeros_like(reach)
                left[mine] = reach[mine] * part[:, column]
                if self._ends(record, action):
                    calls[action] = left
                    continue
                after = record.copy()
                self._game.step(after, action)
                points.append(self._new_point(after, left))
            options.append(_Option([self._ending(record, calls)] if calls else [], points))
        return options

    def _ends(self, record: Any, action: int) -> bool:
        """Return whether an action of the player to move ends the hand."""
        last = int(record["bids"][record["n_bids"] - 1]) if record["n_bids"] else -1
        key = int(record["player"]), last, action
        if key not in self._known:
            after = record.copy()
            self._game.step(after, action)
            self._known[key] = int(after["over"] or after["finished"] != record["finished"])
        return bool(self._known[key])

    def _ending(self, record: Any, calls: dict[int, np.ndarray]) -> _Ending:
        """Return what calling comes to; ``calls`` is the player's reach with each action that calls."""
        _, _, face = last_bid(record)
        counts = [self._counts(seat, face) for seat in (REPLIER, PLAYER)]
        weights = np.zeros((int(counts[REPLIER].max()) + 1, len(self.ends) + 4))
        for action, reach in calls.items():
            for theirs, chance in enumerate(np.bincount(counts[PLAYER], reach).tolist()):
                for mine in range(len(weights)):
                    if chance > 0:
                        end = self._outcome(record, action, mine, theirs, counts)
                        if end >= weights.shape[1]:
                            weights = np.pad(weights, ((0, 0), (0, end + 1 - weights.shape[1])))
                        weights[mine, end] += chance
        return _Ending(counts[REPLIER], weights)

    def _counts(self, seat: int, face: int) -> np.ndarray:
        """Return how many dice of each roll count for a face (0: none was bid)."""
        held = self._rolls[seat].counts
        if face == 0:
            return np.zeros(len(held), np.int64)
        found: np.ndarray = held[:, face - 1].astype(np.int64)
        highest = faces_of(self._game)
        return found + held[:, highest - 1] if self._wild and face != highest else found

    def _outcome(self, record: Any, action: int, mine: int, theirs: int, counts: list[np.ndarray]) -> int:
        """Return the number of what the hand comes to, given how many dice of either match."""
        last = int(record["bids"][record["n_bids"] - 1]) if record["n_bids"] else -1
        key = int(record["player"]), last, action, mine + theirs, len(counts)
        if key not in self._known:
            shown = record.copy()
            for seat, number in ((REPLIER, mine), (PLAYER, theirs)):
                matching = np.flatnonzero(counts[seat] == number)
                if not len(matching):
                    return self._no_end()
                shown["hands"][seat] = self._rolls[seat].counts[matching[0]]
            self._game.step(shown, action)
            end = start_of(shown)
            if end not in self.ends:
                self.ends.append(end)
            self._known[key] = self.ends.index(end)
        return self._known[key]

    def _no_end(self) -> int:
        """Return an end that stands where no roll matches so many dice, and no weight is asked for."""
        if not self.ends:
            self.ends.append(self._limits[0])
        return 0


def could_follow(start: Start, dice: int) -> list[Start]:
    """Return what a hand could be followed by: either loses or regains up to two dice, and either opens."""
    found = [
        Start(first, second, opener)
        for first in range(max(0, start.first - 2), min(dice, start.first + 2) + 1)
        for second in range(max(0, start.second - 2), min(dice, start.second + 2) + 1)
        for opener in (0, 1)
    ]
    return [end for end in found if end[:2] not in (start[:2], (0, 0))]


def worth_of(end: Start, worths: Worths) -> ReplyBounds:
    """Return what the beginning of a hand, or the end of the game, is worth to the replier."""
    if end.first == 0 or end.second == 0:
        return ReplyBounds(float(end.first > 0), float(end.first > 0))
    return worths[end]
