"""A person at the keyboard or on a page: the player, and what replaces a game's own keyboard and controls.

A game with a ``controls.py`` is played as that reads what is typed (`dicegym.games.keyboard.Keyboard`), and shows its
forms (`dicegym.games.web_controls.Controls`). Any other one is played by a numbered list of its actions, and by
buttons.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import lines, one_line
from dicegym.games.keyboard import Keyboard, Place, list_names, name_winners, unread, winners
from dicegym.games.parts import CONTROLS, KEYBOARD, part
from dicegym.games.web_controls import Controls, Fields, Option, PickOne, PlayForm
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
MOST_LISTED = 24
"""Actions that are shown unasked; where more are legal, ``list`` shows them all."""
_GLUE = "\N{NO-BREAK SPACE}"
"""Stands for spaces at which lines do not end."""
Words = Mapping[str, tuple[str, Callable[[Turn], str]]]
"""Words that a person may type when it is to move: what ``help`` says of each, nothing for one that it does not list,
and what answers it. An answer may raise, to leave the game."""


class HumanPlayer(Player):
    """Shows the table and asks until it gets a move that is allowed, as the game's `Keyboard` reads it.

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

    def help(self, keyboard: Keyboard, game: Game) -> str:
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


def keyboard_of(game: Game) -> Keyboard:
    """Return how a person plays a game: its own part, or a numbered list of its actions."""
    own = part(game, KEYBOARD)
    return NumberedKeyboard() if own is None else own


def controls_of(game: Game) -> Controls:
    """Return how a person plays a game on a page: its own part, or a button for each legal action."""
    own = part(game, CONTROLS)
    return ActionButtons() if own is None else own


def legal_names(place: Place, state: Any) -> dict[int, str]:
    """Return the name of each legal action, by its number."""
    return {int(action): place.game.action_name(int(action)) for action in np.flatnonzero(place.game.legal(state))}


def list_of(names: Mapping[int, str], most: int | None = None) -> str:
    """Return actions as a numbered list, the middle left out if there are more than ``most``."""
    shown = [f"[{action}] {name}" for action, name in names.items()]
    if most is not None and len(shown) > most:
        left_out = len(shown) - most
        shown[most // 2 : len(shown) - most // 2] = [f"... {left_out} more (`list` shows all) ..."]
    return "\n".join(textwrap.wrap("  ".join(one.replace(" ", _GLUE) for one in shown), 79)).replace(_GLUE, " ")


def match_action(answer: str, names: Mapping[int, str], bare: bool = True) -> int | None:
    """Return the action whose number or name ``answer`` is, or the only one whose name begins so; else None.

    A number counts in brackets, and if ``bare`` without them too.
    """
    number = answer[1:-1] if answer.startswith("[") and answer.endswith("]") else answer if bare else ""
    if number.isdecimal() and int(number) in names:
        return int(number)
    words = " ".join(answer.lower().split())
    exact = [action for action, name in names.items() if name.lower() == words]
    begun = [action for action, name in names.items() if words and name.lower().startswith(words)]
    found = exact or begun
    return found[0] if len(found) == 1 else None


class NumberedKeyboard:
    """A numbered list of actions and the scene, for any game; see `Keyboard`."""

    OPPONENTS: Mapping[str, str] = {}
    SEATS = 0
    OPEN: frozenset[str] = frozenset()
    HELP = RULES = "Type the number in brackets of an action, its name, or how its name begins."

    def table(self, place: Place, state: Any, full: bool) -> str:
        """Return the scene as the person sees it, and what it may do."""
        names = legal_names(place, state)
        return f"{place.game.scene(state, place.seat).text()}\n{list_of(names, MOST_LISTED)}"

    def read(self, place: Place, state: Any, text: str) -> list[int]:
        """Return the action whose number or name ``text`` is."""
        names = legal_names(place, state)
        action = match_action(text, names)
        if action is not None:
            return [action]
        begun = [name for name in names.values() if name.lower().startswith(text)] if text else []
        if len(begun) > 1:
            raise ParameterError(
                f"{text!r} is the beginning of {list_names(begun[:4])}: type more of it, or its number"
            )
        raise unread(text, "a number in brackets or a name; `list` shows all of them")

    def tell(self, place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
        """Return who did what."""
        mover = int(before["player"])
        return [f"{place.does(mover, 'play')}: {place.game.action_name(action)}{f' ({fault})' if fault else ''}"]

    def list_facts(self, place: Place, state: Any) -> list[str]:
        """Return nothing: the scene is all there is."""
        return []

    def write_actions(self, place: Place, state: Any, actions: Sequence[int]) -> str:
        """Return the name of an action."""
        return place.game.action_name(actions[0])

    def ending(self, place: Place, state: Any) -> str:
        """Return the last scene, and who has won."""
        return f"{place.game.scene(state, place.seat).text()}\n{name_winners(place, winners(place, state))}."


FORM, FIELD = "actions", "action"


class ActionButtons:
    """A button for each legal action, for any game; see `Controls`."""

    def forms(self, place: Place, state: Any) -> list[PlayForm]:
        """Return one form, with all that is legal by name."""
        names = legal_names(place, state)
        options = tuple(Option(str(action), name) for action, name in names.items())
        return [PlayForm(FORM, "Your move", (PickOne(FIELD, "What you may do", options),))]

    def read_form(self, place: Place, state: Any, form: str, fields: Fields) -> list[int]:
        """Return the action that is meant. Raises ParameterError if none is."""
        given = [*fields.get(FIELD, ())]
        names = {str(action): action for action in legal_names(place, state)}
        if form != FORM or len(given) != 1:
            raise ParameterError("that is not a move: choose one of the actions that are shown")
        if given[0] not in names:
            raise ParameterError(f"{one_line(given[0], 40)!r} is not allowed here: choose one shown")
        return [names[given[0]]]


def wrap_lines(text: str, width: int = WIDTH) -> str:
    """Return text whose lines fit, the rest of a line that does not being indented below it; `` `so` `` stays whole.

    So does a line of one word, which is to be copied.
    """
    lines = []
    whole = re.sub(r"`[^`\n]*`", lambda typed: typed[0].replace(" ", _GLUE), text)
    for line in whole.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        several = " " in line.strip()
        wrapper = textwrap.TextWrapper(
            width - 1, subsequent_indent=indent, break_on_hyphens=False, break_long_words=several
        )
        lines += wrapper.wrap(line) or [""]
    return "\n".join(lines).replace(_GLUE, " ")
