"""Choose any number of dice at random, -1 to 10: the least that an opponent can be.

It draws anew each time it is asked, so the same two scores may get different answers.
"""

import random


def final_strategy(score, opponent_score):
    return random.randint(-1, 10)
