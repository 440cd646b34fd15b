"""How a bot for Hog is written: the original interface in words, and a file to begin with."""

from __future__ import annotations

INTERFACE = """\
A file hog.py (hog_contest.py and final_strategy.py are names of it too), or a folder with one in it, that defines

    final_strategy(score, opponent_score) -> number of dice

It is asked once a turn, with two whole numbers from 0 to 99 (less than the goal), and returns a whole number from
-1 to 10. Those are all calls there are:

    final_strategy(0, 0) -> 6      roll six dice
    final_strategy(12, 70) -> 0    Free bacon: 1 + 7 points
    final_strategy(50, 60) -> -1   1 point, and the dice are exchanged

What the scores do not tell, runs of Pig outs and exchanged dice, a strategy has to remember itself.

The test before a contest asks for all pairs of scores, one after the other: final_strategy(0, 0), (0, 1), ... (99,
99). A strategy that raises an error, or returns anything else than a whole number from -1 to 10, is disqualified,
then or in a match. One that is random is asked once for each pair, and the table of its answers is what its exact
win rate is of.

The file may be the whole course project: `from dice import four_sided, six_sided, make_test_dice` and `from ucb
import main, trace, log_current_line, interact` work, and @main does not run the program.
"""

_SOURCE = '''"""My strategy for Hog: bacon where it swaps for the better or ends the game, else eight dice.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game hog
The rules:  dicegym rules hog
"""

PURE = True  # the same scores always get the same answer; take this line out if you remember or draw anything

GOAL = 100


def bacon(opponent_score):
    """Return what rolling no dice scores: one more than the largest digit of the opponent's score."""
    return 1 + max(int(digit) for digit in str(opponent_score))


def swaps(score, opponent_score):
    """Return whether the scores are exchanged: the last two digits of one are those of the other, reversed."""
    return f"{{score:02}}"[-2:] == f"{{opponent_score:02}}"[-2:][::-1]


def final_strategy(score, opponent_score):
    """Return how many dice to roll: 1 to 10; 0 for bacon; -1 for 1 point and the other dice from the next turn on.

    score, opponent_score: whole numbers, below 100 each.
    """
    after = score + bacon(opponent_score)
    if after >= GOAL:
        return 0  # that wins
    if swaps(after, opponent_score):
        return 0 if after < opponent_score else 8  # take the better score, and keep it
    # print(score, opponent_score)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()                  # stops here under `dicegym check ... --debug`
    return 8  # many Pig outs, which Pig Fest pays for
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Starter`."""
    return _SOURCE.format(file=file)
