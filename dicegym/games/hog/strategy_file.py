"""A Hog strategy written as a file ``hog.py`` of the contest: text that needs nothing but Python."""

from __future__ import annotations

import numpy as np

from dicegym.errors import ParameterError
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE

KNOWS_NO_MEMORY = (
    "final_strategy(score, opponent_score) is asked once for each pair of scores, before the game, and so knows no run "
    "of Pig outs and no exchanges; players with memory=1 play by themselves in dicegym"
)
_SPECIAL = {-1: "-", 10: "T"}
CODE = "".join(_SPECIAL.get(number, str(number)) for number in range(FIRST_NUMBER, MOST_DICE + 1))
"""One character for each number of dice, the smallest number first."""

_SOURCE = '''"""{heading}

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
    return _SOURCE.format(heading=heading, first=FIRST_NUMBER, code=CODE, rows=rows)
