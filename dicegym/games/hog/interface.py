"""Hog's original bot interface: a file ``hog.py`` with ``final_strategy(score, opponent_score)`` -> -1..10.

The course has also called that file ``hog_contest.py`` and ``final_strategy.py``. The file may be the whole course
project: this module supplies the modules ``dice`` and ``ucb`` that it imports, and ``@main`` does not run it.

This module runs in the bot's process, which is small: it must not load NumPy or compiled code. ``adapter.py`` is the
other half. The protocol is `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Mapping
from typing import Any

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom

ENTRY_FILES = ("hog.py", "hog_contest.py", "final_strategy.py")
ENTRY_POINT = "final_strategy"
ARGUMENTS = ("score", "opponent_score")
"""The function of the original interface, which returns a number of dice, and its arguments."""


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return the course's modules ``dice`` and ``ucb``; the dice roll with ``rng``."""

    def make_fair_dice(sides: int) -> Callable[[], int]:
        return lambda: int(rng.random() * sides) + 1

    def make_test_dice(*outcomes: int) -> Callable[[], int]:
        return itertools.cycle(outcomes).__next__

    def keep_as_is(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function``: bots are called, not run as programs, and nobody reads a trace."""
        return function

    def silent(*_: object, **__: object) -> None:
        """Do nothing: there is no terminal."""

    dice, ucb = types.ModuleType("dice"), types.ModuleType("ucb")
    vars(dice).update(make_fair_dice=make_fair_dice, make_test_dice=make_test_dice)
    vars(dice).update(four_sided=make_fair_dice(4), six_sided=make_fair_dice(6))
    vars(ucb).update(main=keep_as_is, trace=keep_as_is, log_current_line=silent, interact=silent)
    return {"dice": dice, "ucb": ucb}


def find(program: Program) -> Callable[..., Any]:
    """Return the strategy in a program: (score, opponent_score) -> number. Raises AgentError."""
    return program.entry(ENTRY_POINT)


def seat_bot(program: Program, strategy: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function that plays one game: the strategy."""
    return report_calls(strategy, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, ENTRY_POINT, len(ARGUMENTS))
