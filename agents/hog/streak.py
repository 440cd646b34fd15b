"""Remember: tell a run of Pig outs from how the own score moved, and cash it in.

After a Pig out the next good turn counts double or, after three in a row, triple (Pig Fest). Nobody is told
about it, but whoever rolled dice and gained exactly one point knows. So this strategy keeps what it chose
and what it had; while the run promises a multiplier, a certain bacon is worth two or three times as much, and fewer
dice are rolled to be safe. The memory starts anew when both scores are those of a new game.
"""

last_choice = None
last_score = 0
last_opponent_score = 0
run = 0


def free_bacon(opponent_score):
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def remember(score, opponent_score):
    """Update the run of Pig outs from what happened since we were last asked."""
    global run
    if last_choice is None or score < last_score or opponent_score < last_opponent_score:
        run = 0  # a new game, or a swap that hides what happened
    elif last_choice > 0 and score == last_score + 1:
        run = min(run + 1, 3)
    else:
        run = 0


def choose(score, opponent_score):
    """Return the number of dice for these scores and the present run."""
    times = max(1, run)
    bacon = free_bacon(opponent_score) * times
    after = score + bacon
    harmless = not swaps(after, opponent_score)
    if (after >= 100 and harmless) or (not harmless and opponent_score > after):
        return 0
    small_dice = (score + opponent_score) % 7 == 0
    if harmless and bacon >= (5 if small_dice else 8) * times:
        return 0
    if small_dice:
        return 3
    return 4 if times > 1 or score > 85 else 5


def final_strategy(score, opponent_score):
    global last_choice, last_score, last_opponent_score
    remember(score, opponent_score)
    last_choice, last_score, last_opponent_score = choose(score, opponent_score), score, opponent_score
    return last_choice
