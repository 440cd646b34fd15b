"""Remember: tell a run of Pig outs from how the own score moved, and cash it in.

After a Pig out the next good turn counts double or, after three in a row, triple (Pig Fest). Nobody is told
about it, but whoever rolled dice and gained exactly one point knows. So this strategy keeps what it chose and
what it had. Without a run it rolls many dice: a Pig out then is no loss but an investment. Once the run
promises a multiplier it rolls only as many as the goal still needs, to cash in. Scores that fall back mean
a swap or a new game, and the memory starts anew.
"""

memory = {"choice": None, "score": 0, "opponent_score": 0, "run": 0}


def swaps(score, opponent_score):
    return score % 100 == 10 * (opponent_score % 10) + opponent_score // 10 % 10


def remember(score, opponent_score):
    """Update the run of Pig outs from what happened since we were last asked."""
    if memory["choice"] is None or score < memory["score"] or opponent_score < memory["opponent_score"]:
        memory["run"] = 0  # a new game, or a swap that hides what happened
    elif memory["choice"] > 0 and score == memory["score"] + 1:
        memory["run"] = min(memory["run"] + 1, 3)
    else:
        memory["run"] = 0


def choose(score, opponent_score, run):
    """Return the number of dice for these scores and RUN Pig outs in a row."""
    times = max(1, run)
    bacon = (1 + max(int(digit) for digit in str(opponent_score))) * times
    after = score + bacon
    if swaps(after, opponent_score):
        if opponent_score > after:
            return 0
    elif after >= 100:
        return 0
    if run < 2:
        return 8 if score < 80 else 4
    small_dice = (score + opponent_score) % 7 == 0
    needed = -(-(100 - score) // (times * 4))  # dice that finish the game with a middling roll
    return max(2, min(6 if small_dice else 7, needed))


def final_strategy(score, opponent_score):
    remember(score, opponent_score)
    choice = choose(score, opponent_score, memory["run"])
    memory.update(choice=choice, score=score, opponent_score=opponent_score)
    return choice
