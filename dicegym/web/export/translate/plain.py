"""Ordinary functions of Python as JavaScript: how a game reads on a screen, which no compiler has to know.

Here values keep their types to themselves, as in Python, and ``scripts/python.js`` has what operators and methods do.
Numbers are JavaScript's: whole and floating point ones are told apart by nothing but their values. That is enough
for texts and scenes, and a test compares them; rules are translated by types (`dicegym.web.export.translate.function`).
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dicegym.errors import DicegymError, TranslationError, one_line
from dicegym.web.export.translate.names import safe_name
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.plain_function import PlainFunction
from dicegym.web.export.translate.types import SAFE, STORES

_KNOWN: dict[Any, str] = {
    re.fullmatch: "py.fullmatch",
    one_line: "py.oneLine",
    **dict.fromkeys((np.int64, np.int32, np.int8), "py.int"),
    **dict.fromkeys((np.float64, np.float32), "py.float"),
}
"""What is not translated, since ``python.js`` has it."""


class PlainProgram:
    """Collects functions of Python with all that they call and read.

    Args:
        known: functions that are not translated -> what stands for them in the script.
    """

    def __init__(self, known: Mapping[Any, str] = MappingProxyType({})) -> None:
        self._known = _KNOWN | dict(known)
        self._names: dict[Any, str] = {}
        self._code: list[str] = []
        self._arrays: list[np.ndarray] = []
        self._taken: set[str] = set()

    def function(self, function: Callable[..., Any], known: Mapping[str, Any] = MappingProxyType({})) -> str:
        """Return what a function is called in the script; arguments that are ``known`` decide what of it is needed.

        Raises TranslationError.
        """
        plain = inspect.unwrap(getattr(function, "py_func", function))
        key = plain, tuple(sorted(known.items()))
        if key not in self._names:
            before = dict(self._names), list(self._code), list(self._arrays)
            name = self._names[key] = self._name(plain.__name__)
            try:
                code = PlainFunction(self, plain, known).code(name)
            except TranslationError:  # nothing of it is left, nor of what it calls
                self._names, self._code, self._arrays = before
                raise
            self._code.append(code)
        return self._names[key]

    def callable(self, value: Any) -> str:
        """Return the code of a function, or of an object that can be called. Raises TranslationError."""
        if inspect.isfunction(inspect.unwrap(getattr(value, "py_func", value))):
            return self.function(value)
        return f"py.called({self._instance(value)})"

    def _name(self, wanted: str) -> str:
        name, number = safe_name(wanted), 1
        while name in self._taken:
            number += 1
            name = f"{safe_name(wanted)}${number}"
        self._taken.add(name)
        return name

    def constant(self, value: Any) -> str:
        """Return a value that stands in a module. Raises UntranslatableError."""
        match value:
            case _ if inspect.isclass(value) and value in self._known:
                return self._known[value]
            case None | bool() | int() | str():
                if isinstance(value, int) and abs(value) > SAFE + 1:
                    raise UntranslatableError(f"the number {value}")
                return json.dumps(value)
            case float():
                return json.dumps(value) if np.isfinite(value) else f"{'-' if value < 0 else ''}Infinity"
            case np.integer() | np.floating() | np.bool_():
                return self.constant(value.item())
            case np.ndarray():
                return self._array(value)
            case tuple() | list():
                return f"[{', '.join(map(self.constant, value))}]"
            case set() | frozenset():
                return f"new Set([{', '.join(map(self.constant, sorted(value)))}])"
            case dict():
                pairs = ", ".join(f"[{self.constant(key)}, {self.constant(one)}]" for key, one in value.items())
                return f"new Map([{pairs}])"
        if isinstance(value, range):
            return f"py.range({value.start}, {value.stop}, {value.step})"
        if isinstance(value, struct.Struct):
            return f"new py.Struct({json.dumps(value.format)})"
        if isinstance(value, np.dtype):
            return "null"
        if inspect.isclass(value) and issubclass(value, DicegymError):
            return "py.error"
        if inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return self._record(value)
        if inspect.isclass(value):
            return self._class(value)
        if _hashable(value) and value in self._known:
            return self._known[value]
        if callable(value) and inspect.isfunction(inspect.unwrap(getattr(value, "py_func", value))):
            return self.function(value)
        raise UntranslatableError(f"{type(value).__name__} {value!r:.40}")

    def _array(self, value: np.ndarray) -> str:
        key = "array", value.tobytes(), value.shape, str(value.dtype)
        if key not in self._names:
            if value.dtype.name not in STORES or value.dtype.itemsize > 8:
                raise UntranslatableError(f"an array of {value.dtype}")
            held = value.astype(np.float64) if value.dtype.kind in "iub" else value
            self._names[key] = f"new py.Grid($c[{len(self._arrays)}], {json.dumps(value.shape)})"
            self._arrays.append(held.ravel())
        return self._names[key]

    def _record(self, kind: Any) -> str:
        if kind not in self._names:
            name = self._names[kind] = self._name(kind.__name__)
            defaults = {one.name: one.default for one in inspect.signature(kind).parameters.values()}
            given = [
                [field, self.constant(None if default is inspect.Parameter.empty else default)]
                for field, default in defaults.items()
            ]
            fields = ", ".join(f"[{json.dumps(field)}, {default}]" for field, default in given)
            self._code.append(f"const {name} = py.record([{fields}], {self._methods(kind)});\n")
        return self._names[kind]

    def _class(self, kind: Any) -> str:
        """Return what makes objects of a class."""
        if not kind.__module__.startswith("dicegym."):
            raise UntranslatableError(f"the class {kind.__name__}")
        if kind not in self._names:
            name = self._names[kind] = self._name(kind.__name__)
            self._code.append(f"const {name} = py.kind({self._methods(kind)});\n")
        return self._names[kind]

    def _methods(self, kind: Any) -> str:
        """Return the methods of a class that can be translated, by name; the others fail when they are called."""
        found = []
        for name, value in vars(kind).items():
            own = inspect.isfunction(value) and value.__module__ == kind.__module__ and "<" not in value.__qualname__
            if own and not (name.startswith("__") and name not in ("__init__", "__call__")):
                with contextlib.suppress(TranslationError):
                    found.append(f"{json.dumps(name)}: {self.function(value)}")
        return f"{{{', '.join(found)}}}"

    def _instance(self, value: Any) -> str:
        """Return an object with what it holds."""
        fixed = {
            name: one
            for name, one in vars(type(value)).items()
            if not name.startswith("__") and not callable(one) and not isinstance(one, property)
        }
        held = ", ".join(f"{json.dumps(name)}: {self.constant(one)}" for name, one in (fixed | vars(value)).items())
        methods = [
            f"{json.dumps(name)}: {self.function(one)}"
            for name, one in vars(type(value)).items()
            if inspect.isfunction(one) and (name == "__call__" or not name.startswith("__"))
        ]
        return f"py.instance({{{', '.join(methods)}}}, {{{held}}})"

    def script(self, functions: dict[str, str]) -> tuple[str, tuple[np.ndarray, ...]]:
        """Return the body of a function of ``$c`` (arrays) and ``py``, which returns the functions; and the arrays."""
        given = ", ".join(f"{json.dumps(asked)}: {name}" for asked, name in functions.items())
        return "\n".join([*self._code, f"return {{{given}}};"]), tuple(self._arrays)


def _hashable(value: Any) -> bool:
    return getattr(value, "__hash__", None) is not None
