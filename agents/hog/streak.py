"""Remember: tell a run of Pig outs from how the own score moved, and cash it in.

After a Pig out the next good turn counts double or, after three in a row, triple (Pig Fest). Nobody is told
about it, but whoever rolled dice and gained exactly one point knows. So this strategy keeps what it chose and
what it had. Without a run it rolls many dice: a Pig out then is no loss but an investment. Once the run
promises a multiplier it rolls only as many as the goal still needs, to cash in. Scores that fall back mean
a swap or a new game, and the memory starts anew.
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
    if run < 2:
        return 8 if score < 80 else 4
    needed = -(-(100 - score) // (times * 4))  # dice that finish the game with a middling roll
    return max(2, min(6 if small_dice else 7, needed))


def final_strategy(score, opponent_score):
    global last_choice, last_score, last_opponent_score
    remember(score, opponent_score)
    last_choice, last_score, last_opponent_score = choose(score, opponent_score), score, opponent_score
    return last_choice
