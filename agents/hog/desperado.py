"""Take more risk the further behind: from five dice with a big lead to ten when all seems lost.

Near the end what counts is the chance of getting home in time, not the average turn. Someone far behind an
opponent who needs one more good turn has to score much at once, or nothing matters. In the lead the
opposite holds: fewer dice, and fewer turns wasted.
"""

PURE = True
GOAL = 100


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def final_strategy(score, opponent_score):
    bacon = free_bacon(opponent_score)
    missing = GOAL - score
    if bacon >= missing:
        return 0
    behind = opponent_score - score
    if missing <= 24:
        return max(3, missing // 5)
    if opponent_score >= GOAL - 12 and behind > 0:  # the next turn may be the opponent's last
        return min(10, missing // 4 + 1)
    if behind > 50:
        return 10
    if behind > 20:
        return 9
    if behind < -30:
        return 5
    return 7
