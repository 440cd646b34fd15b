"""Believe every bid and raise it by as little as possible, up to more dice than any table has.

It never looks at its dice. Whoever calls it a liar nearly always wins.
"""

from player import Player

PURE = True


class Trusting(Player):
    most = 30

    def move(self, bids, player_dice, n_dice):
        if not bids:
            return 1, 1
        quantity, value = bids[-1]
        if quantity > self.most:
            return "Liar"
        return (2 * quantity + 1, 1) if value == 6 else (quantity + 1, value)
