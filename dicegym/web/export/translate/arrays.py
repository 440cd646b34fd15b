"""Records and arrays of kernels in JavaScript: fields, elements, parts, and new ones."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from dicegym.web.export.translate.names import Callees
from dicegym.web.export.translate.numbers import UntranslatableError, converted, tested, whole
from dicegym.web.export.translate.types import (
    BOOL,
    FLOAT,
    INT,
    SAFE,
    STORES,
    UINT,
    ArrayOf,
    RecordOf,
    TupleOf,
    Value,
    array_of,
    bounds,
    is_real,
    is_whole,
    item_type,
)

NOTHING = object()
"""What stands for no object of Python's."""


class ArrayPlace(NamedTuple):
    """Where an assignment goes: an element of an array, or a part of it."""

    base: str
    at: str
    array: ArrayOf
    element: bool

    @property
    def code(self) -> str:
        """The element, or a view of the part."""
        return f"{self.base}[{self.at}]" if self.element else self.base


class ArrayExpressions:
    """Translates what names fields, elements and parts of arrays; `Expressions` adds all that may stand within."""

    def __init__(self, program: Callees, names: dict[str, Any]) -> None:
        self.program = program
        self.names = names
        self.variables: dict[str, Value] = {}
        self.temporaries = 0
        self._counters = 0

    def temporary(self) -> str:
        """Return the name of a variable that nothing else uses."""
        self.temporaries += 1
        return f"$t{self.temporaries - 1}"

    def counter(self) -> str:
        """Return a name for what a loop declares itself."""
        self._counters += 1
        return f"$i{self._counters}"

    def expression(self, node: ast.expr) -> Value:
        """Return an expression. Raises UntranslatableError."""
        raise NotImplementedError(f"{type(self).__name__} must define expression(node)")

    def resolved(self, node: ast.expr) -> Any:
        """Return the object of Python's that a name or a path of names stands for, or `NOTHING`."""
        if isinstance(node, ast.Name):
            if node.id in self.variables:
                return NOTHING
            return self.names.get(node.id, getattr(builtins, node.id, NOTHING))
        if isinstance(node, ast.Attribute):
            owner = self.resolved(node.value)
            if isinstance(owner, ModuleType | tuple | np.iinfo):
                return getattr(owner, node.attr, NOTHING)
        if isinstance(node, ast.Call) and self.resolved(node.func) is np.iinfo and len(node.args) == 1:
            return np.iinfo(self.resolved(node.args[0]))
        return NOTHING

    def _record_field(self, node: ast.Attribute) -> tuple[str, np.dtype]:
        owner = self.expression(node.value)
        if not isinstance(owner.type, RecordOf) or node.attr not in (owner.type.dtype.names or ()):
            raise UntranslatableError(ast.unparse(node))
        return f"{owner.code}.{node.attr}", owner.type.dtype[node.attr]

    def field(self, node: ast.Attribute) -> str:
        """Return the typed array that holds a field of a record."""
        return self._record_field(node)[0]

    def field_type(self, node: ast.Attribute) -> ArrayOf:
        """Return what its elements are."""
        dtype = self._record_field(node)[1]
        return array_of(dtype.base, dtype.shape or (1,))

    def _attribute(self, node: ast.Attribute) -> Value:
        code, dtype = self._record_field(node)
        array = array_of(dtype.base, dtype.shape or (1,))
        return Value(code, array) if dtype.shape else self.loaded(f"{code}[0]", array)

    def loaded(self, code: str, array: ArrayOf) -> Value:
        """Return an element of an array as a value."""
        low, high = bounds(array.item)
        low, high = (array.low if array.low is not None else low), (array.high if array.high is not None else high)
        if array.item == BOOL:
            return Value(f"({code} !== 0)", BOOL)
        if array.store == "BigInt64Array":
            return Value(f"$whole({code})", INT)
        return Value(code, array.item, low, high) if is_whole(array.item) else Value(code, array.item)

    def stored(self, value: Value, array: ArrayOf) -> str:
        """Return a value as it is put into an array, which wraps and rounds it itself."""
        if not isinstance(value.type, types.Number | types.Boolean):
            raise UntranslatableError("an element that is no number")
        if (value.type == UINT) != (array.item == UINT):
            raise UntranslatableError(f"{value.type} put where {array.item} stands: convert it")
        if array.item == BOOL:
            return f"({tested(value)} ? 1 : 0)"
        if is_real(array.item):
            return converted(value, FLOAT).code
        if array.item == UINT:
            return value.code
        if array.store == "BigInt64Array":
            return f"BigInt({converted(value, INT).code})"
        as_whole = converted(value, INT)
        return as_whole.code if as_whole.between(-SAFE, SAFE) else f"$narrow({as_whole.code}, {array.item.bitwidth})"

    def conversion(self, source: ArrayOf, target: ArrayOf) -> str:
        """Return a function that makes an element of one array one of another."""
        return f"($x) => {self.stored(self.loaded('$x', source), target)}"

    def place(self, node: ast.expr) -> ArrayPlace:
        """Return what a subscript names: integers first, then at most one slice that leaves anything out."""
        if not isinstance(node, ast.Subscript):
            raise UntranslatableError(ast.unparse(node))
        array = self.expression(node.value)
        if not isinstance(array.type, ArrayOf):
            raise UntranslatableError(f"an element of {ast.unparse(node.value)}")
        shape = array.type.shape
        indices = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) > len(shape):
            raise UntranslatableError(f"{len(indices)} indices of an array of {len(shape)} dimensions")
        fixed = next((n for n, one in enumerate(indices) if isinstance(one, ast.Slice)), len(indices))
        if not all(isinstance(one, ast.Slice) for one in indices[fixed:]):
            raise UntranslatableError("an index after a slice")
        parts = [self._term(one, shape, n, array.code) for n, one in enumerate(indices[:fixed])]
        offset = " + ".join(parts) if parts else "0"
        rest = shape[fixed:]
        if not rest:
            return ArrayPlace(array.code, offset, array.type, True)
        inner = self._size(rest[1:])
        view = array.type._replace(shape=rest)
        first = indices[fixed] if fixed < len(indices) else ast.Slice()
        if not isinstance(first, ast.Slice) or any(
            one.lower or one.upper or one.step for one in indices[fixed + 1 :] if isinstance(one, ast.Slice)
        ):
            raise UntranslatableError("a slice of a later dimension")
        if first.lower is None and first.upper is None and first.step is None:
            if not parts:
                return ArrayPlace(array.code, "", view, False)
            size = self._size(rest)
            return ArrayPlace(f"{array.code}.subarray({offset}, {offset} + {size})", "", view, False)
        if first.step is not None:
            raise UntranslatableError("a slice with a step")
        length = f"{array.code}.length" if rest[0] is None else str(rest[0])
        ends = [self._bound(one, length) for one in (first.lower, first.upper)]
        low = ends[0] or "0"
        scaled = [one if inner == 1 else f"({one}) * {inner}" for one in (low, ends[1] or length)]
        if rest[0] is None and ends[1] is None:
            scaled[1] = length
        begin = "" if not parts else f"{offset} + "
        view = view._replace(shape=(None, *rest[1:]))
        return ArrayPlace(f"{array.code}.subarray({begin}{scaled[0]}, {begin}{scaled[1]})", "", view, False)

    def _bound(self, node: ast.expr | None, length: str) -> str | None:
        if node is None:
            return None
        value = self._number_of(node)
        if value.low is None or value.low < 0:
            return f"$end({value.code}, {length})"
        return value.code

    def _number_of(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Call) and self.resolved(node.func) is np.uint64 and len(node.args) == 1:
            inner = self.expression(node.args[0])  # which says that it is not negative
            if is_whole(inner.type):
                return inner._replace(low=max(0, inner.low or 0))
        value = self.expression(node)
        if value.type == UINT:
            return Value(f"Number({value.code})", INT, 0, SAFE)
        if not is_whole(value.type) and value.type != BOOL:
            raise UntranslatableError(f"the index {ast.unparse(node)} of type {value.type}")
        return converted(value, INT)

    def _term(self, node: ast.expr, shape: tuple[int | None, ...], place: int, array: str) -> str:
        """Return what an index adds to the place of an element; negative ones count from the end."""
        value, side = self._number_of(node), shape[place]
        inner = self._size(shape[place + 1 :])
        code = value.code
        if value.low is None or value.low < 0:
            rows = f"{array}.length" if inner == 1 else f"{array}.length / {inner}"
            code = f"$at({code}, {rows if side is None else side})"
        if value.known is not None and value.known >= 0:
            return str(value.known * inner)
        return code if inner == 1 else f"{code} * {inner}"

    def _size(self, shape: tuple[int | None, ...]) -> int:
        size = 1
        for side in shape:
            if side is None:
                raise UntranslatableError("an array whose rows have no known length")
            size *= side
        return size

    def _element(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._side(node.value.value, node.slice)
        owner = self.expression(node.value)
        if isinstance(owner.type, TupleOf):
            index = self._number_of(node.slice)
            if index.known is not None and -len(owner.type.items) <= index.known < len(owner.type.items):
                kind = owner.type.items[index.known]
                return Value(f"{owner.code}[{index.known % len(owner.type.items)}]", kind, *bounds(kind))
            if len(set(owner.type.items)) == 1:
                kind = owner.type.items[0]
                return Value(f"{owner.code}[$at({index.code}, {len(owner.type.items)})]", kind, *bounds(kind))
            raise UntranslatableError("an element of a tuple of several types, by a number not known")
        place = self.place(node)
        return self.loaded(place.code, place.array) if place.element else Value(place.code, place.array)

    def _side(self, array: ast.expr, index: ast.expr) -> Value:
        found, number = self.expression(array), self.expression(index)
        if not isinstance(found.type, ArrayOf) or number.known is None:
            raise UntranslatableError("the length of what is no array")
        side = found.type.shape[number.known]
        if side is not None:
            return whole(side)
        return self._length(found)

    def _length(self, array: Value) -> Value:
        shape = array.type.shape
        if shape[0] is not None:
            return whole(shape[0])
        inner = self._size(shape[1:])
        return Value(f"{array.code}.length" if inner == 1 else f"({array.code}.length / {inner})", INT, 0, 2**31)

    def _made(self, node: ast.Call, function: Callable[..., Any]) -> Value:
        """Return a new array."""
        given = list(node.args)
        named = {one.arg: one.value for one in node.keywords}
        sides = list(given[0].elts) if isinstance(given[0], ast.Tuple) else [given[0]]
        counts = [self._number_of(one) for one in sides]
        shape = tuple(one.known for one in counts)
        fill = given[1] if function is np.full and len(given) > 1 else None
        after = given[2:] if function is np.full else given[1:]
        asked = named.get("dtype", after[0] if after else None)
        filled = None if fill is None else self.expression(fill)
        kind: np.dtype[Any] = np.dtype(np.float64)
        if asked is not None:
            kind = np.dtype(self.resolved(asked))
        elif filled is not None and filled.type == INT:
            kind = np.dtype(np.int64)
        array = ArrayOf(item_type(kind), shape, STORES[kind.name])
        self._size(shape[1:])
        size = " * ".join(one.code for one in counts)
        code = f"new {array.store}({size})"
        if filled is not None:
            code += f".fill({self.stored(filled, array)})"
        elif function is np.ones:
            code += f".fill({self.stored(whole(1), array)})"
        return Value(code, array)
