"""Observation parts, declared once: lengths for everybody, and offsets that kernels use as constants.

A game's ``rules.py`` declares what an observation is made of, in order, and `observe` says where by name::

    FEATURES = Features({"scores": 2, "own tens": 10, "run": With("memory", 4)})
    AT = FEATURES.offsets
    ...
    out[AT.own_tens + score // 10 % 10] = 1

So adding a part is one line in the declaration, one write in `observe` and one row in the table of the rules page.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from keyword import iskeyword
from typing import Any, NamedTuple

from dicegym.errors import ParameterError


class With(NamedTuple):
    """The length of a part that is there only if ``parameter`` is not 0."""

    parameter: str
    length: int


def _length(declared: int | With) -> int:
    return declared.length if isinstance(declared, With) else declared


class Features:
    """What an observation is made of; called with parameters, the parts in order, each with its length.

    Args:
        parts: name -> number of elements, in order. A part of some settings alone has its
            length in a `With`; such parts stand last and hang on one parameter, so that where a part begins is the
            same in all settings.

    Attributes:
        offsets: where each part begins: a named tuple of int, one field for each part, its spaces as ``_``. Numba
            takes it for a constant, so kernels that read a field of it compute nothing.
        size: elements of all parts together, of those that a setting leaves out too.

    Raises:
        ParameterError: a length is not a whole number of at least 1, two parts would go by one name in code, or a part
            would begin elsewhere in other settings.
    """

    offsets: Any  # of fields that no type checker can know

    def __init__(self, parts: Mapping[str, int | With]) -> None:
        self._parts = dict(parts)
        names: list[str] = []
        begins: list[int] = []
        self.size = 0
        switch: str | None = None
        for part, length in self._parts.items():
            name = part.replace(" ", "_")
            if not name.isidentifier() or iskeyword(name) or name.startswith("_") or name in names:
                raise ParameterError(
                    f"the observation part {part!r} would be AT.{name} in a kernel, which is no name or another "
                    "part's: give it a name of letters, digits and spaces that is its own"
                )
            wanted = length.parameter if isinstance(length, With) else None
            if switch is not None and wanted != switch:
                raise ParameterError(
                    f"the observation part {part!r} would begin elsewhere if {switch} is 0, and kernels know one "
                    f"place: put it before the parts With({switch!r}, ...), or make it one of them"
                )
            switch = wanted
            count = _length(length)
            if type(count) is not int or count < 1:
                raise ParameterError(
                    f"the observation part {part!r} cannot have the length {count!r}: give a whole number from 1, and "
                    "With(parameter, length) for a part of some settings alone"
                )
            names.append(name)
            begins.append(self.size)
            self.size += count
        offsets: Callable[..., Any] = namedtuple("Offsets", names)  # type: ignore[misc]  # a list made above
        self.offsets = offsets(*begins)

    def __call__(self, parameters: Mapping[str, int]) -> dict[str, int]:
        """Return the parts that there are under ``parameters``, in order, each with its length."""
        return {
            part: _length(length)
            for part, length in self._parts.items()
            if not isinstance(length, With) or parameters[length.parameter]
        }
