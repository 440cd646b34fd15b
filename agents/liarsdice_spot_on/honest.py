"""Bid only what is likely by the own dice, and as much as that allows; when nothing is, call a liar.

Large bids leave others little room: whoever follows has to bid the improbable or to challenge the probable.
"""

from functools import cache
from math import comb

from player import Player

PURE = True
SURE = 0.5


@cache
def chance(dice, need, value):
    """Return the probability that at least NEED of DICE unknown dice count for VALUE."""
    hits, misses = (1, 5) if value == 6 else (2, 4)
    return sum(comb(dice, n) * hits**n * misses ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


def worth(bid):
    return bid[0] * (2 if bid[1] == 6 else 1)


class Honest(Player):
    def move(self, bids, player_dice, n_dice):
        unknown = sum(n_dice) - len(player_dice)
        own = [player_dice.count(value) + (player_dice.count(6) if value < 6 else 0) for value in range(7)]
        last = worth(bids[-1]) if bids else 0
        options = [(quantity, value) for quantity in range(1, sum(n_dice) + 1) for value in range(1, 7)]
        likely = [bid for bid in options if worth(bid) > last and chance(unknown, bid[0] - own[bid[1]], bid[1]) >= SURE]
        if likely:
            return max(likely, key=worth)
        return "Liar" if bids else (1, max(range(1, 6), key=own.__getitem__))
