"""Spoil everybody's dice at once, and be the one who is used to it.

The first turn (whoever has no points yet) is spent on minus one: from then on four-sided dice are normal
and six-sided ones are rolled only when the sum of both scores is a multiple of seven. An opponent that
goes on rolling five dice as if nothing had happened pigs out in three turns of four. We roll two or three and take
Free bacon, which does not care about dice. Should the opponent exchange the dice too, the guess is wrong
until the game ends; nobody is told.
"""

PURE = True


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def final_strategy(score, opponent_score):
    if score == 0:
        return -1
    bacon = free_bacon(opponent_score)
    after = score + bacon
    if swaps(after, opponent_score):
        if opponent_score > after:
            return 0
    elif after >= 100:
        return 0
    one_swaps = swaps(score + 1, opponent_score)
    if one_swaps and opponent_score > score + 10:
        return -1
    large_dice = (score + opponent_score) % 7 == 0
    if not swaps(after, opponent_score) and bacon >= (8 if large_dice else 5):
        return 0
    return 5 if large_dice else 3
