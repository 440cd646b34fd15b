"""Hostile bots: a few lines inserted into a bot of any original interface, and the expected verdict."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

GAMES = ("hog", "liarsdice", "liarsdice_spot_on", "lucky", "yatzy")


class Pays(enum.Enum):
    """The penalty for a bot."""

    NOTHING = "none: its games end as if it had behaved"
    LOADING = "it is disqualified before anything is played"
    ASKED = "it is disqualified if the rules have no forfeit; otherwise it loses what the rules say, in its own games"


class Hostile(NamedTuple):
    """A hostile bot."""

    name: str
    pays: Pays
    reason: str = ""
    """Regular expression for the reason in the verdict."""
    ask: str = "pass"
    """Code for each question. It may use ``asked``, the number of the question, and ``late``: whether this is a match,
    not the test, and not its first question."""
    head: str = ""
    """Code at the top of its file."""
    number: str = ""
    """Expression for a number in its answer; empty: a correct number."""
    answer: str = ""
    """Expression for its whole answer."""
    games: tuple[str, ...] = GAMES
    jail: bool = False
    """Whether only a jail can hold it."""
    twice: bool = False
    """Whether it plays two matches, because it leaves something for the next one."""

    def source(self, game: str) -> str:
        """Return its source in a game's interface."""
        text, number, whole = INTERFACES[game]
        answer = self.answer or (whole.replace("@NUMBER", self.number) if self.number else "")
        rest = f"return {answer}" if answer else "pass"
        indent = " " * (text[: text.index("@ASK")].rpartition("\n")[2].count(" "))
        body = textwrap.indent(f"{textwrap.dedent(self.ask).strip()}\n{rest}", indent).strip()
        return (
            text.replace("@HEAD", textwrap.dedent(self.head).strip()).replace("@ASK", body).replace("@NUMBER", number)
        )


def meek(animal: Hostile) -> Hostile:
    """Return a harmless bot of the same name that otherwise plays the same."""
    return Hostile(animal.name, Pays.NOTHING, twice=animal.twice)


FOUND = """
class Found(BaseException):
    pass
"""

_TOP = f"""{FOUND.strip()}

asked = 0
@HEAD
"""
INTERFACES = {
    "hog": (
        _TOP
        + """

def final_strategy(score, opponent_score):
    global asked
    asked += 1
    late = (score, opponent_score) != divmod(asked - 1, @GOAL)
    @ASK
    return @NUMBER
""",
        "6",
        "@NUMBER",
    ),
    "liarsdice": (
        _TOP
        + """

def get_play(me, hands, history):
    global asked
    asked += 1
    late = asked > 1
    @ASK
    return 0 if history else @NUMBER
""",
        "11",
        "@NUMBER",
    ),
    "liarsdice_spot_on": (
        _TOP
        + """
from player import Player

class Mine(Player):
    def move(self, bids, player_dice, n_dice):
        global asked
        asked += 1
        late = asked > 1
        @ASK
        return "Liar" if bids else (@NUMBER, 2)
""",
        "1",
        "(@NUMBER, 2)",
    ),
    "lucky": (
        _TOP
        + """
from bot import Bot

class Mine(Bot):
    def get_orders(self, money, dice, index, shop):
        global asked
        asked += 1
        late = asked > 1
        @ASK
        return [@NUMBER] if money[index] > 20 and shop[0] else []
""",
        "0",
        "[@NUMBER]",
    ),
    "yatzy": (
        _TOP
        + """

def command(standing):
    global asked
    asked += 1
    late = asked > 1
    @ASK
    mover = standing["currentPlayer"]["playerName"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover)
    box = scores.split(",").index("-") + 1
    return {"type": "SCORE_BOX", "box": @NUMBER, "dice": [0, 1, 2, 3, 4]}
""",
        "box",
        '{"type": "SCORE_BOX", "box": @NUMBER, "dice": [0, 1, 2, 3, 4]}',
    ),
}
"""For each game: a bot's source, the number in a correct answer, and the answer around a number."""


class Stranger(NamedTuple):
    """A submitted file, which may not be a bot."""

    name: str
    make: Callable[[Path], None]
    """Creates it at a path."""
    reason: str
    """Regular expression for the reason of its disqualification; empty: it plays."""
