"""Compute the expected lead after each possible turn, and take the best.

The chances of every sum of n dice follow from those of n - 1 dice. For each number of dice the strategy
adds up (chance) x (own score - opponent's score after the turn, a Swine Swap included, and a prize for
winning), which covers Pig out, Free bacon, Hog wild and swaps. A Pig out counts as PROMISE points more than it
brings, because Pig Fest pays it back. The strategy looks one turn ahead and no further, and takes the dice
not to be exchanged. Leaving the opponent with four-sided dice counts as SMALL_DICE points.
"""

from functools import cache

PURE = True
GOAL = 100
PRIZE = 60
SMALL_DICE = 2.5
PROMISE = 10


@cache
def chances(dice, sides):
    """Return {points: probability} of rolling DICE dice; 1 point is the Pig out."""
    sums = {0: 1.0}
    for _ in range(dice):
        longer = {}
        for total, chance in sums.items():
            for face in range(2, sides + 1):
                longer[total + face] = longer.get(total + face, 0.0) + chance / sides
        sums = longer
    sums[1] = 1 - sum(sums.values())
    return sums


@cache
def worth(score, opponent_score):
    """Return how good these scores are for us once our turn is over."""
    if score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10:
        score, opponent_score = opponent_score, score
    lead = score - opponent_score
    if max(score, opponent_score) >= GOAL:
        return lead + (PRIZE if lead > 0 else -PRIZE)
    return lead + (SMALL_DICE if (score + opponent_score) % 7 == 0 else 0)


def final_strategy(score, opponent_score):
    sides = 4 if (score + opponent_score) % 7 == 0 else 6
    bacon = 1 + max(int(digit) for digit in str(opponent_score))
    best, number = worth(score + bacon, opponent_score), 0
    one = worth(score + 1, opponent_score)
    if one > best + SMALL_DICE + 1:  # an exchange changes the dice for ourselves as well
        best, number = one, -1
    for dice in range(1, 11):
        value = PROMISE * chances(dice, sides)[1]
        for points, chance in chances(dice, sides).items():
            value += chance * worth(score + points, opponent_score)
        if value > best:
            best, number = value, dice
    return number
