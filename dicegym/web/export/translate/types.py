"""Types of values in kernels, and how JavaScript holds them.

=====================  ==========================================================================================
type                   in JavaScript
=====================  ==========================================================================================
signed whole numbers   a number while it is safe (below 2**53), else a BigInt; wrapped to 64 bits
uint64                 a BigInt
floating point         a number; of float32 always rounded by ``Math.fround``
bool                   true and false
array                  a typed array, flat, the last index fastest; rows and slices are views
record                 an object of typed arrays, one for each field
tuple                  an array
=====================  ==========================================================================================
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.np.numpy_support import from_dtype

SAFE = 2**53 - 1
"""The largest whole number that JavaScript's numbers tell from its neighbours."""
INT, FLOAT, SINGLE, BOOL, UINT = types.int64, types.float64, types.float32, types.boolean, types.uint64
STORES = {
    "bool": "Uint8Array",
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "int64": "BigInt64Array",
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "uint64": "BigUint64Array",
    "float32": "Float32Array",
    "float64": "Float64Array",
}
"""The typed array that holds each dtype."""


_SMALL = {
    from_dtype(np.dtype(kind)): (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for kind in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)
}
_WHOLE = frozenset(from_dtype(np.dtype(kind)) for kind in (np.int8, np.int16, np.int32, np.int64))


class ArrayOf(NamedTuple):
    """An array; of two dimensions and more, all but the first are known."""

    item: Any
    """Numba's type of its elements."""
    shape: tuple[int | None, ...]
    store: str
    """The typed array that holds it."""
    low: int | None = None
    """The least element, if it is known: that of a constant."""
    high: int | None = None

    @property
    def size(self) -> int | None:
        """Elements in all, if known."""
        return None if None in self.shape else int(np.prod([side for side in self.shape if side is not None]))


class RecordOf(NamedTuple):
    """A record, which is handed over by reference."""

    dtype: np.dtype


class TupleOf(NamedTuple):
    """Several values."""

    items: tuple[Any, ...]


class Value(NamedTuple):
    """An expression in JavaScript."""

    code: str
    type: Any
    low: int | None = None
    """For whole numbers: none is smaller; None if that is not known."""
    high: int | None = None

    @property
    def known(self) -> int | None:
        """The whole number that it is, if that is known."""
        return self.low if self.low is not None and self.low == self.high else None

    def between(self, low: int, high: int) -> bool:
        """Return whether it certainly lies in low..high."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high


VOID = types.none


def item_type(dtype: np.dtype) -> Any:
    """Return Numba's type of a dtype of plain numbers."""
    return from_dtype(dtype)


def array_of(dtype: np.dtype, shape: tuple[int | None, ...]) -> ArrayOf:
    """Return the type of an array that is written to. Raises KeyError for what JavaScript has no array for."""
    return ArrayOf(item_type(dtype), shape, STORES[dtype.name])


def is_whole(kind: Any) -> bool:
    """Return whether values are signed whole numbers."""
    return kind in _WHOLE


def is_real(kind: Any) -> bool:
    """Return whether values are floating point numbers."""
    return isinstance(kind, types.Float)


def bounds(kind: Any) -> tuple[int | None, int | None]:
    """Return the least and largest value of a type, if JavaScript's numbers are exact for all of them."""
    if kind == BOOL:
        return 0, 1
    if kind in _SMALL:
        return _SMALL[kind]
    return None, None


@functools.cache
def result_of(operation: Callable[..., Any], *kinds: Any) -> tuple[tuple[Any, ...], Any] | None:
    """Return what Numba makes of an operation: (the types its operands are taken as, the type of the result)."""
    context = cpu_target.typing_context
    context.refresh()
    try:
        found = context.resolve_function_type(operation, kinds, {})
    except NumbaError:
        return None
    return None if found is None else (tuple(found.args), found.return_type)


def unified(one: Any, other: Any) -> Any:
    """Return the type of a variable that holds values of both; None if there is none."""
    if one == other:
        return one
    if isinstance(one, TupleOf) and isinstance(other, TupleOf) and len(one.items) == len(other.items):
        parts = tuple(unified(a, b) for a, b in zip(one.items, other.items, strict=True))
        return None if None in parts else TupleOf(parts)
    if isinstance(one, ArrayOf) and isinstance(other, ArrayOf):
        if (one.item, one.store, one.shape[1:]) != (other.item, other.store, other.shape[1:]):
            return None
        return ArrayOf(one.item, (None, *one.shape[1:]), one.store)
    if not (isinstance(one, types.Number | types.Boolean) and isinstance(other, types.Number | types.Boolean)):
        return None
    if UINT in (one, other):
        return None  # Numba makes floating point numbers of them, or others, by its version
    return cpu_target.typing_context.unify_types(one, other)
