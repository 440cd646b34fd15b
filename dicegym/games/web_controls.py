"""The widgets of a page on which a person plays: what the forms of `dicegym.games.controls.Controls` are made of.

A game says which forms a person to move may fill in, and reads what comes back with a `FilledForm`, which takes nothing
that its widgets do not offer. `dicegym.web` says what a widget looks like and how it works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from dicegym.errors import ParameterError, one_line
from dicegym.games.keyboard import count, list_names, number_of

Fields = Mapping[str, Sequence[str]]
"""What was filled in: the values of each field, by the names of widgets. What comes from a browser may be anything."""


class Option(NamedTuple):
    """One of several things that can be chosen."""

    value: str
    label: str
    note: str = ""
    """Such as the points it brings; short."""
    refused: str = ""
    """Why it cannot be chosen now; empty if it can."""
    face: int = 0
    """A die that is drawn beside it; 0: none."""
    least: int = 0
    """The least that a `Stepper` of the same form may hold with it; 0: whatever it offers."""
    key: str = ""
    """The letter that presses it on a keyboard; empty: none."""


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
    most: int | None = None
    """How many may be picked at once; None: all."""
    on: str = "picked"
    """What a die is that is picked, in a word or two; shown below it."""
    off: str = "not picked"


class Stepper(NamedTuple):
    """Choose a number, at first ``value``: the field holds it."""

    name: str
    label: str
    low: int
    high: int
    value: int


class Item(NamedTuple):
    """Something of which any number may be chosen."""

    value: str
    label: str
    note: str = ""
    price: int = 0
    most: int = 0
    """How many there are to be had."""


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
    """Widgets that are filled in together, and what sends them off; ``note`` is a sentence about it."""

    name: str
    send: str
    """What stands on the button; a form of one `PickOne` has one for each option, and this as its title."""
    widgets: tuple[Widget, ...] = ()
    note: str = ""


class BoardSeat(NamedTuple):
    """A player on a board."""

    name: str
    score: str = ""
    """What is written large, such as points or money."""
    note: str = ""
    dice: tuple[int, ...] = ()
    """Dice in front of it, 0 for one that is hidden."""
    said: str = ""
    """Its latest announcement, such as a bid."""
    share: float | None = None
    """How much of a goal it has reached, 0 to 1; None: there is no goal."""
    moves: bool = False
    wins: bool = False
    out: bool = False


class CardRow(NamedTuple):
    """A row of a score card."""

    label: str
    cells: tuple[str, ...]
    """By seat; empty while open."""
    value: str = ""
    """The `Option` that the person fills this row with; empty: no option does."""
    lower: bool = False
    """Whether it is in the second half of the card, which may be beside the first."""


class ScoreCard(NamedTuple):
    """A score card, whose open cells are the buttons of the named form of one `PickOne`."""

    form: str
    rows: tuple[CardRow, ...]


class GameBoard(NamedTuple):
    """The table that a person sees on a page; forms are part of it, and nothing is on it that they show."""

    title: str
    """How far the game is: ``Round 3 of 15``."""
    seats: tuple[BoardSeat, ...]
    dice: tuple[int, ...] = ()
    """Dice that all play with, shown while no `DiceToggles` show them."""
    card: ScoreCard | None = None


W = TypeVar("W", PickOne, DiceToggles, Stepper, Basket)


class FilledForm:
    """A form as it came back: nothing is taken from it that its widgets did not offer.

    Args:
        forms: what was offered, by the state it is filled in for.
        name: of the form (attribute ``form``). Raises ParameterError if it is not among them.
        fields: what was filled in.
    """

    def __init__(self, forms: Sequence[PlayForm], name: str, fields: Fields) -> None:
        offered = {form.name: form for form in forms}
        if name not in offered:
            can = list_names([f'"{form.send}"' for form in forms], "or") if forms else "nothing"
            raise ParameterError(f"{one_line(name, 40)!r} cannot be done now: choose {can}")
        self.form = offered[name]
        self._fields = fields

    def one(self, name: str) -> str:
        """Return the value that is chosen of a `PickOne`. Raises ParameterError if it is not one, or is refused."""
        widget = self._widget(name, PickOne)
        value = self._only(name, widget.label)
        chosen = next((option for option in widget.options if option.value == value), None)
        if chosen is None:
            names = [option.label for option in widget.options if not option.refused]
            shown = list_names(names, "or") if 0 < len(names) <= _LISTED else "one of those shown"
            raise ParameterError(f"{one_line(value, 40)!r} is nothing to choose here: choose {shown}")
        if chosen.refused:
            raise ParameterError(f"{chosen.label} cannot be chosen, {chosen.refused}: choose another")
        return chosen.value

    def dice(self, name: str) -> list[int]:
        """Return the places that are picked of `DiceToggles`, in order. Raises ParameterError for other places."""
        widget = self._widget(name, DiceToggles)
        places = [number_of(value) for value in self._fields.get(name, ())]
        picked = {place for place in places if place is not None and 0 <= place < len(widget.faces)}
        if not picked.issuperset(places):
            there = count(len(widget.faces), "die", "dice")
            raise ParameterError(f"there are {there}, and another was picked: pick of these")
        if widget.most is not None and len(picked) > widget.most:
            raise ParameterError(f"{len(picked)} dice are picked: pick {widget.most} at most")
        return sorted(picked)

    def number(self, name: str) -> int:
        """Return what a `Stepper` holds. Raises ParameterError if it is out of range, or too little for an `Option`."""
        widget = self._widget(name, Stepper)
        given = self._only(name, widget.label)
        number = number_of(given.strip())
        if number is None:
            raise ParameterError(
                f"{one_line(given, 40)!r} is no number for {widget.label}: give {widget.low} to {widget.high}"
            )
        picks = [(one.name, option) for one in self.form.widgets if isinstance(one, PickOne) for option in one.options]
        chosen = [option for field, option in picks if option.value in self._fields.get(field, ())]
        low = max([widget.low, *(option.least for option in chosen)])
        if not low <= number <= widget.high:
            raise ParameterError(f"{widget.label} is {number}, and has to be {low} to {widget.high} here: change it")
        return number

    def basket(self, name: str) -> dict[str, int]:
        """Return how many are chosen of each item of a `Basket`. Raises ParameterError for too many or too dear."""
        widget = self._widget(name, Basket)
        chosen: dict[str, int] = {}
        for item in widget.items:
            given = self._only(f"{name}.{item.value}", item.label, missing="0").strip() or "0"
            number = number_of(given)
            if number is None or number < 0:
                raise ParameterError(f"{one_line(given, 40)!r} is no number of {item.label}: give 0 to {item.most}")
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
"""So many options are named when none of them was chosen."""
