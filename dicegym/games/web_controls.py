"""Widgets of a page on which a person plays: the parts of the forms of `dicegym.games.controls.Controls`.

A game offers forms to the person to move, and reads the answer through a `FilledForm`, which accepts only what the
widgets offer. `dicegym.web` defines how widgets look and work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from dicegym.errors import ParameterError, one_line
from dicegym.games.keyboard import count, list_names, number_of

Fields = Mapping[str, Sequence[str]]
"""A filled-in form: {widget's name: values}. It comes from a browser, so it may contain anything."""


class Option(NamedTuple):
    """One choice of several."""

    value: str
    label: str
    note: str = ""
    """A short note, such as the points it scores."""
    refused: str = ""
    """Why it cannot be chosen now; empty if it can."""
    face: int = 0
    """A die to draw beside it; 0: none."""
    least: int = 0
    """With this option, the smallest number for a `Stepper` of the same form; 0: no extra limit."""
    key: str = ""
    """Its key on a keyboard; empty: none."""


class PickOne(NamedTuple):
    """Choose one of a few options. The field contains its value."""

    name: str
    label: str
    options: tuple[Option, ...]
    chosen: str = ""
    """The value chosen at first; empty: none."""


class DiceToggles(NamedTuple):
    """Pick some of the dice on the table. The field contains the place of each picked die, from 0."""

    name: str
    label: str
    faces: tuple[int, ...]
    most: int | None = None
    """How many may be picked at once; None: all."""
    on: str = "picked"
    """A word or two below a picked die."""
    off: str = "not picked"


class Stepper(NamedTuple):
    """Choose a number, at first ``value``. The field contains it."""

    name: str
    label: str
    low: int
    high: int
    value: int


class Item(NamedTuple):
    """A kind of thing in a `Basket`, of which several may be chosen."""

    value: str
    label: str
    note: str = ""
    price: int = 0
    most: int = 0
    """How many are available."""


class Basket(NamedTuple):
    """Choose a number of each item. The field ``name.value`` contains the number of an item, blank for none."""

    name: str
    label: str
    items: tuple[Item, ...]
    budget: int
    """The most that their prices may add up to."""
    unit: str = ""
    """The unit of prices."""


Widget = PickOne | DiceToggles | Stepper | Basket


class PlayForm(NamedTuple):
    """Widgets that are filled in together, and their button; ``note`` is a sentence about them."""

    name: str
    send: str
    """The button's text. A form of one `PickOne` has a button for each option instead, and this as its title."""
    widgets: tuple[Widget, ...] = ()
    note: str = ""


class BoardSeat(NamedTuple):
    """A player on a board."""

    name: str
    score: str = ""
    """Shown large, such as points or money."""
    note: str = ""
    dice: tuple[int, ...] = ()
    """Dice in front of it; 0: a hidden die."""
    said: str = ""
    """Its latest announcement, such as a bid."""
    share: float | None = None
    """Progress to the goal, 0 to 1; None: there is no goal."""
    moves: bool = False
    wins: bool = False
    out: bool = False


class CardRow(NamedTuple):
    """A row of a score card."""

    label: str
    cells: tuple[str, ...]
    """By seat; empty while open."""
    value: str = ""
    """The value of the `Option` that fills this row; empty: none."""
    lower: bool = False
    """Whether it is in the second half of the card, which may be drawn beside the first."""


class ScoreCard(NamedTuple):
    """A score card. Its open cells are the buttons of the named form, which has one `PickOne`."""

    form: str
    rows: tuple[CardRow, ...]


class GameBoard(NamedTuple):
    """The table on a page around the forms, without anything that the forms show."""

    title: str
    """The stage of the game: ``Round 3 of 15``."""
    seats: tuple[BoardSeat, ...]
    dice: tuple[int, ...] = ()
    """Common dice, shown unless `DiceToggles` show them."""
    card: ScoreCard | None = None


W = TypeVar("W", PickOne, DiceToggles, Stepper, Basket)


class FilledForm:
    """A filled-in form. It returns only values that the widgets offered.

    Args:
        forms: the forms offered in the present state.
        name: the form's name. Raises ParameterError if it is not among ``forms``.
        fields: the values from the browser.

    Attributes:
        form: the form of this name.
    """

    def __init__(self, forms: Sequence[PlayForm], name: str, fields: Fields) -> None:
        offered = {form.name: form for form in forms}
        if name not in offered:
            can = list_names([f'"{form.send}"' for form in forms], "or") if forms else "nothing"
            raise ParameterError(f"{one_line(name, 40)!r} cannot be done now: choose {can}")
        self.form = offered[name]
        self._fields = fields

    def one(self, name: str) -> str:
        """Return the chosen value of a `PickOne`. Raises ParameterError if it is unknown or refused."""
        widget = self._widget(name, PickOne)
        value = self._only(name, widget.label)
        chosen = next((option for option in widget.options if option.value == value), None)
        if chosen is None:
            names = [option.label for option in widget.options if not option.refused]
            shown = list_names(names, "or") if 0 < len(names) <= _LISTED else "one of those shown"
            raise ParameterError(f"{one_line(value, 40)!r} cannot be chosen here: choose {shown}")
        if chosen.refused:
            raise ParameterError(f"{chosen.label} cannot be chosen, {chosen.refused}: choose another")
        return chosen.value

    def dice(self, name: str) -> list[int]:
        """Return the picked places of `DiceToggles`, in rising order. Raises ParameterError for other places."""
        widget = self._widget(name, DiceToggles)
        places = [number_of(value) for value in self._fields.get(name, ())]
        picked = {place for place in places if place is not None and 0 <= place < len(widget.faces)}
        if not picked.issuperset(places):
            raise ParameterError(f"an unknown die was picked: pick from {count(len(widget.faces), 'die', 'dice')}")
        if widget.most is not None and len(picked) > widget.most:
            raise ParameterError(f"{len(picked)} dice are picked: pick {widget.most} at most")
        return sorted(picked)

    def number(self, name: str) -> int:
        """Return the number of a `Stepper`. Raises ParameterError if it is out of range or below an `Option.least`."""
        widget = self._widget(name, Stepper)
        given = self._only(name, widget.label)
        number = number_of(given.strip())
        if number is None:
            raise ParameterError(
                f"invalid number {one_line(given, 40)!r} for {widget.label}: give {widget.low} to {widget.high}"
            )
        picks = [(one.name, option) for one in self.form.widgets if isinstance(one, PickOne) for option in one.options]
        chosen = [option for field, option in picks if option.value in self._fields.get(field, ())]
        low = max([widget.low, *(option.least for option in chosen)])
        if not low <= number <= widget.high:
            raise ParameterError(f"{widget.label} is {number}, but must be {low} to {widget.high} here: change it")
        return number

    def basket(self, name: str) -> dict[str, int]:
        """Return the chosen number of each item of a `Basket`. Raises ParameterError for too many or too expensive."""
        widget = self._widget(name, Basket)
        chosen: dict[str, int] = {}
        for item in widget.items:
            given = self._only(f"{name}.{item.value}", item.label, missing="0").strip() or "0"
            number = number_of(given)
            if number is None or number < 0:
                raise ParameterError(f"invalid number {one_line(given, 40)!r} of {item.label}: give 0 to {item.most}")
            if number > item.most:
                raise ParameterError(f"there are {item.most} of {item.label}, not {number}: take fewer")
            if number:
                chosen[item.value] = number
        price = sum(item.price * chosen.get(item.value, 0) for item in widget.items)
        if price > widget.budget:
            raise ParameterError(f"together they cost {price:,}, and you have {widget.budget:,}: take less")
        return chosen

    def _widget(self, name: str, kind: type[W]) -> W:
        return next(one for one in self.form.widgets if isinstance(one, kind) and one.name == name)

    def _only(self, name: str, label: str, missing: str | None = None) -> str:
        """Return the only value of a field."""
        given = [*self._fields.get(name, ())]
        if not given and missing is not None:
            return missing
        if len(given) != 1:
            raise ParameterError(f"{label} was given {len(given)} times: choose one")
        return str(given[0])


_LISTED = 8
"""The most options that an error names."""
