"""Lucky & Co's original bot interface: a file ``bot.py`` with a class that inherits from ``Bot``.

The class has ``get_orders(self, money, dice, index, shop)``, which returns a list of numbers of dice, and may have
``__init__(self, random)``. This module supplies `Bot`: it can be imported from ``bot`` or ``lucky``, or used directly.

This module runs in the bot's process, which is small: it must not load NumPy or compiled code. ``adapter.py`` is the
other half. The protocol is `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program, class_in
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("bot.py",)
ENTRY_POINT = METHOD = "get_orders"
ARGUMENTS = ("money", "dice", "index", "shop")
BASE = "Bot"


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return modules ``bot`` and ``lucky`` with the class ``Bot``, and ``builtins`` for bots that import nothing."""

    class Bot:
        """Base class of all bots."""

        def __init__(self, random: random.Random) -> None:
            self.random = random

        def get_orders(self, money: object, dice: object, index: int, shop: object) -> list[int]:
            """Return the numbers of the dice to buy."""
            raise NotImplementedError(f"a bot must define {ENTRY_POINT}(self, money, dice, index, shop)")

    modules = {name: types.ModuleType(name) for name in ("bot", "lucky", "builtins")}
    for module in modules.values():
        vars(module)[BASE] = Bot
    return modules


def find(program: Program) -> Callable[..., Any]:
    """Return the bot's class: the one named by the source, or the last that inherits from Bot. Raises AgentError."""
    if program.source.attribute is not None:
        return program.entry(program.source.attribute, "class")
    return class_in(program, program.builtins[BASE], ENTRY_POINT)


def seat_bot(program: Program, made: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function that plays one game: ``get_orders`` of a new object. Raises AgentError."""
    name = getattr(made, "__name__", BASE)
    try:
        bot = report_calls(made, name)(random.Random(program.random.fresh()))
        return report_calls(bot.get_orders, ENTRY_POINT)
    except BaseException as error:
        raise program.failure(error, f"while {name}(random) was made") from error


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, BASE, method=ENTRY_POINT)
