"""A hand of two solved by counterfactual regret minimisation against a mixture: somebody known, or who answers best.

A restricted Nash response (Johanson, Zinkevich and Bowling, "Computing robust counter-strategies", NIPS 2007): with a
certain share the other player is one whose way to play is known and stays what it is, else one who learns to answer.
The player does not know which. As in `dicegym.games.bidding.solving.recall_hand`, the last bids alone are remembered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_tree import Policy
from dicegym.games.bidding.solving.recall_hand import (
    FLOAT,
    TREMBLE,
    Side,
    bring_back,
    carry_on,
    for_the_other,
    gains,
    learn,
    opening_worth,
    play,
)
from dicegym.games.bidding.solving.recall_rules import opening_record
from dicegym.games.bidding.table import SEATS

KNOWN, FREE = range(2)
"""The two worlds: the other player is the known one, or learns."""


class World(NamedTuple):
    """The hand with one kind of other player."""

    share: float
    player: Side
    other: Side

    @property
    def turns(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Who moves, and against whom."""
        return (self.player, self.other), (self.other, self.player)


class RestrictedHand:
    """One size of hand, with the player's dice and the other's; who has as many is not who plays alike.

    Args:
        game: for two.
        own: the player's dice.
        others: the other's.
        recall: how many bids are remembered.
        known: how the known player plays.
        share: of such hands that are against the known player, above 0 and below 1. It is the same in every hand: what
            a player could have learned of the other in the hands before is not counted.
    """

    def __init__(self, game: Game, own: int, others: int, recall: int, known: Policy, share: float) -> None:
        shares = {KNOWN: share, FREE: 1 - share}
        self.worlds = [
            World(shares[kind], Side(game, own, others, recall), Side(game, others, own, recall))
            for kind in (KNOWN, FREE)
        ]
        self.sides = [self.worlds[FREE].player, self.worlds[FREE].other]
        self.times = 0
        self._known = known
        self._game = game

    def begin(self, values: np.ndarray) -> None:
        """Make ready to iterate, where the hands that follow are worth ``values``; `end` gives the memory back.

        ``values`` is float64[2 worlds, 2, dice + 1, dice + 1]: how probable it is for the player to win the game with
        so many own dice (row) against so many (column), if it opens the hand (0) and if the other does (1).
        """
        for world, (opens, follows) in zip(self.worlds, values, strict=True):
            world.player.begin(opens, follows)
            world.other.begin(*for_the_other(opens, follows))
        known, free = self.worlds
        known.player.strategy = free.player.strategy  # it cannot know in which world it is
        known.other.strategy = known_cells(self._game, known.other, self._known)

    def end(self) -> None:
        """Keep what was learned alone."""
        for world in self.worlds:
            world.player.end()
            world.other.end()

    def iterate(self) -> None:
        """Go forwards and backwards once, and learn."""
        self.times += 1
        for group in range(self.sides[0].groups):
            for side in self.sides:
                play(side, group, side.regrets, TREMBLE)
            for world in self.worlds:
                for mover, other in world.turns:
                    carry_on(mover, other, group)
        self._backwards(learning=True)

    def evaluate(self) -> np.ndarray:
        """Return float64[2 worlds, 2]: how probable the player wins the game if it opens, and if the other does.

        Both play their mean strategies, the known player its own.
        """
        for group in range(self.sides[0].groups):
            for side in self.sides:
                play(side, group, side.summed, 0.0)
        self._backwards(learning=False)
        return np.array([[opening_worth(world.player), 1 - opening_worth(world.other)] for world in self.worlds])

    def _backwards(self, *, learning: bool) -> None:
        for group in range(self.sides[0].groups - 1, -1, -1):
            for world in self.worlds:
                for mover, other in world.turns:
                    bring_back(mover, other, group)
            if learning:
                self._learn(group)

    def _learn(self, group: int) -> None:
        here = slice(*self.sides[0].state_at[group : group + 2])
        worths = sum(FLOAT(world.share) * gains(world.player, group) for world in self.worlds)
        reach = sum(FLOAT(world.share) * world.player.reach[here] for world in self.worlds)
        learn(self.sides[0], group, np.asarray(worths), np.asarray(reach), self.times)
        other = self.sides[1]
        learn(other, group, gains(other, group), other.reach[here], self.times)


def known_cells(game: Game, side: Side, known: Policy) -> np.ndarray:
    """Return how a known player plays on a side: float32, flat as cells are.

    Asked as if a hand had begun with the bids that are remembered. In place of a bid that is left out it makes a call,
    or the first bid there is where nobody has bid.
    """
    cells = np.zeros(side.cell_at[-1], FLOAT)
    records = np.repeat(np.array([opening_record(game, side.hand.own, side.hand.others)]), len(side.chances))
    records["hands"][:, 0] = side.mine.counts
    for state, (group, member) in side.tree.states.items():
        made = side.hand.bids[list(state)].astype(np.int64)
        movers = np.arange(len(made), 0, -1) % 2  # the other, in seat 1, made the last one
        records["n_bids"] = len(made)
        records["bids"][:, : len(made)] = made * SEATS + movers
        begin, end = side.tree.first[group : group + 2]
        column = np.full(game.n_actions, end - begin if group else 0)
        column[side.hand.bids[side.tree.bid[begin:end]]] = np.arange(end - begin)
        column[side.hand.calls] = end - begin + np.arange(side.calls)
        mixture = known(records)
        into = side.of_cells(cells, group)[:, member, :]
        for action, chances in zip(mixture.actions, mixture.chances.T, strict=True):
            into[:, column[action]] += chances
    return cells
