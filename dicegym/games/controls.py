"""The protocol of a game's ``controls.py``: how a person plays the game at the keyboard and on a page.

Everything is optional: the defaults list the actions by number and show a button for each. Language models read the
same words as people. `dicegym.players.sitting` is the screen, `dicegym.web` the page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dicegym.engine.part import optional
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place, list_names, name_winners, unread, winners
from dicegym.games.web_controls import Fields, FilledForm, GameBoard, Option, PickOne, PlayForm

MOST_LISTED = 24
"""Longest list of actions shown without being asked for; ``list`` shows all of them."""
GLUE = "\N{NO-BREAK SPACE}"
"""Replaces spaces at which a line must not break."""
FORM, FIELD = "actions", "action"


class Controls(Protocol):
    """A game's ``controls.py``: reads what a person types or presses, and tells what happens.

    Each name is optional. Texts fit into 80 columns without colour; longer lines are wrapped at spaces.
    """

    OPPONENTS: Mapping[str, str] = {}
    """The agent for each of `dicegym.games.keyboard.STRENGTHS`."""
    SEATS: int = 0
    """Default number of players at a table; 0: the game's own default."""
    OPEN: frozenset[str] = frozenset()
    """Private fields that everybody at a real table sees, although programs may not know them: dice rolled in the
    open."""
    HELP: str = "Type the number in brackets of an action, its name, or how its name begins."
    """The game in a few lines, and what a person can type."""
    RULES: str = HELP
    """The same for a language model (`dicegym.players.prompts`)."""

    @optional
    def table(self, place: Place, state: Any, full: bool) -> str:
        """Return what the person sees before a move, with the value of each choice where it is simple to compute.

        ``full`` asks for everything: at the beginning, on demand, and after a move was taken back.
        """
        names = legal_names(place, state)
        return f"{place.game.scene(state, place.seat).text()}\n{list_of(names, MOST_LISTED)}"

    @optional
    def read(self, place: Place, state: Any, text: str) -> Sequence[int]:
        """Return the person's actions that ``text`` means; it comes in lower case, with single spaces.

        Actions beyond the present turn are kept for the seat's next turns. Raises ParameterError, with what to type
        instead, if the text has no meaning or the rules do not allow it.
        """
        names = legal_names(place, state)
        action = match_action(text, names)
        if action is not None:
            return [action]
        begun = [name for name in names.values() if text and name.lower().startswith(text)]
        if len(begun) > 1:
            raise ParameterError(
                f"{text!r} is the beginning of {list_names(begun[:4])}: type more of it, or its number"
            )
        raise unread(text, "a number in brackets or a name; `list` shows all of them")

    @optional
    def tell(self, place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
        """Return what the person's seat may know of an action, given the records before and after it and its fault.

        ``brief`` asks for at most one line.
        """
        mover = int(before["player"])
        return [f"{place.does(mover, 'play')}: {place.game.action_name(action)}{f' ({fault})' if fault else ''}"]

    @optional
    def ending(self, place: Place, state: Any) -> str:
        """Return who has won, in words."""
        return f"{place.game.scene(state, place.seat).text()}\n{name_winners(place, winners(place, state))}."

    @optional
    def list_facts(self, place: Place, state: Any) -> list[str]:
        """Return facts that the seat may know and its scene does not show, one a line; no advice, no estimates.

        The game is not over. Everything hidden from the seat is 0 in ``state``.
        """
        return []

    @optional
    def write_actions(self, place: Place, state: Any, actions: Sequence[int]) -> str:
        """Return the text that `read` turns into these actions, which are one whole decision."""
        return place.game.action_name(actions[0])

    @optional
    def forms(self, place: Place, state: Any) -> Sequence[PlayForm]:
        """Return the forms for the person to move, the likeliest first, with nothing that its seat may not know.

        A form offers only legal choices, or says why a choice is refused.
        """
        names = legal_names(place, state)
        options = tuple(Option(str(action), name) for action, name in names.items())
        return [PlayForm(FORM, "Your move", (PickOne(FIELD, "What you may do", options),))]

    @optional
    def read_form(self, place: Place, state: Any, form: str, fields: Fields) -> Sequence[int]:
        """Return the actions that a filled-in form of `forms` means; see `read`.

        By default the values of its first widget, a `PickOne`, are numbers of actions. Raises ParameterError, with what
        to do instead, if it has no meaning or the rules do not allow it.
        """
        filled = FilledForm(self.forms(place, state), form, fields)
        return [int(filled.one(filled.form.widgets[0].name))]

    @optional
    def board(self, place: Place, state: Any) -> GameBoard | None:
        """Return the table to show around the forms; None: show the game's picture above them."""
        return None


class NumberedControls(Controls):
    """The defaults, for a game without a ``controls.py``: a numbered list of actions, and a button for each."""


def legal_names(place: Place, state: Any) -> dict[int, str]:
    """Return {action: name} of the legal actions."""
    return {int(action): place.game.action_name(int(action)) for action in np.flatnonzero(place.game.legal(state))}


def list_of(names: Mapping[int, str], most: int | None = None) -> str:
    """Return actions as a numbered list; beyond ``most`` the middle is left out."""
    shown = [f"[{action}] {name}" for action, name in names.items()]
    if most is not None and len(shown) > most:
        left_out = len(shown) - most
        shown[most // 2 : len(shown) - most // 2] = [f"... {left_out} more (`list` shows all) ..."]
    return "\n".join(textwrap.wrap("  ".join(one.replace(" ", GLUE) for one in shown), 79)).replace(GLUE, " ")


def match_action(answer: str, names: Mapping[int, str], bare: bool = True) -> int | None:
    """Return the action with this number or name, or the only one whose name begins so; else None.

    A number needs brackets, unless ``bare`` numbers count too.
    """
    number = answer[1:-1] if answer.startswith("[") and answer.endswith("]") else answer if bare else ""
    if number.isdecimal() and len(number) < 10 and int(number) in names:
        return int(number)
    words = " ".join(answer.lower().split())
    exact = [action for action, name in names.items() if name.lower() == words]
    begun = [action for action, name in names.items() if words and name.lower().startswith(words)]
    found = exact or begun
    return found[0] if len(found) == 1 else None
