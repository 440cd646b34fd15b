"""Know which dice are on the table: four-sided ones when the sum of both scores is a multiple of seven.

A four-sided die shows a 1 more often and scores less, so bacon looks better then. The other way round, a
bacon or a minus one that leaves the opponent a multiple of seven is worth some points, because the opponent
then rolls the small dice. Otherwise seven dice are rolled, fewer near the goal. Exchanges of the dice are
hidden, and taken not to happen.
"""

PURE = True


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def certain_gain(points, score, opponent_score):
    """Return by how much our lead grows with POINTS for certain, with a bonus for leaving small dice."""
    after = score + points
    gain = points
    if after < 100 and swaps(after, opponent_score):
        gain += 2 * (opponent_score - after)
    return gain + (3 if (after + opponent_score) % 7 == 0 else 0)


def final_strategy(score, opponent_score):
    bacon = free_bacon(opponent_score)
    if score + bacon >= 100 and not swaps(score + bacon, opponent_score):
        return 0
    small_dice = (score + opponent_score) % 7 == 0
    dice, worth = (6, 9) if small_dice else (7, 11)
    if score > 75:
        dice, worth = (4, 8) if small_dice else (4, 10)
    by_bacon = certain_gain(bacon, score, opponent_score)
    by_one = certain_gain(1, score, opponent_score)
    if by_one > max(worth, by_bacon) + 5:
        return -1
    return 0 if by_bacon >= worth else dice
