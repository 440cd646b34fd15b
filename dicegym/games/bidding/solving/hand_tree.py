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
from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand import CALL, GOES_ON, HandEndings, Kind, Policy, Start, opening_record

MOST_OUTCOMES = 16
"""More than a hand for two can end in: either loses one or two dice or regains one, and either opens."""


class Node:
    """A public point of a hand.

    Attributes:
        reach: for either seat float64[rolls], how likely it rolled so and then played what was played.
        outcomes: float64[MOST_OUTCOMES], how likely each outcome of the hand is from here, by the nodes expanded.
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
    """All that is likely to be said in a hand.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with.
        policies: how the two play, by seat.
        points: about how many public points are thought of beforehand.

    Attributes:
        ends: what a hand may end in, by number of the outcome.
    """

    def __init__(self, game: Game, start: Start, policies: Sequence[Policy], points: int) -> None:
        self._game, self._policies, self._endings = game, policies, HandEndings(game, start)
        self._rolls, self.ends = self._endings.rolls, self._endings.ends
        self.root = Node(opening_record(game, start), (self._rolls[0].chances, self._rolls[1].chances))
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
        if self._endings.kind(node.record, action) == GOES_ON:
            child = Node(node.record.copy(), reach)
            self._game.step(child.record, action)
        else:
            child = Node(node.record, reach, action)
        child.outcomes = self._shown(child)
        return child

    def look(self, node: Node) -> dict[int, Node]:
        """Return what may be played at a node; if that was not known, say too what to expect of it."""
        if node.after is None:
            node.expected = self._mean(node)
        return self._opened(node)

    def _kind(self, node: Node) -> Kind:
        """Return what the hand is taken to end in at a node where nobody has looked further."""
        return self._endings.kinds[self._endings.kind(node.record, CALL if node.ended is None else node.ended)]

    def _shown(self, node: Node) -> np.ndarray:
        """Return how likely each outcome is if the hand ends at a node: float64[MOST_OUTCOMES]."""
        counts, ends = self._kind(node)
        weights = [np.bincount(count, one) for count, one in zip(counts, node.reach, strict=True)]
        found = np.zeros(MOST_OUTCOMES)
        matching = np.convolve(weights[0], weights[1])
        np.add.at(found, ends[: len(matching)], matching)
        found /= found.sum()
        return found
