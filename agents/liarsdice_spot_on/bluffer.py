"""Play by the odds of the own dice, but once in a while bid one more of what was bid, held or not.

With probability BLUFF it goes along with the last bid, unless that is hopeless; it also calls later than the odds
say, as others may bluff less than it does.
"""

import random
from functools import cache
from math import comb

from player import Player

BLUFF = 0.15
HOPELESS = 0.25
DOUBT = 0.4


@cache
def chance(dice, need, value):
    """Return the probability that at least NEED of DICE unknown dice count for VALUE."""
    hits, misses = (1, 5) if value == 6 else (2, 4)
    return sum(comb(dice, n) * hits**n * misses ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


class Bluffer(Player):
    def move(self, bids, player_dice, n_dice):
        unknown = sum(n_dice) - len(player_dice)
        own = [player_dice.count(value) + (player_dice.count(6) if value < 6 else 0) for value in range(7)]
        quantity, last = bids[-1] if bids else (0, 1)
        if bids and random.random() < BLUFF and chance(unknown, quantity + 1 - own[last], last) > HOPELESS:
            return quantity + 1, last
        if bids and chance(unknown, quantity - own[last], last) < DOUBT:
            return "Liar"
        worth = 2 * quantity if last == 6 else quantity
        options = [(worth + 1, value) for value in range(1, 6)] + [(worth // 2 + 1, 6)]
        return max(options, key=lambda bid: chance(unknown, bid[0] - own[bid[1]], bid[1]))
