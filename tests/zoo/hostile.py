"""What a hostile bot is: a few lines that go into a bot of any original interface, and what must become of it."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

GAMES = ("hog", "liarsdice", "liarsdice_spot_on", "lucky", "yatzy")


class Pays(enum.Enum):
    """What a bot pays for what it does."""

    NOTHING = "plays on, and its games end as if it had behaved"
    LOADING = "is struck before anything is played"
    ASKED = "is struck where the rules know no forfeit; elsewhere it loses what the rules say, in its own games"


class Hostile(NamedTuple):
    """A bot that means harm."""

    name: str
    pays: Pays
    reason: str = ""
    """Of the verdict, as a regular expression."""
    ask: str = "pass"
    """What it does whenever it is asked. It may look at ``asked``, the number of the question, and ``late``: whether
    this is a match and no test, and not its first question."""
    head: str = ""
    """What it does when it is loaded."""
    number: str = ""
    """What it answers where a number is wanted, as an expression; empty: a number that is right."""
    answer: str = ""
    """What it answers as a whole."""
    games: tuple[str, ...] = GAMES
    jail: bool = False
    """Whether nothing less than a jail holds it."""
    twice: bool = False
    """Whether it plays two matches: what it leaves behind is for the next one."""
    only: tuple[str, str] | None = None
    """(game, reason) where the verdict of one game has other words."""

    def words(self, game: str) -> str:
        """Return the regular expression that the reason must match in ``game``."""
        return self.only[1] if self.only and self.only[0] == game else self.reason

    def source(self, game: str) -> str:
        """Return its text in a game's interface."""
        text, number, whole = INTERFACES[game]
        answer = self.answer or (whole.replace("@NUMBER", self.number) if self.number else "")
        rest = f"return {answer}" if answer else "pass"
        indent = " " * (text[: text.index("@ASK")].rpartition("\n")[2].count(" "))
        body = textwrap.indent(f"{textwrap.dedent(self.ask).strip()}\n{rest}", indent).strip()
        return (
            text.replace("@HEAD", textwrap.dedent(self.head).strip()).replace("@ASK", body).replace("@NUMBER", number)
        )


def meek(animal: Hostile) -> Hostile:
    """Return the bot of the same name that does no harm, and plays as the hostile one does otherwise."""
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
"""Of each game: a bot's text, the number in a right answer, and the answer around a number."""


class Stranger(NamedTuple):
    """A file that somebody sends, bot or not."""

    name: str
    make: Callable[[Path], None]
    """Makes it at a path."""
    reason: str
    """Why it is struck, as a regular expression; empty: it is not, and plays."""
