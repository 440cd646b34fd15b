"""Roll until the turn total is 20.

At a turn total of t, a roll wins (2 + 3 + 4 + 5 + 6) / 6 = 20/6 points on average and loses t/6: at 20 both are equal.
"""

PURE = True


def roll_again(score, opponent_score, turn_total):
    return turn_total < 20
