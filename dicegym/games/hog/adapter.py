"""Bots of Hog: strategies as players, the test before the contest, players as files, and a file to begin with.

The bot's own half is ``interface.py``. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.errors import AgentError, ParameterError, one_line
from dicegym.escape import docstring
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE
from dicegym.games.hog.twins import every_situation, situations
from dicegym.play.player import Player, draws_openly
from dicegym.play.turn import Act, Turn

UNIT = "questions"
"""What the test consists of; see `dicegym.games.parts.Adapter`."""
RUNS, PARITIES = LONGEST_RUN + 1, 2
"""How many runs and parities of exchanges there are to remember."""


def action_of(name: str, answer: object, score: int, opponent_score: int) -> int:
    """Return the action that a strategy's ``answer`` means. Raises AgentError unless it is a number -1..10."""
    if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
        return answer - FIRST_NUMBER
    asked = f"{ENTRY_POINT}({score}, {opponent_score})"
    if not is_whole_number(answer):
        if callable(answer):
            raise AgentError(name, f"{asked} returned a function instead of a number")
        called = type(answer).__name__
        kind = "" if answer is None else f", {'an' if called[0] in 'aeiou' else 'a'} {called}"
        raise AgentError(name, f"{asked} returned {_shown(answer)}{kind} instead of an integer")
    if not FIRST_NUMBER <= answer <= MOST_DICE:
        raise AgentError(name, f"{asked} returned {_shown(answer)}, outside {FIRST_NUMBER}..{MOST_DICE}")
    return int(answer) - FIRST_NUMBER


def _shown(answer: object) -> str:
    try:
        return one_line(repr(answer), 60)
    except Exception:
        return "something"


def examine(game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
    """Ask ``player`` for every pair of scores once; return the numbers of dice: int8[goal, goal], own score first.

    In a game with ``memory`` a player that is told more than both scores is asked for every pair with everything that
    there is to remember: int8[goal, goal, RUNS, PARITIES], also by the own run of Pig outs and the parity of the own
    exchanges. ``asked(i)`` is called before question i. Raises AgentError.
    """
    goal, act = game.parameters["goal"], player.join(game, 0, 0)
    by_scores_alone = hasattr(act, "many")  # that of `sit`
    remembered = (RUNS, PARITIES) if game.parameters["memory"] and not by_scores_alone else ()
    tables = []
    for number, (run, parity) in enumerate(np.ndindex(remembered or (1, 1))):
        first, last = number * goal * goal, (number + 1) * goal * goal - 1
        if player.pure and not by_scores_alone:
            asked(last)
            states = every_situation(game)
            states["runs"][:, 0], states["exchanges"][:, 0] = run, parity
            tables.append(_examine_at_once(game, player, states))
            continue
        actions = _actions(game, player, player.join(game, 0, 0) if number else act, run, parity)
        table = np.empty(goal * goal, np.int8)
        for i in range(goal * goal):
            asked(first + i)
            table[i] = next(actions) + FIRST_NUMBER
        tables.append(table)
    return np.stack(tables, axis=-1).reshape(goal, goal, *remembered)


def _actions(game: Game, player: Player, act: Act, run: int, parity: int) -> Iterator[int]:
    """Yield what a seated player chooses for every pair of scores, one after the other."""
    pairs = [divmod(i, game.parameters["goal"]) for i in range(game.parameters["goal"] ** 2)]
    many: Many | None = getattr(act, "many", None)
    if many is not None:
        yield from many(pairs)
        return
    state = game.new_game()[0]
    state["runs"][0], state["exchanges"][0] = run, parity
    turn = Turn(game, state, 0)
    for pair in pairs:
        state["scores"] = pair
        yield action_of(player.name, act(turn) + FIRST_NUMBER, *pair)


def _examine_at_once(game: Game, player: Player, states: np.ndarray) -> np.ndarray:
    """Ask a pure player for all pairs of scores in one call: a network takes milliseconds instead of seconds."""
    actions = player.act_rows(game, states, np.arange(len(states)), np.zeros(len(states), np.int64))
    if actions.dtype == np.int64 and actions.min() >= 0 and actions.max() <= MOST_DICE - FIRST_NUMBER:
        return (actions + FIRST_NUMBER).astype(np.int8)
    asked = zip(actions.tolist(), states["scores"].tolist(), strict=True)
    numbers = [action_of(player.name, action + FIRST_NUMBER, *pair) + FIRST_NUMBER for action, pair in asked]
    return np.array(numbers, np.int8)


def actions(game: Game, answers: np.ndarray) -> np.ndarray | None:
    """Return the action in each situation of `dicegym.games.hog.twins`: the pairs of scores in the same order.

    None if that numbers none.
    """
    numbered = situations(game) is not None
    return answers.ravel().astype(np.int64) - FIRST_NUMBER if numbered else None


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    remembered, pair = divmod(i, game.parameters["goal"] ** 2)
    score, opponent_score = divmod(pair, game.parameters["goal"])
    run, parity = divmod(remembered, PARITIES)
    told = f" with a run of {run} and {parity} exchanges" if remembered else ""
    return f"{ENTRY_POINT}({score}, {opponent_score}){told}"


# --- bots as players ---

Many = Callable[[Sequence[tuple[int, ...]]], Iterator[Any]]
"""Asks a strategy for many pairs of scores; one in another process gets them without waiting for each answer."""


def sit(program: Asked, strategy: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``strategy`` for actions; its attribute ``many`` yields the action of each of many views."""
    ask_many: Many = getattr(strategy, "many", functools.partial(itertools.starmap, strategy))

    def act(turn: Turn) -> int:
        score, opponent_score, *_ = turn.view
        try:
            answer = strategy(score, opponent_score)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}({score}, {opponent_score})") from error
        return action_of(program.name, answer, score, opponent_score)

    def act_on_many(views: Sequence[tuple[int, ...]]) -> Iterator[int]:
        pairs = [(score, opponent_score) for score, opponent_score, *_ in views]
        answers = ask_many(pairs)
        for pair in pairs:
            try:
                answer = next(answers)
            except BaseException as error:
                raise program.failure(error, f"in {ENTRY_POINT}{pair}") from error
            yield action_of(program.name, answer, *pair)

    vars(act)["many"] = act_on_many
    return act


# --- players as files ---

KNOWS_NO_MEMORY = (
    "final_strategy(score, opponent_score) is asked once for each pair of scores, before the game, and so knows no run "
    "of Pig outs and no exchanges; players with memory=1 play by themselves in dicegym"
)
_SPECIAL = {-1: "-", 10: "T"}
CODE = "".join(_SPECIAL.get(number, str(number)) for number in range(FIRST_NUMBER, MOST_DICE + 1))
"""One character for each number of dice, the smallest number first."""

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
    """Return a table as int8[goal, goal], if it chooses by both scores alone; else None."""
    goal = len(table)
    choices = table.reshape(goal, goal, -1)
    plain = choices[:, :, 0]
    return np.ascontiguousarray(plain) if (choices == plain[:, :, None]).all() else None


def strategy_source(table: np.ndarray, heading: str) -> str:
    """Return the source of a bot that plays ``table``: a file of the original interface, which imports nothing.

    Args:
        table: a strategy of Hog, as in `dicegym.games.hog.exact`.
        heading: what the strategy is, and how to make it again; becomes the head of the file's docstring. Lines of at
            most 110 characters, without backslashes and quotes.

    Raises ParameterError if it chooses by more than both scores, which the original interface cannot carry.
    """
    plain = by_scores(table)
    if plain is None:
        differing = int((table != table[:, :, :1, :1]).any(axis=(2, 3)).sum())
        raise ParameterError(
            f"this strategy cannot be written as a bot: in {differing:,} of {len(table) ** 2:,} pairs of scores it "
            f"chooses by what it remembers too, and {KNOWS_NO_MEMORY}"
        )
    rows = "\n".join("".join(CODE[number - FIRST_NUMBER] for number in row) for row in plain.tolist())
    return _FILE.format(heading=heading, first=FIRST_NUMBER, code=CODE, rows=rows)


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`."""
    if draws_openly(player):
        raise ParameterError(
            f"{player.name!r} draws its actions, and files of {game.spec.title} are asked for each pair of scores "
            "once: export its best actions, at temperature 0"
        )
    heading = f"The choices of {docstring(player.name)} in Hog, written out.\n\nMade by `dicegym export`."
    return strategy_source(examine(game, player, lambda question: None), heading)


# --- a file to begin with ---

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

_STARTER = '''"""My strategy for Hog: bacon where it swaps for the better or ends the game, else eight dice.

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
        return 0  # that wins
    if swaps(after, opponent_score):
        return 0 if after < opponent_score else 8  # take the better score, and keep it
    # print(score, opponent_score)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()                  # stops here under `dicegym check ... --debug`
    return 8  # many Pig outs, which Pig Fest pays for
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _STARTER.format(file=file)
