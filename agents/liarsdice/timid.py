"""Raise by as little as possible, and call as soon as a bid is above what chance alone would give.

It never looks at its dice: a sixth of all dice is what it expects of every face.
"""

PURE = True


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0  # a showdown: nothing is asked
    if not history:
        return 11
    quantity, face = divmod(int(history.rpartition(":")[2]), 10)
    dice = sum(len(hand.partition(":")[2]) for hand in hands.split(","))
    if quantity > dice / 6 + 1:
        return 0
    return quantity * 10 + face + 1 if face < 6 else (quantity + 1) * 10 + 1
