"""Bots of Hog: strategies as players, players as files, and a file to begin with.

The bot's own half is ``interface.py``. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import docstring
from dicegym.games.hog.examination import SCORES_ALONE, action_of, examine
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE
from dicegym.games.hog.strategy_file import strategy_source
from dicegym.play.player import Player, draws_openly
from dicegym.play.turn import Act, Turn


def sit(program: Asked, strategy: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``strategy`` for actions."""

    def act(turn: Turn) -> int:
        score, opponent_score, *_ = turn.view
        try:
            answer = strategy(score, opponent_score)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}({score}, {opponent_score})") from error
        if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
            return answer - FIRST_NUMBER
        return action_of(program.name, answer, score, opponent_score)

    vars(act)[SCORES_ALONE] = True
    return act


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`."""
    if draws_openly(player):
        raise ParameterError(
            f"{player.name!r} draws its actions, and files of {game.spec.title} are asked for each pair of scores "
            "once: export its best actions, at temperature 0"
        )
    heading = f"The choices of {docstring(player.name)} in Hog, written out.\n\nMade by `dicegym export`."
    return strategy_source(examine(game, player, lambda question: None), heading)


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
The rules:  dicegym games hog --rules
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
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _SOURCE.format(file=file)
