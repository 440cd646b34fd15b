"""Yatzy's original bot interface: a file ``yatzy.py`` with ``command(standing)`` -> a command.

Bots of the original are clients of a server: they read a STANDING and answer with ROLL_DICE or SCORE_BOX. Here a bot is
just a function from one message to the other, both plain dicts. It is called when it is its turn.

This module runs in the bot's process, which is small: it must not load NumPy or compiled code. ``adapter.py`` is the
other half. The protocol is `dicegym.games.parts.Interface`.
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
"""Modules that a client of the server imports."""


def supply_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return a module ``socket`` whose connections raise an error that explains what a bot is."""

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
        raise AgentError(
            program.name,
            f"{program.source.file.name} defines no {ENTRY_POINT}: a bot in a file is a function "
            f"{ENTRY_POINT}(standing) that returns a command, without a connection and without LOGIN; a client that "
            'connects to a server sends {"key": "LOGIN", "secret": ...} first, and is run by itself',
        )
    return program.entry(ENTRY_POINT)


def seat_bot(program: Program, command: Callable[..., Any], seat: int) -> Callable[..., Any]:
    """Return the function that plays one game."""
    return report_calls(command, ENTRY_POINT)


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game, or like a client, which `find` explains."""
    return defines(text, ENTRY_POINT, len(ARGUMENTS)) or (
        "SCORE_BOX" in text and any(f"import {name}" in text for name in NETWORK)
    )
