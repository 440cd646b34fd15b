"""How a person plays a game, at the keyboard and on a page: what a game's ``controls.py`` offers.

Whatever a game does not offer works all the same, by a numbered list of its actions and a button for each. Language
models are told the same game in the same words as people. The screen is `dicegym.players.sitting`, the page
`dicegym.web`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dicegym.engine.part import optional
from dicegym.errors import ParameterError, one_line
from dicegym.games.keyboard import Place, list_names, name_winners, unread, winners
from dicegym.games.web_controls import Fields, GameBoard, Option, PickOne, PlayForm

MOST_LISTED = 24
"""Actions that are shown unasked; where more are legal, ``list`` shows them all."""
GLUE = "\N{NO-BREAK SPACE}"
"""Stands for spaces at which lines do not end."""
FORM, FIELD = "actions", "action"


class Controls(Protocol):
    """A game's ``controls.py``: what a person types or presses is read, and what happens is told.

    It defines what it has. All texts fit into 80 columns without colour; what is longer is wrapped at spaces.
    """

    OPPONENTS: Mapping[str, str] = {}
    """The agent that each of `dicegym.games.keyboard.STRENGTHS` names."""
    SEATS: int = 0
    """Players at a table unless another number is asked for; 0: as many as the game has by default."""
    OPEN: frozenset[str] = frozenset()
    """Private fields of the record that a program may not know and everybody at a real table sees, such as dice that
    are rolled in the open."""
    HELP: str = "Type the number in brackets of an action, its name, or how its name begins."
    """The game in a few lines, and what can be typed."""
    RULES: str = HELP
    """The same for a language model (`dicegym.players.prompts`), and what can be typed as an action."""

    @optional
    def table(self, place: Place, state: Any, full: bool) -> str:
        """Return what the person sees when it is to move, and what each choice is worth where that is plain.

        ``full`` asks for everything: at the beginning, on demand, and after a move was taken back.
        """
        names = legal_names(place, state)
        return f"{place.game.scene(state, place.seat).text()}\n{list_of(names, MOST_LISTED)}"

    @optional
    def read(self, place: Place, state: Any, text: str) -> Sequence[int]:
        """Return the actions of the person's own that ``text``, in lower case and with single spaces, means.

        Those that come after the seat's turn are kept for its next turns. Raises ParameterError, with what to type
        instead, if it means none or the rules do not allow it.
        """
        names = legal_names(place, state)
        action = match_action(text, names)
        if action is not None:
            return [action]
        begun = [name for name in names.values() if text and name.lower().startswith(text)]
        if len(begun) > 1:
            begins = f"{text!r} is the beginning of {list_names(begun[:4])}"
            raise ParameterError(f"{begins}: type more of it, or its number")
        raise unread(text, "a number in brackets or a name; `list` shows all of them")

    @optional
    def tell(self, place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
        """Return what the person's seat may know of one action, given the records before and after it, and its fault.

        ``brief`` asks for a line at the most.
        """
        mover = int(before["player"])
        return [f"{place.does(mover, 'play')}: {place.game.action_name(action)}{f' ({fault})' if fault else ''}"]

    @optional
    def ending(self, place: Place, state: Any) -> str:
        """Return who has won, in words."""
        return f"{place.game.scene(state, place.seat).text()}\n{name_winners(place, winners(place, state))}."

    @optional
    def list_facts(self, place: Place, state: Any) -> list[str]:
        """Return what the seat may know and its scene does not show, a line each; no advice and no estimates.

        All that is hidden from the seat is 0 in ``state``, in which somebody is to move.
        """
        return []

    @optional
    def write_actions(self, place: Place, state: Any, actions: Sequence[int]) -> str:
        """Return the text that `read` reads as the actions of one whole decision."""
        return place.game.action_name(actions[0])

    @optional
    def forms(self, place: Place, state: Any) -> Sequence[PlayForm]:
        """Return what the person to move may fill in, the most likely first; nothing that its seat may not know.

        What the rules do not allow now cannot be filled in, or says why it is refused.
        """
        names = legal_names(place, state)
        options = tuple(Option(str(action), name) for action, name in names.items())
        return [PlayForm(FORM, "Your move", (PickOne(FIELD, "What you may do", options),))]

    @optional
    def read_form(self, place: Place, state: Any, form: str, fields: Fields) -> Sequence[int]:
        """Return the actions that a form means that was filled in; as of `read`. Goes with `forms`.

        Raises ParameterError, with what to do instead, if it means none or the rules do not allow it.
        """
        given = [*fields.get(FIELD, ())]
        names = {str(action): action for action in legal_names(place, state)}
        if form != FORM or len(given) != 1:
            raise ParameterError("that is not a move: choose one of the actions that are shown")
        if given[0] not in names:
            raise ParameterError(f"{one_line(given[0], 40)!r} is not allowed here: choose one shown")
        return [names[given[0]]]

    @optional
    def board(self, place: Place, state: Any) -> GameBoard | None:
        """Return what the table looks like around the forms; None: the game's picture is shown above them."""
        return None


class NumberedControls(Controls):
    """A numbered list of actions, and a button for each, for a game without a ``controls.py``."""


def legal_names(place: Place, state: Any) -> dict[int, str]:
    """Return the name of each legal action, by its number."""
    return {int(action): place.game.action_name(int(action)) for action in np.flatnonzero(place.game.legal(state))}


def list_of(names: Mapping[int, str], most: int | None = None) -> str:
    """Return actions as a numbered list, the middle left out if there are more than ``most``."""
    shown = [f"[{action}] {name}" for action, name in names.items()]
    if most is not None and len(shown) > most:
        left_out = len(shown) - most
        shown[most // 2 : len(shown) - most // 2] = [f"... {left_out} more (`list` shows all) ..."]
    return "\n".join(textwrap.wrap("  ".join(one.replace(" ", GLUE) for one in shown), 79)).replace(GLUE, " ")


def match_action(answer: str, names: Mapping[int, str], bare: bool = True) -> int | None:
    """Return the action whose number or name ``answer`` is, or the only one whose name begins so; else None.

    A number counts in brackets, and if ``bare`` without them too.
    """
    number = answer[1:-1] if answer.startswith("[") and answer.endswith("]") else answer if bare else ""
    if number.isdecimal() and len(number) < 10 and int(number) in names:
        return int(number)
    words = " ".join(answer.lower().split())
    exact = [action for action, name in names.items() if name.lower() == words]
    begun = [action for action, name in names.items() if words and name.lower().startswith(words)]
    found = exact or begun
    return found[0] if len(found) == 1 else None
