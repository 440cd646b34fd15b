"""The original bot interface of classic Liar's Dice: ``get_play(me, hands, history)`` or ``play``.

A ``player.py`` defines the first, a ``bot.py`` the second. Plays are quantity * 10 + face, 0 is liar; see the rules
page. A bot is also called after each hand, to observe the showdown.

This module runs in the small process of the bot, without NumPy and compiled code. ``adapter.py`` turns answers into
actions. The protocol is `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("player.py", "bot.py")
ENTRY_POINTS = ("get_play", "play")
ARGUMENTS = ("me", "hands", "history")


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return nothing: the original supplies no modules."""
    return {}


def find(program: Program) -> Callable[..., Any]:
    """Return the program's function that plays. Raises AgentError if it has none."""
    present = next((name for name in ENTRY_POINTS if name in program.namespace), ENTRY_POINTS[0])
    return program.entry(present)


def seat_bot(program: Program, get_play: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function to ask in one game."""
    return report_calls(get_play, getattr(get_play, "__name__", ENTRY_POINTS[0]))


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    (first, second), n = ENTRY_POINTS, len(ARGUMENTS)
    return defines(text, first, n) or defines(text, second, n, needed=n)  # projects of other courses have a `play`
