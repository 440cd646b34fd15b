"""Pig's bot interface: a file ``pig.py`` with ``roll_again(score, opponent_score, turn_total)`` -> True or False.

This half runs in the bot's process, so it imports nothing heavy.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("pig.py",)
ENTRY_POINT = "roll_again"
ARGUMENTS = ("score", "opponent_score", "turn_total")


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return an empty mapping: bots of Pig import no modules of the original."""
    return {}


def find(program: Program) -> Callable[..., Any]:
    """Return the bot in a program. Raises AgentError for a program without a bot."""
    return program.entry(ENTRY_POINT)


def seat_bot(program: Program, roll_again: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function for one game, with reports of its calls for `dicegym check --show`."""
    return report_calls(roll_again, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, ENTRY_POINT, len(ARGUMENTS))
