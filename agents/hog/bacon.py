"""Take Free bacon whenever it is worth enough, else roll.

What zero dice score is known beforehand: one more than the largest digit of the opponent's score. Rolling n
six-sided dice scores 4n on average if no 1 comes up, which has probability (5/6)**n, else 1; for five dice
that makes 8.6. So bacon worth 8 or more looks like a bargain. It is not one: an average leaves out that Pig
Fest multiplies the good turns of those who dare. bacon(margin, dice) makes the strategy for other figures.
"""

PURE = True


def free_bacon(opponent_score):
    """Return what rolling zero dice scores."""
    return 1 + max(int(digit) for digit in str(opponent_score))


def bacon(margin, dice):
    """Return a strategy that takes bacon worth MARGIN or more and rolls DICE dice otherwise."""

    def strategy(score, opponent_score):
        return 0 if free_bacon(opponent_score) >= margin else dice

    return strategy


final_strategy = bacon(8, 5)
