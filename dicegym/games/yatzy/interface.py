"""Yatzy's original bot interface: a file ``yatzy.py`` with ``command(standing)`` -> a command.

Bots of the original speak to a server: they read a STANDING and answer with ROLL_DICE or SCORE_BOX. Played here,
a bot is the function between the two messages, both as plain dicts, and is asked when it is its turn.

What stands here runs in the process of the bot, which is small: nothing compiled is loaded, and no array. The other
half, which makes actions of answers, is ``adapter.py``. What interfaces offer: `dicegym.games.parts.Interface`.
"""

from __future__ import annotations

import socket
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from dicegym.bots.calls import report_calls
from dicegym.bots.program import Program
from dicegym.bots.source import defines
from dicegym.bots.surroundings import PrivateRandom
from dicegym.errors import AgentError

ENTRY_FILES = ("yatzy.py",)
ENTRY_POINT = "command"
ARGUMENTS = ("standing",)


NETWORK = ("socket", "asyncio", "websocket", "websockets")
"""What a client of the server imports."""
A_CLIENT = (
    f"a bot in a file is a function {ENTRY_POINT}(standing) that returns a command, without a connection and without "
    'LOGIN; a client that connects to a server sends {"key": "LOGIN", "secret": ...} first, and is run by itself'
)


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return a module ``socket`` that says what a bot is instead; the original interface is the messages alone."""

    def connect(*_: object, **__: object) -> NoReturn:
        raise PermissionError(f"a bot is a function {ENTRY_POINT}(standing): it needs no LOGIN and no connection")

    module = types.ModuleType("socket")
    vars(module).update({name: value for name, value in vars(socket).items() if not name.startswith("__")})
    vars(module).update(socket=connect, create_connection=connect)
    return {"socket": module}


def find(program: Program) -> Callable[..., Any]:
    """Return the bot in a program: STANDING -> command. Raises AgentError."""
    modules = [value.__name__ for value in program.namespace.values() if isinstance(value, types.ModuleType)]
    named = program.source.attribute is not None or ENTRY_POINT in program.namespace
    if not named and any(name in NETWORK for name in modules):
        raise AgentError(program.name, f"{program.source.file.name} defines no {ENTRY_POINT}: {A_CLIENT}")
    return program.entry(ENTRY_POINT)


def seat_bot(program: Program, command: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return what is asked in one game: the function."""
    return report_calls(command, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game, or like a client, which `find` explains."""
    return defines(text, ENTRY_POINT, len(ARGUMENTS)) or (
        "SCORE_BOX" in text and any(f"import {name}" in text for name in NETWORK)
    )
