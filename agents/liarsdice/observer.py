"""Watch the showdowns: learn how often each player's last bid was true, and believe or doubt it accordingly.

Bids are counted at every showdown, also of hands in which it had no part. A player whose bids proved true is called
only when the odds are worse, one who was caught is called sooner. Raises are those of `even`.
"""

from functools import cache
from math import comb

proved, made = {}, {}  # by player: last bids that were true, and all that were called


@cache
def chance(dice, need):
    """Return the probability that at least NEED of DICE unknown dice show a given face."""
    return sum(comb(dice, n) * 5 ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


def observe(hands, plays):
    """Take note of a showdown."""
    if len(plays) < 2:
        return
    bidder, bid = plays[-2]
    quantity, face = divmod(bid, 10)
    made[bidder] = made.get(bidder, 0) + 1
    proved[bidder] = proved.get(bidder, 0) + (hands.count(str(face)) >= quantity)


def get_play(me, hands, history):
    plays = [(play.partition(":")[0], int(play.partition(":")[2])) for play in history.split(",")] if history else []
    if plays and plays[-1][1] == 0:
        observe(hands, plays)
        return 0
    cups = dict(hand.split(":") for hand in hands.split(","))
    unknown = sum(map(len, cups.values())) - len(cups[me])
    own = [cups[me].count(str(face)) for face in range(7)]
    bidder, last = plays[-1] if plays else (me, 6)
    quantity, face = divmod(last, 10)
    trust = (proved.get(bidder, 0) + 2) / (made.get(bidder, 0) + 4)  # as if two of four had been true before
    if quantity and chance(unknown, quantity - own[face]) < 0.7 - 0.5 * trust:
        return 0
    raises = [(quantity + (other <= face), other) for other in range(1, 7)]
    likeliest = max(raises, key=lambda bid: chance(unknown, bid[0] - own[bid[1]]))
    return likeliest[0] * 10 + likeliest[1]
