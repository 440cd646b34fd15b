"""Take more risk the further behind: from three dice with a big lead to eight when all seems lost.

Near the end what counts is the chance of getting home in time, not the average turn. Someone far behind an
opponent who needs one more good turn has to score much at once, or nothing matters. In the lead the
opposite holds: small certain steps keep the opponent from catching up.
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
    if opponent_score >= GOAL - 12:  # the next turn may be the opponent's last: try to finish in one
        return min(10, max(4, missing // 4 + 1)) if behind > 0 else 4
    if bacon >= 8 and behind < 25:
        return 0
    if behind > 50:
        return 8
    if behind > 25:
        return 6
    if behind < -25:
        return 3 if bacon < 6 else 0
    return 5
