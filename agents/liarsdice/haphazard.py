"""Raise a little or call liar, at random: the least that an opponent can be.

It never looks at its dice. Every fourth play is a call; otherwise it takes the next face or one die more.
"""

import random


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0  # a showdown: nothing is asked
    if not history:
        return 10 + random.randint(1, 6)
    quantity, face = divmod(int(history.rpartition(":")[2]), 10)
    dice = sum(len(hand.partition(":")[2]) for hand in hands.split(","))
    if random.random() < 0.25 or quantity >= dice:
        return 0
    if face < 6 and random.random() < 0.5:
        return quantity * 10 + random.randint(face + 1, 6)
    return (quantity + 1) * 10 + random.randint(1, 6)
