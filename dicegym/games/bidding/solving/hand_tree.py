"""What becomes of a hand between two players whose ways to play are known, as everybody sees it.

A hand is public but for the dice. So the tree here is one of what is said, and at each of its nodes stands how likely
each roll of either player is to have come there, by how the two play: their rolls are independent of each other, as
nobody's actions depend on the other's dice. What chance and the players' own draws brought in a game that was played is
then the change of what all rolls together could expect, action by action, and at last what the showdown makes of it.
Nothing of it depends on the dice that lay under the cups, until they are shown.

A tree grows where the game is likeliest to come, up to a number of nodes. Where it ends its values are guesses; what is
computed from them has still the mean that it should have, and varies more.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.chance import rolls as rolls_told
from dicegym.games.bidding.table import N_BIDS, last_bid

CALL = N_BIDS
"""The challenge that every one of these games has: what is guessed of a hand is that it is ended so at once."""
MOST_OUTCOMES = 16
"""More than a hand for two can end in: either loses one or two dice or regains one, and either opens."""


class Mixture(NamedTuple):
    """How a player chooses at one public point, with each of some rolls."""

    actions: np.ndarray
    """int64[m]: what it may play with any of them, none twice."""
    chances: np.ndarray
    """float64[rolls, m]: how likely it plays each."""


Policy = Callable[[np.ndarray], Mixture]
"""How a player plays: asked with records that are alike but for the hand of the player to move."""


class Start(NamedTuple):
    """What a hand for two begins with; the game is over if one has no dice."""

    first: int
    """Dice of seat 0."""
    second: int
    """Dice of seat 1."""
    opener: int


class Node:
    """A public point of a hand.

    Attributes:
        reach: for either seat float64[rolls], how likely it rolled so and then played what was played.
        outcomes: float64[MOST_OUTCOMES], how likely each outcome of the hand is from here, as far as was looked.
        expected: the mean of that over what may be played, once `after` has been asked for.
        ended: the action that has ended the hand, or None.
        after: what may be played: action -> node; None until it is asked for, and where the hand has ended.
        chances: how likely each is, by all rolls together.
    """

    __slots__ = ("after", "chances", "ended", "expected", "outcomes", "reach", "record")

    def __init__(self, record: Any, reach: tuple[np.ndarray, np.ndarray], ended: int | None = None) -> None:
        self.record, self.reach, self.ended = record, reach, ended
        self.outcomes = self.expected = np.zeros(MOST_OUTCOMES)
        self.after: dict[int, Node] | None = None
        self.chances: dict[int, float] = {}


class HandTree:
    """All that may be said in a hand, as far as it is likely.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with.
        policies: how the two play, by seat.
        wild: whether the highest face counts for all.
        points: about how many public points are thought of beforehand.

    Attributes:
        ends: what a hand may end in, by number of the outcome.
        covered: how likely a hand ends within what was looked at.
    """

    def __init__(self, game: Game, start: Start, policies: Sequence[Policy], wild: bool, points: int) -> None:
        self._game, self._policies, self._wild = game, policies, wild
        self.ends: list[Start] = []
        self._known: dict[tuple[int, ...], int] = {}
        self._rolls = tuple(rolls(dice, faces_of(game)) for dice in start[:2])
        self.root = Node(_opened(game, start), (self._rolls[0].chances, self._rolls[1].chances))
        self.covered = 0.0
        self._grow(points)

    def _grow(self, points: int) -> None:
        """Look at the likeliest nodes, then work out what is to be expected of each, from the last to the first."""
        waiting = [(-1.0, 0, self.root)]
        looked: list[Node] = []
        count = 0
        while waiting and count < points:
            _, _, node = heapq.heappop(waiting)
            looked.append(node)
            for child in self._opened(node).values():
                chance = float(child.reach[0].sum() * child.reach[1].sum())
                count += 1
                if child.ended is None:
                    heapq.heappush(waiting, (-chance, count, child))
                else:
                    self.covered += chance
        for node in reversed(looked):
            node.outcomes = node.expected = self._mean(node)

    def _mean(self, node: Node) -> np.ndarray:
        """Return the mean of the outcomes over what may be played."""
        found = np.zeros(MOST_OUTCOMES)
        for action, child in self._opened(node).items():
            found += node.chances[action] * child.outcomes
        return found

    def _opened(self, node: Node) -> dict[int, Node]:
        """Return what may be played at a node, asked for once."""
        if node.after is not None:
            return node.after
        mover = int(node.record["player"])
        own = node.reach[mover]
        held = np.flatnonzero(own > 0)
        records = np.repeat(np.atleast_1d(node.record), len(held))
        records["hands"][:, mover] = self._rolls[mover].counts[held]
        actions, by_roll = self._policies[mover](records)
        total = float(own.sum())
        after: dict[int, Node] = {}
        for column, action in enumerate(actions.tolist()):
            left = np.zeros_like(own)
            left[held] = own[held] * by_roll[:, column]
            chance = float(left.sum()) / total
            if chance > 0:
                reach = (left, node.reach[1]) if mover == 0 else (node.reach[0], left)
                after[action] = self._child(node, action, reach)
                node.chances[action] = chance
        node.after = after
        return after

    def _child(self, node: Node, action: int, reach: tuple[np.ndarray, np.ndarray]) -> Node:
        record = node.record.copy()
        self._game.step(record, action)
        if record["over"] or record["finished"] != node.record["finished"]:
            child = Node(node.record, reach, action)
            child.outcomes = self._shown(node.record, action, reach)
            return child
        child = Node(record, reach)
        child.outcomes = self._shown(record, CALL, reach)
        return child

    def look(self, node: Node) -> dict[int, Node]:
        """Return what may be played at a node; if that was not known, say too what to expect of it."""
        if node.after is None:
            node.expected = self._mean(node)
        return self._opened(node)

    def _shown(self, record: Any, action: int, reach: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return how likely each outcome is if the player to move ends the hand by ``action``."""
        _, _, face = last_bid(record)
        counts = [self._counts(seat, face) for seat in (0, 1)]
        weights = [np.bincount(count, one) for count, one in zip(counts, reach, strict=True)]
        found = np.zeros(MOST_OUTCOMES)
        for matching, chance in enumerate(np.convolve(weights[0], weights[1]).tolist()):
            if chance > 0:
                found[self._outcome(record, action, matching, counts)] += chance
        found /= found.sum()
        return found

    def by_rolls(self, value: Callable[[int], float]) -> np.ndarray:
        """Return what the hand is worth with each roll of seat 0 (row) and of seat 1 (column), dice lying open.

        ``value`` says what an outcome is worth, by its number. Where nobody has looked, the hand is taken to be ended.
        """
        found = np.zeros((len(self._rolls[0].chances), len(self._rolls[1].chances)))
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.after is not None:
                waiting.extend(node.after.values())
                continue
            held = [np.flatnonzero(one) for one in node.reach]
            likely = [
                one[at] / rolled.chances[at] for one, at, rolled in zip(node.reach, held, self._rolls, strict=True)
            ]
            action = CALL if node.ended is None else node.ended
            _, _, face = last_bid(node.record)
            counts = [self._counts(seat, face) for seat in (0, 1)]
            most = int(counts[0].max() + counts[1].max())
            worth = np.array([value(self._outcome(node.record, action, one, counts)) for one in range(most + 1)])
            matching = counts[0][held[0]][:, None] + counts[1][held[1]][None, :]
            found[np.ix_(held[0], held[1])] += likely[0][:, None] * likely[1][None, :] * worth[matching]
        return found

    def chances_of_rolls(self) -> np.ndarray:
        """Return how likely each pair of rolls is, the same way."""
        return np.outer(self._rolls[0].chances, self._rolls[1].chances)

    def _counts(self, seat: int, face: int) -> np.ndarray:
        """Return how many dice of each roll count for a face (0: none was bid)."""
        held = self._rolls[seat].counts
        if face == 0:
            return np.zeros(len(held), np.int64)
        found: np.ndarray = held[:, face - 1].astype(np.int64)
        highest = faces_of(self._game)
        return found + held[:, highest - 1] if self._wild and face != highest else found

    def _outcome(self, record: Any, action: int, matching: int, counts: Sequence[np.ndarray]) -> int:
        """Return the number of the outcome if so many dice match the last bid."""
        last = int(record["bids"][record["n_bids"] - 1]) if record["n_bids"] else -1
        key = int(record["player"]), last, action, matching
        if key not in self._known:
            first = min(matching, int(counts[0].max()))
            shown = record.copy()
            shown["hands"][0] = self._rolls[0].counts[int(np.argmax(counts[0] == first))]
            shown["hands"][1] = self._rolls[1].counts[int(np.argmax(counts[1] == matching - first))]
            self._game.step(shown, action)
            end = start_of(shown)
            if end not in self.ends:
                self.ends.append(end)
            self._known[key] = self.ends.index(end)
        return self._known[key]


def faces_of(game: Game) -> int:
    """Return how many faces the dice of a game have."""
    return game.all_parameters["faces"]


def number_of_roll(counts: np.ndarray, faces: int) -> int:
    """Return which of `rolls` shows so many dice of each face."""
    return _numbers(int(counts.sum()), faces)[tuple(counts.tolist())]


@cache
def _numbers(dice: int, faces: int) -> dict[tuple[int, ...], int]:
    return {tuple(counts.tolist()): number for number, counts in enumerate(rolls(dice, faces).counts)}


class Rolls(NamedTuple):
    """All rolls of some dice."""

    counts: np.ndarray
    """int8[n, 6]: how many dice show each face."""
    chances: np.ndarray
    """float64[n]."""


@cache
def rolls(dice: int, faces: int) -> Rolls:
    """Return all rolls of so many dice with so many faces."""
    found = rolls_told(dice, faces)
    return Rolls(np.array([one[2] for one in found], np.int8), np.array([one[0] for one in found]))


def start_of(state: Any) -> Start:
    """Return what the hand begins with that a record of a game for two has just come to."""
    first, second = int(state["left"][0]), int(state["left"][1])
    return Start(first, second, 0 if state["over"] else int(state["player"]))


def _opened(game: Game, start: Start) -> Any:
    """Return a record in which a hand begins, without anybody's dice."""
    state = game.new_game()[0]
    state["left"][:2] = state["rolled"][:2] = start[:2]
    state["hands"] = 0
    state["player"] = start.opener
    return state


def starts_of(dice: int) -> list[Start]:
    """Return all that a hand can begin with, the fewest dice first."""
    return [
        Start(first, total - first, opener)
        for total in range(2, 2 * dice + 1)
        for first in range(max(1, total - dice), min(dice, total - 1) + 1)
        for opener in (0, 1)
    ]
