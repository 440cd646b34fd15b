"""Yatzy's original bot interface: a file ``yatzy.py`` with ``command(standing)`` -> a command.

Bots of the original are clients of a server: they read a STANDING and answer with ROLL_DICE or SCORE_BOX. Here a bot is
just a function from one message to the other, both plain dicts. It is called when it is its turn.

This module runs in the bot's process, which is small: it must not load NumPy or compiled code. ``adapter.py`` is the
other half. The protocol is `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("yatzy.py",)
ENTRY_POINT = "command"
ARGUMENTS = ("standing",)


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return nothing: the original supplies no modules."""
    return {}


def find(program: Program) -> Callable[..., Any]:
    """Return the bot in a program: STANDING -> command. Raises AgentError."""
    return program.entry(ENTRY_POINT)


def seat_bot(program: Program, command: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function that plays one game."""
    return report_calls(command, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, ENTRY_POINT, len(ARGUMENTS))
