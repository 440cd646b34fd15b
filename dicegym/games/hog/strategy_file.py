"""A Hog strategy written as a file ``hog.py`` of the contest: text that needs nothing but Python."""

from __future__ import annotations

import numpy as np

from dicegym.errors import ParameterError
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE

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


def strategy_source(table: np.ndarray, heading: str) -> str:
    """Return the source of a bot that plays ``table``.

    The file defines ``final_strategy(score, opponent_score)``, the original interface, and imports nothing.

    Args:
        table: whole numbers[goal, goal] by (own score, opponent's score): number of dice, -1 to 10.
        heading: what the strategy is, how it was made, and how to make it again; becomes the head of the
            file's docstring. Lines of at most 110 characters.

    Raises:
        ParameterError: the table is not square, or holds something else than whole numbers from -1 to 10; or
            the heading does not fit into a docstring.
    """
    table = np.asarray(table)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size or table.dtype.kind not in "iu":
        raise ParameterError(
            f"a table of shape {table.shape} and dtype {table.dtype} is no strategy: "
            "give whole numbers, a row for each own score, a column for each score of the opponent"
        )
    if table.min() < FIRST_NUMBER or table.max() > MOST_DICE:
        raise ParameterError(
            f"a table with numbers of dice from {table.min()} to {table.max()} is no strategy: "
            f"give {FIRST_NUMBER} to {MOST_DICE}"
        )
    if '"""' in heading or "\\" in heading or heading.endswith('"'):
        raise ParameterError(f"the heading {heading!r} cannot stand in a docstring: no backslash, no triple quotes")
    rows = "\n".join("".join(CODE[number - FIRST_NUMBER] for number in row) for row in table.tolist())
    return _SOURCE.format(heading=heading.strip(), first=FIRST_NUMBER, code=CODE, rows=rows)
