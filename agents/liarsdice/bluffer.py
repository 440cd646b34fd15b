"""Play by the odds, but once in a while bid on a face that others bid on, whether or not it is held.

Most plays are those of `even`. With probability BLUFF it raises the last bid by one die of the same face instead,
as if it held some, if that is not hopeless.
"""

import random
from functools import cache
from math import comb

BLUFF = 0.2
HOPELESS = 0.15


@cache
def chance(dice, need):
    """Return the probability that at least NEED of DICE unknown dice show a given face."""
    return sum(comb(dice, n) * 5 ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0  # a showdown: nothing is asked
    cups = dict(hand.split(":") for hand in hands.split(","))
    unknown = sum(map(len, cups.values())) - len(cups[me])
    own = [cups[me].count(str(face)) for face in range(7)]
    quantity, face = divmod(int(history.rpartition(":")[2]), 10) if history else (0, 6)
    if quantity and random.random() < BLUFF and chance(unknown, quantity + 1 - own[face]) > HOPELESS:
        return (quantity + 1) * 10 + face
    if quantity and chance(unknown, quantity - own[face]) < 0.5:
        return 0
    raises = [(quantity + (other <= face), other) for other in range(1, 7)]
    likeliest = max(raises, key=lambda bid: chance(unknown, bid[0] - own[bid[1]]))
    return likeliest[0] * 10 + likeliest[1]
