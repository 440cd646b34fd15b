"""Yatzy's original bot interface: a file ``yatzy.py`` with ``command(standing)`` -> a command.

Bots of the original speak to a server: they read a STANDING and answer with ROLL_DICE or SCORE_BOX. Played here,
a bot is the function between the two messages, both as plain dicts, and is asked when it is its turn.

What stands here runs in the process of the bot, which is small: nothing compiled is loaded, and no array. The other
half, which makes actions of answers, is ``adapter.py``. What interfaces offer: `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import witnessed
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("yatzy.py",)
ENTRY_POINT = "command"


def supplied_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return no modules: the original interface is the messages alone."""
    return {}


def find(program: Program) -> Callable[..., Any]:
    """Return the bot in a program: STANDING -> command. Raises AgentError."""
    return program.entry(ENTRY_POINT)


def seated(program: Program, command: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return what is asked in one game: the function."""
    return witnessed(command, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, ENTRY_POINT, 1)
