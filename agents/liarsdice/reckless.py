"""Bid anything, however absurd, and believe most of what is absurd: even `haphazard` beats it.

It never looks at its dice. Any higher bid on as many dice as there are is as likely as any other, or as a call; where
there is none, it raises to sixes four times in five. Whoever calls it nearly always wins.
"""

import random


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0  # a showdown: nothing is asked
    dice = sum(len(hand.partition(":")[2]) for hand in hands.split(","))
    last = int(history.rpartition(":")[2]) if history else 0
    bids = [10 * quantity + face for quantity in range(1, dice + 1) for face in range(1, 7)]
    higher = [bid for bid in bids if bid > last]
    if higher:
        return random.choice(higher + [0] * (last > 0))
    quantity, face = divmod(last, 10)
    return 0 if face == 6 or random.randint(1, 5) == 1 else 10 * quantity + 6
