"""How a game reads and is played on a screen, in JavaScript: its scene, its controls, and what there is to tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import TranslationError
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, KEYBOARD, part
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.plain import PlainProgram


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
    program = PlainProgram()
    found: dict[str, str] = {"Place": program.constant(Place), "scene": program.function(game.text.scene)}
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
    code, constants = program.script(found)
    return Screen(code, constants, {name: why for name, why in refused.items() if name not in found}, frozenset(brief))


def help_of(game: Game) -> str:
    """Return the game in a few lines, if it says so."""
    keyboard = part(game, KEYBOARD)
    return "" if keyboard is None else keyboard.HELP
