"""Kernels of a game and all that they call, as one script of JavaScript.

The script is a function that is given arrays of constants and returns an object::

    layout        fields of the record, in order: [name, typed array, elements, dtype, shape]
    functions     of what was asked for, by name

Constants are kept apart as bytes, so that they can be packed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import TranslationError
from dicegym.web.export.translate.function import FunctionTranslator
from dicegym.web.export.translate.names import safe_name
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.types import (
    BOOL,
    INT,
    SAFE,
    STORES,
    ArrayOf,
    TupleOf,
    Value,
    item_type,
)


class Script(NamedTuple):
    """Translated kernels."""

    code: str
    """The body of a function of ``$c``, an array of typed arrays, which ends by returning the functions by name."""
    constants: tuple[np.ndarray, ...]
    """What ``$c`` is to hold, flat."""
    functions: tuple[str, ...]
    """Names of what it returns."""


class KernelProgram:
    """Collects kernels for given types of arguments, what they call, and the constants that they read."""

    def __init__(self) -> None:
        self._done: dict[tuple[Callable[..., Any], tuple[Any, ...]], tuple[str, Value]] = {}
        self._working: list[Callable[..., Any]] = []
        self._names: set[str] = set()
        self._code: list[str] = []
        self._arrays: dict[tuple[str, bytes], tuple[str, np.ndarray, ArrayOf]] = {}

    def call(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[str, Value]:
        """Return the name of a kernel for arguments of these types, and what it returns; it is translated if need be.

        Raises TranslationError.
        """
        key = function, kinds
        if key not in self._done:
            if function in self._working:
                raise TranslationError(f"{function.__qualname__} calls itself, which is not translated to JavaScript")
            self._working.append(function)
            name = self._name(function.__name__)
            code, returned = FunctionTranslator(self, function, kinds).translate(name)
            self._working.pop()
            self._code.append(code)
            self._done[key] = name, returned
        return self._done[key]

    def forget_unfinished(self) -> None:
        """Go on after a TranslationError: what was being translated is left out."""
        self._working.clear()

    def _name(self, wanted: str) -> str:
        name, number = safe_name(wanted), 1
        while name in self._names:
            number += 1
            name = f"{safe_name(wanted)}${number}"
        self._names.add(name)
        return name

    def constant(self, value: Any) -> Value:
        """Return an array or a tuple that kernels read. Raises UntranslatableError."""
        return self._tuple(value) if isinstance(value, tuple) else self._array(np.ascontiguousarray(value))

    def _array(self, value: np.ndarray) -> Value:
        if value.dtype.name not in STORES or value.dtype == np.uint64:
            raise UntranslatableError(f"an array of {value.dtype}")
        low = high = None
        held = value.astype(np.uint8) if value.dtype == np.bool_ else value
        if value.dtype.kind == "i":
            low, high = int(value.min()), int(value.max())
            if not -SAFE <= low <= high <= SAFE:
                raise UntranslatableError(f"an array of whole numbers beyond {SAFE}")
            held = value.astype(np.float64) if value.dtype == np.int64 else value
            fitting = (kind for kind in (np.int8, np.int16, np.int32) if held.min() >= np.iinfo(kind).min)
            held = next((value.astype(kind) for kind in fitting if high <= np.iinfo(kind).max), held)
        kind = ArrayOf(item_type(value.dtype), value.shape, STORES[held.dtype.name], low, high)
        key = str(kind), held.tobytes()
        if key not in self._arrays:
            self._arrays[key] = self._name("$k"), held.ravel(), kind
        return Value(self._arrays[key][0], kind)

    def _tuple(self, value: tuple[Any, ...]) -> Value:
        parts: list[Value] = []
        for one in value:
            if isinstance(one, bool):
                parts.append(Value("true" if one else "false", BOOL))
            elif isinstance(one, int) and abs(one) <= SAFE:
                parts.append(Value(str(one), INT, one, one))
            elif isinstance(one, float):
                parts.append(Value(repr(one), item_type(np.dtype(np.float64))))
            else:
                raise UntranslatableError(f"a tuple of {type(one).__name__}")
        return Value(f"[{', '.join(one.code for one in parts)}]", TupleOf(tuple(one.type for one in parts)))

    def script(self, functions: Mapping[str, str], layout: np.dtype | None = None) -> Script:
        """Return all that was translated.

        Args:
            functions: names by which callers ask -> names as of `call`.
            layout: the dtype of the record.
        """
        lines = [_runtime()]
        for number, (name, _, kind) in enumerate(self._arrays.values()):
            lines.append(f"const {name} = new {kind.store}($c[{number}]);")
        given = ", ".join(f"{json.dumps(asked)}: {name}" for asked, name in functions.items())
        fields = [] if layout is None else fields_of(layout)
        lines += [*self._code, f"return {{layout: {json.dumps(fields)}, functions: {{{given}}}}};"]
        return Script("\n".join(lines), tuple(array for _, array, _ in self._arrays.values()), tuple(functions))


def fields_of(dtype: np.dtype) -> list[list[Any]]:
    """Return the fields of a record: name, typed array, number of elements, dtype, shape."""
    fields: list[list[Any]] = []
    for name in dtype.names or ():
        base = dtype[name].base
        shape = dtype[name].shape
        fields.append([name, STORES[base.name], int(np.prod(shape)), base.name, list(shape)])
    return fields


def _runtime() -> str:
    return (resources.files("dicegym.web.export.translate") / "runtime.js").read_text(encoding="utf-8")


def packed(arrays: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """Return arrays as JSON can hold them: [[typed array, elements], ...] and all their bytes, deflated, in base64.

    Small whole numbers take one byte each: what they are made into says how they are read.
    """
    kinds, parts = [], []
    for array in arrays:
        flat = array.ravel()
        kept = flat.astype(np.int8) if _small(flat) else flat
        kinds.append([STORES[kept.dtype.name], len(kept)])
        parts.append(kept.tobytes() + b"\0" * (-kept.nbytes % 8))
    return {"kinds": kinds, "bytes": base64.b64encode(zlib.compress(b"".join(parts), 9)).decode()}


def _small(array: np.ndarray) -> bool:
    """Return whether floating point numbers are small whole ones, and none of them is -0."""
    if array.dtype.kind != "f" or not (np.abs(array) <= np.iinfo(np.int8).max).all():
        return False
    return bool((array == np.rint(array)).all()) and not bool((np.signbit(array) & (array == 0)).any())
