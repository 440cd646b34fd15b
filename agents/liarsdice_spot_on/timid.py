"""Bid as little more as possible, and call a liar as soon as a bid is above what chance alone would give.

It never looks at its dice: a third of all dice count for each value below six, a sixth are sixes.
"""

from player import Player

PURE = True


class Timid(Player):
    def move(self, bids, player_dice, n_dice):
        if not bids:
            return 1, 1
        quantity, value = bids[-1]
        if quantity > sum(n_dice) / (6 if value == 6 else 3) + 1:
            return "Liar"
        return (2 * quantity + 1, 1) if value == 6 else (quantity + 1, value)
