"""Declaration of observation parts, with their lengths and with offsets that kernels use as constants.

A game's ``rules.py`` declares the parts in order, and `observe` uses their offsets by name::

    FEATURES = Features({"scores": 2, "own tens": 10, "run": With("memory", 4)})
    AT = FEATURES.offsets
    ...
    out[AT.own_tens + score // 10 % 10] = 1

A new part needs one line in the declaration, one write in `observe` and one row in the table of the rules page.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from keyword import iskeyword
from typing import Any, NamedTuple

from dicegym.errors import ParameterError


class With(NamedTuple):
    """The length of a part that exists only if ``parameter`` is not 0."""

    parameter: str
    length: int


class Features:
    """The parts of an observation. Calling it with parameters returns the parts in order, each with its length.

    Args:
        parts: name -> number of elements, in order. A conditional part has its length in a `With`. Conditional parts
            come last and depend on one parameter, so that offsets are the same in all settings.

    Attributes:
        offsets: where each part begins: a named tuple of int, one field for each part, with ``_`` for spaces. Numba
            treats it as a constant.
        size: number of elements of all parts, conditional ones included.

    Raises:
        ParameterError: a length is not a whole number from 1, a name is invalid or taken, or an offset would depend on
            settings.
    """

    offsets: Any  # type checkers cannot know its fields

    def __init__(self, parts: Mapping[str, int | With]) -> None:
        self._parts = {part: size if isinstance(size, With) else With("", size) for part, size in parts.items()}
        names: list[str] = []
        begins: list[int] = []
        self.size = 0
        switch = ""
        for part, (wanted, length) in self._parts.items():
            name = part.replace(" ", "_")
            if not name.isidentifier() or iskeyword(name) or name.startswith("_") or name in names:
                raise ParameterError(
                    f"the observation part {part!r} cannot be AT.{name} in a kernel: give it a unique name of letters, "
                    "digits and spaces"
                )
            if switch and wanted != switch:
                raise ParameterError(
                    f"the observation part {part!r} would begin elsewhere if {switch} is 0, but offsets are constant: "
                    f"put it before the parts With({switch!r}, ...), or make it one of them"
                )
            switch = wanted
            if type(length) is not int or length < 1:
                raise ParameterError(
                    f"the observation part {part!r} cannot have the length {length!r}: give a whole number from 1, or "
                    "With(parameter, length) for a conditional part"
                )
            names.append(name)
            begins.append(self.size)
            self.size += length
        offsets: Callable[..., Any] = namedtuple("Offsets", names)  # type: ignore[misc]  # a list made above
        self.offsets = offsets(*begins)

    def __call__(self, parameters: Mapping[str, int]) -> dict[str, int]:
        """Return the parts under these parameters in order, each with its length."""
        return {part: one.length for part, one in self._parts.items() if not one.parameter or parameters[one.parameter]}
