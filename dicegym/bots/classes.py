"""The class that plays, in interfaces whose bots derive from a class that is supplied."""

from __future__ import annotations

import inspect
from typing import Any

from dicegym.bots.program import Program
from dicegym.errors import AgentError


def class_in(program: Program, base: type, method: str) -> type[Any]:
    """Return the class of a program that plays: of those that derive from ``base``, the last one defined.

    Classes of the file itself come before those it imports, and one that others derive from does not play itself. If
    several are left, ``program.remarks`` says which one plays, and how to choose.

    Raises AgentError if there is none.
    """
    found = [
        value
        for value in dict.fromkeys(value for value in program.namespace.values() if isinstance(value, type))
        if issubclass(value, base) and value is not base and not inspect.isabstract(value)
    ]
    if not found:
        raise AgentError(
            program.name,
            f"{program.source.file.name} defines no class that derives from {base.__name__} and has a method {method}",
        )
    own = [value for value in found if value.__module__ == program.namespace["__name__"]] or found
    plays = own[-1]
    able = [value.__name__ for value in own if not any(value in other.__mro__[1:] for other in own)]
    if len(able) > 1:
        program.remarks.append(
            f"{len(able)} classes derive from {base.__name__}: {', '.join(able)}. The last one, {plays.__name__}, "
            f"plays; another one is chosen by its name, as in {program.source.file.name}:{able[0]}"
        )
    return plays


def check_class(program: Program, found: object, base: type) -> type[Any]:
    """Return the class that a source names. Raises AgentError if it is none that derives from ``base``."""
    if isinstance(found, type) and issubclass(found, base):
        return found
    raise AgentError(program.name, f"{program.source.attribute} is no class that derives from {base.__name__}")
