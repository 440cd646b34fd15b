"""Spoil everybody's dice at once, and be the one who knows.

Whoever has no points yet spends the turn on minus one: from then on four-sided dice are normal, and six-sided ones are
rolled only when the sum of both scores is a multiple of seven. An opponent that keeps to five dice, as if nothing had
happened, pigs out in three turns of four and gains little in the others. We roll seven, count on Pig Fest to
multiply the rare good turn, and step back to fewer dice near the goal. Should the opponent exchange the dice
too, the guess is wrong until the game ends; nobody is told. An honest trick, and not a good one: a turn is a
high price.
"""

PURE = True
GOAL = 100


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def final_strategy(score, opponent_score):
    if score == 0:
        return -1
    if swaps(score + 1, opponent_score) and opponent_score > score + 10:
        return -1
    after = score + free_bacon(opponent_score)
    if swaps(after, opponent_score):
        if opponent_score > after:
            return 0
    elif after >= GOAL:
        return 0
    missing = GOAL - score
    large_dice = (score + opponent_score) % 7 == 0
    if missing <= 20:
        return max(3, -(-missing // (6 if large_dice else 4)))
    return 7
