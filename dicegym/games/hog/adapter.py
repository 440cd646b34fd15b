"""Bots of Hog: strategies as players, the test before a contest, players as files, and a starter file.

``interface.py`` is the bot's half. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dicegym.bots.calls import show_value
from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.errors import AgentError, ParameterError
from dicegym.escape import docstring
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE
from dicegym.games.hog.twins import every_situation, situations
from dicegym.play.player import Player, draws_openly
from dicegym.play.turn import Act, Turn

RUNS, PARITIES = LONGEST_RUN + 1, 2
"""Numbers of different runs, and of parities of exchanges, that a player can remember."""


def action_of(name: str, answer: object, score: int, opponent_score: int) -> int:
    """Return the action for a strategy's ``answer``. Raises AgentError unless it is a whole number -1..10."""
    if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
        return answer - FIRST_NUMBER
    asked = f"{ENTRY_POINT}({score}, {opponent_score})"
    if not is_whole_number(answer):
        called = type(answer).__name__
        kind = "" if answer is None else f", {'an' if called[0] in 'aeiou' else 'a'} {called}"
        raise AgentError(name, f"{asked} returned {show_value(answer, 60)}{kind} instead of an integer")
    if not FIRST_NUMBER <= answer <= MOST_DICE:
        raise AgentError(name, f"{asked} returned {show_value(answer, 60)}, outside {FIRST_NUMBER}..{MOST_DICE}")
    return int(answer) - FIRST_NUMBER


def examine(game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
    """Ask ``player`` once for every pair of scores; return the numbers of dice: int8[goal, goal], own score first.

    In a game with ``memory``, a player that sees more than both scores is asked for each pair with everything that it
    can remember: int8[goal, goal, RUNS, PARITIES], by its own run of Pig outs and the parity of its own exchanges too.
    ``asked(i)`` is called before question i. Raises AgentError.
    """
    act, states = player.join(game, 0, 0), every_situation(game)
    by_scores_alone = hasattr(act, "many")  # a bot of the original interface, seated by `sit`
    remembered = (RUNS, PARITIES) if game.parameters["memory"] and not by_scores_alone else ()
    pairs = list(map(tuple, states["scores"].tolist()))  # as errors show them
    numbers = np.empty((len(pairs), *(remembered or (1, 1))), np.int8)
    for block, (run, parity) in enumerate(np.ndindex(numbers.shape[1:])):
        states["runs"][:, 0], states["exchanges"][:, 0] = run, parity
        first = block * len(pairs)
        if by_scores_alone:
            actions = act.many(pairs)  # type: ignore[attr-defined]  # it has it
        elif player.pure:  # at once: a network takes milliseconds instead of seconds
            asked(first + len(pairs) - 1)
            each = np.arange(len(pairs))
            actions = iter(player.act_rows(game, states, each, np.zeros_like(each)).tolist())
        else:
            seated = player.join(game, 0, 0) if block else act
            actions = (seated(Turn(game, state, 0)) for state in states)
        for i, pair in enumerate(pairs):
            if by_scores_alone or not player.pure:
                asked(first + i)
            numbers[i, run, parity] = action_of(player.name, next(actions) + FIRST_NUMBER, *pair) + FIRST_NUMBER
    return numbers.reshape(*[game.parameters["goal"]] * 2, *remembered)


def actions(game: Game, answers: np.ndarray) -> np.ndarray | None:
    """Return the action in each situation of `dicegym.games.hog.twins`, a pair of scores; None without situations."""
    return None if situations(game) is None else answers.ravel().astype(np.int64) - FIRST_NUMBER


def question(game: Game, i: int) -> str:
    """Return question ``i`` of `examine` as text."""
    remembered, pair = divmod(i, game.parameters["goal"] ** 2)
    run, parity = divmod(remembered, PARITIES)
    told = f" with a run of {run} and {parity} exchanges" if remembered else ""
    return f"{ENTRY_POINT}{divmod(pair, game.parameters['goal'])}{told}"


# --- bots as players ---


def sit(program: Asked, strategy: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return the function that asks ``strategy`` for an action.

    Its attribute ``many`` yields an action for each of many views. A strategy in another process then receives all of
    them without waiting for each answer.
    """
    ask_many = getattr(strategy, "many", functools.partial(itertools.starmap, strategy))

    def action(pair: tuple[int, ...], ask: Callable[..., Any], *arguments: Any) -> int:
        try:
            answer = ask(*arguments)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}{pair}") from error
        return action_of(program.name, answer, *pair)

    def act(turn: Turn) -> int:
        pair = turn.view[:2]
        return action(pair, strategy, *pair)

    def act_on_many(views: Sequence[tuple[int, ...]]) -> Iterator[int]:
        pairs = [view[:2] for view in views]
        answers = ask_many(pairs)
        return (action(pair, next, answers) for pair in pairs)

    vars(act)["many"] = act_on_many
    return act


# --- players as files ---

CODE = "-0123456789T"
"""One character for each number of dice, from -1 to 10."""

_FILE = '''"""{heading}

TABLE holds the choice for every pair of scores: row = own score, column = opponent's score, one character for
a number of dice: - is -1, 0 to 9 are themselves, T is 10.
"""

PURE = True  # the same scores always get the same answer

CODE = "{code}"
FEWEST = {first}
TABLE = """
{rows}
"""
ROWS = TABLE.split()


def final_strategy(score, opponent_score):
    """Return the number of dice to roll; scores beyond the table count as its last."""
    last = len(ROWS) - 1
    row = ROWS[max(0, min(score, last))]
    return CODE.index(row[max(0, min(opponent_score, last))]) + FEWEST
'''


def by_scores(table: np.ndarray) -> np.ndarray | None:
    """Return a table as int8[goal, goal] if it chooses by both scores alone, else None."""
    goal = len(table)
    choices = table.reshape(goal, goal, -1)
    plain = choices[:, :, 0]
    return np.ascontiguousarray(plain) if (choices == plain[:, :, None]).all() else None


def strategy_source(table: np.ndarray, heading: str) -> str:
    """Return the source of a bot that plays ``table``: a file of the original interface, without imports.

    Args:
        table: a strategy of Hog, as in `dicegym.games.hog.exact`.
        heading: a description of the strategy and how to make it again, for the file's docstring. Lines of at most 110
            characters, without backslashes and quotes.

    Raises ParameterError if it chooses by more than both scores: the original interface passes nothing else.
    """
    plain = by_scores(table)
    if plain is None:
        differing = int((table != table[:, :, :1, :1]).any(axis=(2, 3)).sum())
        raise ParameterError(
            f"this strategy cannot be written as a bot: in {differing:,} of {len(table) ** 2:,} pairs of scores it "
            f"also uses what it remembers, but {ENTRY_POINT}(score, opponent_score) is asked once for each pair of "
            "scores, before the game: let the player play in dicegym, with memory=1"
        )
    rows = "\n".join("".join(CODE[number - FIRST_NUMBER] for number in row) for row in plain.tolist())
    return _FILE.format(heading=heading, first=FIRST_NUMBER, code=CODE, rows=rows)


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays like ``player``; see `dicegym.bots.export`."""
    if draws_openly(player):
        raise ParameterError(
            f"{player.name!r} draws its actions, but files of {game.spec.title} are asked once for each pair of "
            "scores: export its best actions, at temperature 0"
        )
    heading = f"The choices of {docstring(player.name)} in Hog, written out.\n\nMade by `dicegym export`."
    return strategy_source(examine(game, player, lambda question: None), heading)


# --- starter ---

INTERFACE = """\
A file hog.py (also hog_contest.py or final_strategy.py), or a folder with one in it, that defines

    final_strategy(score, opponent_score) -> number of dice

It is called once a turn, with two whole numbers from 0 to 99 (less than the goal), and returns a whole number from
-1 to 10. There are no other calls:

    final_strategy(0, 0) -> 6      roll six dice
    final_strategy(12, 70) -> 0    Free bacon: 1 + 7 points
    final_strategy(50, 60) -> -1   1 point, and the dice are exchanged

Runs of Pig outs and exchanges of the dice are not passed: a strategy has to remember them itself.

The test before a contest asks for all pairs of scores in order: final_strategy(0, 0), (0, 1), ... (99, 99). A
strategy that raises an error, or returns anything but a whole number from -1 to 10, is disqualified, in the test or
in a match. A random strategy is asked once for each pair; its exact win rate is that of this table of answers.

The file may be the whole course project: `from dice import four_sided, six_sided, make_test_dice` and `from ucb
import main, trace, log_current_line, interact` work, and @main does not run the program.
"""

_STARTER = '''"""My strategy for Hog: bacon if it makes a good swap or wins the game, otherwise eight dice.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game hog
The rules:  dicegym games hog --rules
"""

PURE = True  # the same scores always get the same answer; take this line out if you remember or draw anything

GOAL = 100


def swaps(score, opponent_score):
    """Return whether the scores are exchanged: the last two digits of one are those of the other, reversed."""
    return f"{{score:02}}"[-2:] == f"{{opponent_score:02}}"[-2:][::-1]


def final_strategy(score, opponent_score):
    """Return how many dice to roll: 1 to 10; 0 for bacon; -1 for 1 point and the other dice from the next turn on.

    score, opponent_score: whole numbers, below 100 each.
    """
    after = score + 1 + max(int(digit) for digit in str(opponent_score))  # by bacon
    if after >= GOAL:
        return 0  # win the game
    if swaps(after, opponent_score):
        return 0 if after < opponent_score else 8  # swap for a better score, but not for a worse one
    # print(score, opponent_score)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()                  # stops here under `dicegym check ... --debug`
    return 8  # many Pig outs, but Pig Fest multiplies the next turn
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _STARTER.format(file=file)
