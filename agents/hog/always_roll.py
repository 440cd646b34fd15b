"""Always roll the same number of dice: five, the baseline of the contest, unless told otherwise.

always_roll(n) makes the strategy for any n, as in the course. No look at the scores at all.
"""

PURE = True


def always_roll(n):
    """Return a strategy that always rolls N dice."""

    def strategy(score, opponent_score):
        return n

    return strategy


final_strategy = always_roll(5)
