"""Eight dice for as long as it takes, then just as many as are missing: margins tuned against always_roll(5).

Pig Fest turns the usual wisdom round. Eight dice avoid a Pig out in one turn of four only, but the good turn after two
or three failures counts double or triple, so many dice are better than five. What remains is not to throw
away the end: close to the goal fewer dice suffice, and Free bacon that reaches it is certain. A Swine Swap
is taken when it gains more than a few points. tuned(dice, points, spare) makes the strategy that rolls DICE
dice, and near the goal one for every POINTS points missing and SPARE more.
"""

PURE = True
GOAL = 100
NEAR = 45


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def tuned(dice, points, spare):
    """Return the strategy for these margins."""

    def strategy(score, opponent_score):
        after = score + free_bacon(opponent_score)
        swap = swaps(after, opponent_score)
        if swaps(score + 1, opponent_score) and opponent_score > score + 15:
            return -1
        if (swap and opponent_score > after + 5) or (not swap and after >= GOAL):
            return 0
        missing = GOAL - score
        if missing > NEAR:
            return dice
        return min(dice, max(3, -(-missing // points) + spare))

    return strategy


final_strategy = tuned(8, 8, 1)
