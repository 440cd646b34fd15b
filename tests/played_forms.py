"""A person on the pages, without a browser: reads a page's forms as they are, and fills them in."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from typing import Any


class FormOnPage:
    """A form as it stands on a page."""

    def __init__(self, action: str, method: str) -> None:
        self.action = action
        self.method = method
        self.fixed: list[tuple[str, str]] = []
        """What is sent in any case."""
        self.buttons: list[tuple[str, str]] = []
        """Name and value of each button that sends it and can be pressed; both empty if it sends nothing itself."""
        self.radios: dict[str, list[str]] = {}
        self.boxes: list[tuple[str, str]] = []
        self.numbers: dict[str, tuple[int, int, int]] = {}
        """Name -> lowest, highest, and first value."""
        self.selects: dict[str, list[str]] = {}

    def filled(self, generator: random.Random) -> list[tuple[str, str]]:
        """Return what is sent when it is filled in by chance."""
        sent = [*self.fixed]
        sent += [(name, generator.choice(values)) for name, values in self.radios.items()]
        sent += [box for box in self.boxes if generator.random() < 0.5]
        for name, (low, high, value) in self.numbers.items():
            sent.append((name, str(value if generator.random() < 0.7 else generator.randint(low, high))))
        name, value = generator.choice(self.buttons or [("", "")])
        return sent + ([(name, value)] if name else [])


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[FormOnPage] = []
        self.open: FormOnPage | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = {name: value if value is not None else "" for name, value in attrs}
        if tag == "form":
            self.open = FormOnPage(given.get("action", ""), given.get("method", "get"))
            self.found.append(self.open)
        form, name, value = self.open, given.get("name", ""), given.get("value", "on")
        if form is None or "disabled" in given:
            return
        if tag == "button" and given.get("type", "submit") == "submit":
            form.buttons.append((name, given.get("value", "")))
        elif tag == "input":
            kind = given.get("type", "text")
            if kind == "radio":
                form.radios.setdefault(name, []).append(value)
            elif kind == "checkbox":
                form.boxes.append((name, value))
            elif kind == "number":
                form.numbers[name] = (int(given["min"]), int(given["max"]), int(given["value"]))
            elif name:
                form.fixed.append((name, value))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None


def forms_of(page: str) -> list[FormOnPage]:
    """Return all forms of a page."""
    parser = _Forms()
    parser.feed(page)
    return parser.found


def form_to(page: str, ending: str) -> FormOnPage:
    """Return the first form that is sent to an address with this ending."""
    return next(form for form in forms_of(page) if form.action.endswith(ending))


def data_of(sent: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Return it as an HTTP client takes it."""
    found: dict[str, list[str]] = {}
    for name, value in sent:
        found.setdefault(name, []).append(value)
    return found
