"""A person at the keyboard: the player, and how a game is played by people.

A game is played as its ``controls.py`` reads what is typed (`dicegym.games.controls.Controls`), and by a numbered list
of its actions where it has none.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import lines
from dicegym.games.controls import GLUE, Controls, NumberedControls, legal_names, list_of, match_action
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, part
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

WIDTH = 80
"""Columns of a screen."""
PROMPT = "your move> "
TABLE_WORDS = frozenset({"table", "show", "look", "board", "card", "shop", "score", "scores"})
"""What shows the whole table, unless the game reads it as a move."""
COMMANDS = {
    "help": "what can be typed",
    "table": "the whole table",
    "list": "every action that is allowed, by number; `[3]` plays number 3",
}
"""What is understood in every game, and what it does."""
Words = Mapping[str, tuple[str, Callable[[Turn], str]]]
"""Words that a person may type when it is to move: what ``help`` says of each, nothing for one that it does not list,
and what answers it. An answer may raise, to leave the game."""


class HumanPlayer(Player):
    """Shows the table and asks until it gets a move that is allowed, as the game's `Controls` read it.

    Args:
        name: how reports call the person.
        ask: called with the question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
        names: what the others are called, by seat (default: ``player 0`` and so on).
        words: further words that are understood.
    """

    def __init__(
        self,
        name: str = "you",
        ask: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
        names: Sequence[str] | None = None,
        words: Words | None = None,
    ) -> None:
        self.name = name
        self._ask = ask
        self._show = show
        self._names = names
        self._words = dict(words or {})

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; EOFError and KeyboardInterrupt from the keyboard pass through."""
        names = self._names or [f"player {number}" for number in range(game.players)]
        return SeatedPerson(self, Place(game, seat, tuple(names)))

    def show(self, text: str) -> None:
        """Show text, lines that are too long wrapped at spaces."""
        self._show(wrap_lines(lines(text)))

    def question(self, prompt: str = PROMPT) -> str:
        """Return what is answered, in lower case and with single spaces."""
        return " ".join(self._ask(prompt).lower().replace("`", "").split())

    def answer(self, word: str, turn: Turn) -> bool:
        """Show the answer to a further word; return whether there is one."""
        if word not in self._words:
            return False
        self.show(self._words[word][1](turn))
        return True

    def help(self, keyboard: Controls, game: Game) -> str:
        """Return what can be typed."""
        helps = COMMANDS | {word: told for word, (told, _) in self._words.items() if told}
        width = max(map(len, helps))
        lines = [f"  {word:<{width}}  {meaning}" for word, meaning in helps.items()]
        rules = f"How it is played: dicegym games {game.name} --rules" if game.spec.registered else ""
        return "\n".join([keyboard.HELP, "And at any time:", *lines, *([rules] if rules else [])])


class SeatedPerson:
    """A person in a seat of one game.

    Attributes:
        place: where it sits.
        waiting: actions that were typed with the last answer and are still to be played.
        full: whether the next table is to be shown in full.
    """

    def __init__(self, person: HumanPlayer, place: Place) -> None:
        self.place = place
        self.waiting: list[int] = []
        self.full = True
        self._person = person
        self._keyboard = controls_of(place.game)

    def __call__(self, turn: Turn) -> int:
        """Return the next action: one that was typed before, or one that is asked for."""
        state, place, keyboard, person = turn.record, self.place, self._keyboard, self._person
        if not self.waiting:
            person.show(keyboard.table(place, state, self.full))
            self.full = False
        while not self.waiting:
            text = person.question()
            if text in ("help", "?", "h"):
                person.show(person.help(keyboard, place.game))
            elif text == "list":
                person.show(list_of(legal_names(place, state)))
            elif not text:
                person.show("Type a move, or `help`.")
            elif not person.answer(text, turn):
                self._read(turn, text)
        return self.waiting.pop(0)

    def _read(self, turn: Turn, text: str) -> None:
        try:
            self.waiting = list(self._keyboard.read(self.place, turn.record, text))
        except ParameterError as error:
            action = match_action(text, legal_names(self.place, turn.record), bare=False)
            if action is not None:
                self.waiting = [action]
            elif text in TABLE_WORDS:
                self._person.show(self._keyboard.table(self.place, turn.record, True))
            else:
                said = str(error) if len(text) < WIDTH else "that is more than one move: type less"
                self._person.show(f"{said[0].upper()}{said[1:]}.")


def controls_of(game: Game) -> Controls:
    """Return how a person plays a game: its own part, or a numbered list and buttons of its actions."""
    return part(game, CONTROLS) or NumberedControls()


def wrap_lines(text: str, width: int = WIDTH) -> str:
    """Return text whose lines fit, the rest of a line that does not being indented below it; `` `so` `` stays whole.

    So does a line of one word, which is to be copied.
    """
    lines = []
    whole = re.sub(r"`[^`\n]*`", lambda typed: typed[0].replace(" ", GLUE), text)
    for line in whole.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        several = " " in line.strip()
        wrapper = textwrap.TextWrapper(
            width - 1, subsequent_indent=indent, break_on_hyphens=False, break_long_words=several
        )
        lines += wrapper.wrap(line) or [""]
    return "\n".join(lines).replace(GLUE, " ")
