"""Call a liar when the last bid is more likely false than true by the own dice; else bid what is likeliest.

The others' dice count as unknown, whatever was bid: each counts for a value below six with probability 1/3, for
six with 1/6.
"""

from functools import cache
from math import comb

from player import Player

PURE = True


@cache
def chance(dice, need, value):
    """Return the probability that at least NEED of DICE unknown dice count for VALUE."""
    hits, misses = (1, 5) if value == 6 else (2, 4)
    return sum(comb(dice, n) * hits**n * misses ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


class Even(Player):
    def move(self, bids, player_dice, n_dice):
        unknown = sum(n_dice) - len(player_dice)
        own = [player_dice.count(value) + (player_dice.count(6) if value < 6 else 0) for value in range(7)]
        quantity, last = bids[-1] if bids else (0, 1)
        if bids and chance(unknown, quantity - own[last], last) < 0.5:
            return "Liar"
        worth = 2 * quantity if last == 6 else quantity
        options = [(worth + 1, value) for value in range(1, 6)] + [(worth // 2 + 1, 6)]
        return max(options, key=lambda bid: chance(unknown, bid[0] - own[bid[1]], bid[1]))
