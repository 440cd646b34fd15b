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
        sixes = player_dice.count(6)
        worth = 0
        if bids:
            quantity, value = bids[-1]
            own = player_dice.count(value) + (sixes if value < 6 else 0)
            if chance(unknown, quantity - own, value) < 0.5:
                return "Liar"
            worth = 2 * quantity if value == 6 else quantity
        held = max((1, 2, 3, 4, 5), key=player_dice.count)  # of values below six, that of which most are held
        below = chance(unknown, worth + 1 - player_dice.count(held) - sixes, held)
        return (worth // 2 + 1, 6) if chance(unknown, worth // 2 + 1 - sixes, 6) > below else (worth + 1, held)
