"""A person at the keyboard."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import lines
from dicegym.games.keyboard import Keyboard, Place
from dicegym.games.parts import KEYBOARD, part
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players import numbered

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


class HumanPlayer(Player):
    """Shows the table and asks until it gets a move that is allowed, as the game's ``controls.py`` reads it.

    A game without one is played by a numbered list of its actions.

    Args:
        name: how reports call the person.
        ask: called with the question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
        names: what the others are called, by seat (default: ``player 0`` and so on).
        commands: words that are understood besides; each is called, and may raise to leave the game.
        helps: what ``help`` says of them.
        answers: words that are answered with a text about the person's turn: each is called with it.
    """

    def __init__(
        self,
        name: str = "you",
        ask: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
        names: Sequence[str] | None = None,
        commands: Mapping[str, Callable[[], None]] | None = None,
        helps: Mapping[str, str] | None = None,
        answers: Mapping[str, Callable[[Turn], str]] | None = None,
    ) -> None:
        self.name = name
        self._ask = ask
        self._show = show
        self._names = names
        self._commands = dict(commands or {})
        self._helps = COMMANDS | dict(helps or {})
        self._answers = dict(answers or {})

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; EOFError and KeyboardInterrupt from the keyboard pass through."""
        names = self._names or [f"player {number}" for number in range(game.players)]
        return SeatedPerson(self, Place(game, seat, tuple(names)))

    def show(self, text: str) -> None:
        """Show text, lines that are too long wrapped at spaces."""
        self._show(wrapped(lines(text)))

    def question(self, prompt: str = PROMPT) -> str:
        """Return what is answered, in lower case and with single spaces."""
        return " ".join(self._ask(prompt).lower().replace("`", "").split())

    def command(self, word: str) -> bool:
        """Carry out a command besides; return whether ``word`` is one."""
        if word not in self._commands:
            return False
        self._commands[word]()
        return True

    def answer(self, word: str, turn: Turn) -> str | None:
        """Return what is told of a turn when ``word`` is typed; None if it is no such word."""
        return self._answers[word](turn) if word in self._answers else None

    def help(self, keyboard: Keyboard, game: Game) -> str:
        """Return what can be typed."""
        width = max(map(len, self._helps))
        lines = [f"  {word:<{width}}  {meaning}" for word, meaning in self._helps.items()]
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
        self._keyboard = keyboard_of(place.game)

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
                person.show(numbered.list_of(numbered.legal_names(place, state)))
            elif not text:
                person.show("Type a move, or `help`.")
            elif (told := person.answer(text, turn)) is not None:
                person.show(told)
            elif not person.command(text):
                self._read(turn, text)
        return self.waiting.pop(0)

    def _read(self, turn: Turn, text: str) -> None:
        try:
            self.waiting = list(self._keyboard.read(self.place, turn.record, text))
        except ParameterError as error:
            action = numbered.meant(text, numbered.legal_names(self.place, turn.record), bare=False)
            if action is not None:
                self.waiting = [action]
            elif text in TABLE_WORDS:
                self._person.show(self._keyboard.table(self.place, turn.record, True))
            else:
                said = str(error) if len(text) < WIDTH else "that is more than one move: type less"
                self._person.show(f"{said[0].upper()}{said[1:]}.")


def keyboard_of(game: Game) -> Keyboard:
    """Return how a person plays a game: its own part, or a numbered list of its actions."""
    own = part(game, KEYBOARD)
    return numbered if own is None else own


def wrapped(text: str, width: int = WIDTH) -> str:
    """Return text whose lines fit, the rest of a line that does not being indented below it; `` `so` `` stays whole.

    So does a line of one word, which is to be copied.
    """
    lines = []
    whole = re.sub(r"`[^`\n]*`", lambda typed: typed[0].replace(" ", numbered.GLUE), text)
    for line in whole.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        several = " " in line.strip()
        wrapper = textwrap.TextWrapper(
            width - 1, subsequent_indent=indent, break_on_hyphens=False, break_long_words=several
        )
        lines += wrapper.wrap(line) or [""]
    return "\n".join(lines).replace(numbered.GLUE, " ")
