"""How a game reads and is played on a screen, in JavaScript: its scene, its controls, and what there is to tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import TranslationError
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, KEYBOARD, part
from dicegym.pictures.drawing import PICTURE, Viewpoint
from dicegym.pictures.fonts import ELLIPSIS, UNKNOWN, measured
from dicegym.pictures.naming import SEATS, YOU, with_names
from dicegym.pictures.svg import element, escaped, text
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.plain import PlainProgram

_NAMED = f"py.withNames({json.dumps(SEATS.pattern)}, {json.dumps(YOU.pattern)})"
_UNITS = 2048
"""In so many parts of their size the widths of letters are whole numbers."""


class Screen(NamedTuple):
    """What a page says of a game."""

    code: str
    """The body of a function of ``$c`` and ``py`` that returns functions by name."""
    constants: tuple[np.ndarray, ...]
    refused: dict[str, str]
    """What of it cannot be translated, so that pages do without -> why."""
    brief: frozenset[str]
    """What could be translated for those alone who ask for a line at the most."""


def screen(game: Game) -> Screen:
    """Return what can be translated of ``scene``, ``view``, ``forms``, ``chosen``, ``told`` and ``ending``.

    Raises TranslationError if the scene cannot be, as nobody could play without seeing anything.
    """
    program = PlainProgram(_of_pictures())
    found: dict[str, str] = {"Place": program.constant(Place), "named": _NAMED}
    found["scene"] = program.function(game.text.scene)
    refused: dict[str, str] = {}
    brief: set[str] = set()

    def add(name: str, *ways: tuple[Any, Mapping[str, Any]]) -> None:
        """Take the first way that can be translated."""
        for function, known in ways:
            try:
                found[name] = program.function(function, known) if known else program.callable(function)
                if known:
                    brief.add(name)
                return
            except (TranslationError, UntranslatableError) as error:
                refused[name] = str(error)

    add("view", (game.spec.view, {}))
    controls, keyboard = part(game, CONTROLS), part(game, KEYBOARD)
    if controls is not None:
        add("forms", (controls.forms, {}))
        add("chosen", (controls.chosen, {}))
    if keyboard is not None:
        add("told", (keyboard.told, {}), (keyboard.told, {"brief": True}))
        add("ending", (keyboard.ending, {}))
    drawn = part(game, PICTURE)
    if drawn is not None:
        add("picture", (drawn.picture, {}))
        if "picture" in found:
            found["Viewpoint"] = program.constant(Viewpoint)
    code, constants = program.script(found)
    code = _letters() + code if "$measured" in code else code
    return Screen(code, constants, {name: why for name, why in refused.items() if name not in found}, frozenset(brief))


def _of_pictures() -> dict[Any, str]:
    """Return what pictures are made of, which ``python.js`` has, and how wide letters are."""
    return {
        element: "py.svg",
        text: "py.svgText",
        escaped: "py.escaped",
        measured: "$measured",
        with_names: _NAMED,
    }


def _letters() -> str:
    """Return the script that knows how wide letters are: in parts of their size, which the font counts in."""
    letters = [chr(number) for number in (*range(0x20, 0x7F), *range(0xA0, 0x180), ord(ELLIPSIS))]
    widths = [[round(measured(letter, _UNITS, bold)) for letter in letters] for bold in (False, True)]
    given = f"{json.dumps(''.join(letters))}, {json.dumps(widths, separators=(',', ':'))}, {_UNITS}, {UNKNOWN}"
    return f"const $measured = py.measured({given});\n"


def help_of(game: Game) -> str:
    """Return the game in a few lines, if it says so."""
    keyboard = part(game, KEYBOARD)
    return "" if keyboard is None else keyboard.HELP


def open_to(game: Game) -> frozenset[str]:
    """Return the private fields that everybody sees at a real table."""
    keyboard = part(game, KEYBOARD)
    return frozenset() if keyboard is None else keyboard.OPEN
