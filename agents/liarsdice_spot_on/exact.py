"""Look for the spot: challenge with "Spot on" whenever a bid is likelier exact than false by the own dice.

A die is regained if one is missing, else two are taken. Everything else is as the odds of its own dice say.
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


class Exact(Player):
    def move(self, bids, player_dice, n_dice):
        unknown = sum(n_dice) - len(player_dice)
        own = [player_dice.count(value) + (player_dice.count(6) if value < 6 else 0) for value in range(7)]
        quantity, last = bids[-1] if bids else (0, 1)
        worth = 2 * quantity if last == 6 else quantity
        if bids:
            true = chance(unknown, quantity - own[last], last)
            spot = true - chance(unknown, quantity - own[last] + 1, last)
            if spot > max(1 - true, 0.3):
                return "Spot on, gain one" if len(player_dice) < max(n_dice) else "Spot on, lose two"
            if true < 0.5:
                return "Liar"
        options = [(worth + 1, value) for value in range(1, 6)] + [(worth // 2 + 1, 6)]
        return max(options, key=lambda bid: chance(unknown, bid[0] - own[bid[1]], bid[1]))
