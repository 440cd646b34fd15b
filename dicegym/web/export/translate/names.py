"""Names of Python's in JavaScript, and what a function asks of the program that it is part of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dicegym.web.export.translate.types import Value

_WORDS = """
arguments await break case catch class const continue debugger default delete do else enum eval export extends false
finally for function if implements import in instanceof interface let new null package private protected public return
static super switch this throw true try typeof undefined var void while with yield
"""
_RESERVED = frozenset(_WORDS.split())


class Callees(Protocol):
    """What a function needs of the program that it is part of."""

    def call(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[str, Value]:
        """Return the name of a kernel for these arguments, and what it returns (without code)."""

    def constant(self, value: Any) -> Value:
        """Return an array or tuple of constants."""


def safe_name(name: str) -> str:
    """Return a name of Python's as one of JavaScript's."""
    return f"{name}_" if name in _RESERVED else name
