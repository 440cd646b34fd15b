"""Look for a Swine Swap: reach one on purpose when it helps, avoid it when it hurts.

Two moves have a certain result: zero dice (Free bacon) and minus one (1 point). If one of them makes the
last two digits of both scores mirror each other while we are behind, the swap hands us the higher score.
Otherwise bacon is taken if it is worth MARGIN and does not swap a lead away. swap(margin, dice) makes the
strategy for other figures.
"""

PURE = True


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    """Return whether these two scores, after a turn, are exchanged."""
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def swap(margin, dice):
    """Return a strategy that swaps when behind, takes bacon worth MARGIN, and else rolls DICE dice."""

    def strategy(score, opponent_score):
        points = free_bacon(opponent_score)
        after_bacon, after_one = score + points, score + 1
        if swaps(after_bacon, opponent_score):
            if opponent_score > after_bacon:
                return 0
        elif points >= margin or after_bacon >= 100:
            return 0
        if swaps(after_one, opponent_score) and opponent_score > after_one + margin:
            return -1
        return dice

    return strategy


final_strategy = swap(10, 7)
