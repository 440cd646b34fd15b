"""How a person plays on a page: what a game's ``controls.py`` offers, and the widgets that all of them are made of.

A game says which forms a person to move may fill in, and reads what comes back. What a widget looks like, and how it
works with a mouse, a finger, a keyboard, a screen reader and without any script, is `dicegym.web`'s to say; it knows no
game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dicegym.games.keyboard import Place

Fields = Mapping[str, Sequence[str]]
"""What was filled in: the values of each field, by the names of widgets. What comes from a browser may be anything."""


class Option(NamedTuple):
    """One of several things that can be chosen."""

    value: str
    label: str
    note: str = ""
    """What there is to say of it, such as the points it brings; short."""
    refused: str = ""
    """Why it cannot be chosen now; empty if it can."""


class PickOne(NamedTuple):
    """Choose one of a few: the field holds its value."""

    name: str
    label: str
    options: tuple[Option, ...]
    chosen: str = ""
    """The value that is chosen at first; empty: none is."""


class DiceToggles(NamedTuple):
    """Pick some of the dice on the table: the field holds their places, from 0, once for each die that is picked."""

    name: str
    label: str
    faces: tuple[int, ...]
    picked: tuple[int, ...] = ()
    """Places that are picked at first."""


class Stepper(NamedTuple):
    """Choose a number: the field holds it."""

    name: str
    label: str
    low: int
    high: int
    value: int
    """The number at first."""


class Item(NamedTuple):
    """Something of which any number may be chosen."""

    value: str
    label: str
    note: str = ""
    price: int = 0
    most: int = 0
    """How many there are to be had."""
    face: int = 0
    """A die that is drawn beside it; 0: none."""


class Basket(NamedTuple):
    """Choose how many of each of several items: the field ``name.value`` holds the number of each, blank for none."""

    name: str
    label: str
    items: tuple[Item, ...]
    budget: int
    """What their prices may add up to."""
    unit: str = ""
    """What prices are in."""


Widget = PickOne | DiceToggles | Stepper | Basket


class PlayForm(NamedTuple):
    """Widgets that are filled in together, and what sends them off."""

    name: str
    send: str
    """What stands on the button; a form of one `PickOne` has one for each option, and this as its title."""
    widgets: tuple[Widget, ...] = ()
    note: str = ""
    """What there is to say of it in a sentence."""


class Controls(Protocol):
    """A game's ``controls.py``: the forms of a page on which a person plays, and what they mean.

    A game without one is played by a list of its legal actions. Seats, names and what a person may know are as in
    `dicegym.games.keyboard.Keyboard`.
    """

    def forms(self, place: Place, state: Any) -> Sequence[PlayForm]:
        """Return what the person to move may fill in, the most likely first; nothing that its seat may not know.

        What the rules do not allow now cannot be filled in, or says why it is refused.
        """

    def chosen(self, place: Place, state: Any, form: str, fields: Fields) -> Sequence[int]:
        """Return the actions that a form means that was filled in; as of `Keyboard.read`.

        Raises ParameterError, with what to do instead, if it means none or the rules do not allow it.
        """
