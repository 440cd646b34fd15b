"""Expressions of kernels in JavaScript: names, elements of arrays, calls."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from dicegym.web.export.translate.names import Callees, safe_name
from dicegym.web.export.translate.numbers import (
    UntranslatableError,
    arithmetic,
    compared,
    converted,
    extreme,
    negated,
    real,
    tested,
    whole,
)
from dicegym.web.export.translate.types import (
    BOOL,
    FLOAT,
    INT,
    SAFE,
    SINGLE,
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
    result_of,
    unified,
)

_CASTS: dict[Any, Any] = {
    int: INT,
    float: FLOAT,
    bool: BOOL,
    np.bool_: BOOL,
    np.float32: SINGLE,
    np.float64: FLOAT,
    np.uint64: UINT,
    **{kind: item_type(np.dtype(kind)) for kind in (np.int8, np.int16, np.int32, np.int64)},
}
_OF_REALS: dict[Any, str] = {
    np.log2: "Math.log2",
    np.log: "Math.log",
    np.exp: "Math.exp",
    np.sqrt: "Math.sqrt",
    np.rint: "$rint",
    np.floor: "Math.floor",
    np.ceil: "Math.ceil",
    math.exp: "Math.exp",
    math.log: "Math.log",
    math.log2: "Math.log2",
    math.sqrt: "Math.sqrt",
}
"""Functions of one floating point number. Those that are not rounded exactly differ in the last bit, if at all."""
_NOTHING = object()


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


class Expressions:
    """Translates expressions; variables are known by name."""

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

    # --- what stands in the source ---------------------------------------------------------------------------------

    def resolved(self, node: ast.expr) -> Any:
        """Return the object of Python's that a name or a path of names stands for, or `_NOTHING`."""
        if isinstance(node, ast.Name):
            if node.id in self.variables:
                return _NOTHING
            return self.names.get(node.id, getattr(builtins, node.id, _NOTHING))
        if isinstance(node, ast.Attribute):
            owner = self.resolved(node.value)
            if isinstance(owner, ModuleType | tuple | np.iinfo):
                return getattr(owner, node.attr, _NOTHING)
        if isinstance(node, ast.Call) and self.resolved(node.func) is np.iinfo and len(node.args) == 1:
            return np.iinfo(self.resolved(node.args[0]))
        return _NOTHING

    def expression(self, node: ast.expr) -> Value:
        """Return an expression. Raises UntranslatableError."""
        found = self.resolved(node)
        if found is not _NOTHING:
            return self.constant(found)
        match node:
            case ast.Constant():
                return self.constant(node.value)
            case ast.Name():
                return self._variable(node.id)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._element(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return arithmetic(type(node.op), self.expression(node.left), self.expression(node.right))
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._both(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Tuple():
                parts = [self.expression(one) for one in node.elts]
                return Value(f"[{', '.join(one.code for one in parts)}]", TupleOf(tuple(one.type for one in parts)))
        raise UntranslatableError(ast.unparse(node))

    def constant(self, value: Any) -> Value:
        """Return a value that is known when a kernel is compiled."""
        if isinstance(value, bool | np.bool_):
            return Value("true" if value else "false", BOOL, int(value), int(value))
        if isinstance(value, int):
            return whole(value)
        if isinstance(value, float):  # that of NumPy with 64 bits is one
            return real(float(value))
        if isinstance(value, np.uint64):
            return Value(f"{int(value)}n", UINT)
        if isinstance(value, np.integer):
            return converted(whole(int(value)), item_type(value.dtype))
        if isinstance(value, np.floating):
            return real(float(value), item_type(value.dtype))
        if isinstance(value, np.ndarray | tuple):
            return self.program.constant(value)
        raise UntranslatableError(f"{value!r:.60}")

    def _variable(self, name: str) -> Value:
        if name not in self.variables:
            raise UntranslatableError(f"{name}, which has no value yet,")
        return self.variables[name]._replace(code=safe_name(name))

    # --- records and arrays ------------------------------------------------------------------------------------------

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

    # --- operators ---------------------------------------------------------------------------------------------------

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(f"(!{self.test(node.operand)})", BOOL)
        value = self.expression(node.operand)
        if isinstance(node.op, ast.USub):
            return negated(value)
        if isinstance(node.op, ast.Invert) and is_whole(value.type):
            return arithmetic(ast.Sub, whole(-1), value)
        raise UntranslatableError(ast.unparse(node))

    def test(self, node: ast.expr) -> str:
        """Return the code of whether an expression counts as true."""
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(self.test(one) for one in node.values)})"
        return tested(self.expression(node))

    def _both(self, node: ast.BoolOp) -> Value:
        if any(self.expression(one).type != BOOL for one in node.values):
            raise UntranslatableError(f"the value of {ast.unparse(node)}, which is one of several numbers,")
        return Value(self.test(node), BOOL)

    def _comparison(self, node: ast.Compare) -> Value:
        parts: list[str] = []
        left = self.expression(node.left)
        for number, (operation, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.expression(right_node)
            if number < len(node.ops) - 1 and not isinstance(right_node, ast.Name | ast.Constant):
                held = self.temporary()
                parts.append(compared(type(operation), left, right._replace(code=f"({held} = {right.code})")).code)
                right = right._replace(code=held)
            else:
                parts.append(compared(type(operation), left, right).code)
            left = right
        return Value(parts[0] if len(parts) == 1 else f"({' && '.join(parts)})", BOOL)

    def _choice(self, node: ast.IfExp) -> Value:
        test, one, other = self.test(node.test), self.expression(node.body), self.expression(node.orelse)
        kind = unified(one.type, other.type)
        if kind is None:
            raise UntranslatableError(f"a choice between {one.type} and {other.type}")
        if not isinstance(kind, ArrayOf | TupleOf):
            one, other = converted(one, kind), converted(other, kind)
        low = None if one.low is None or other.low is None else min(one.low, other.low)
        high = None if one.high is None or other.high is None else max(one.high, other.high)
        return Value(f"({test} ? {one.code} : {other.code})", kind, low, high)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        function = self.resolved(node.func)
        if function is _NOTHING:
            raise UntranslatableError(f"the call of {ast.unparse(node.func)}")
        if function in (np.zeros, np.empty, np.full, np.ones):
            return self._made(node, function)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise UntranslatableError("a call with names or stars")
        if function is len:
            return self._length_of(node.args[0])
        values = [self.expression(one) for one in node.args]
        if function in _CASTS and len(values) == 1:
            return converted(values[0], _CASTS[function])
        if function in (min, max) and len(values) > 1:
            return extreme(function is max, values)
        if function is abs and len(values) == 1 and is_real(values[0].type):
            return Value(f"Math.abs({values[0].code})", values[0].type)
        if function in _OF_REALS and len(values) == 1:
            return self._of_real(function, values[0])
        kernel = inspect.unwrap(getattr(function, "py_func", function))
        if not inspect.isfunction(kernel) or kernel.__module__.partition(".")[0] in ("numpy", "numba"):
            raise UntranslatableError(f"the call of {ast.unparse(node.func)}")
        name, returned = self.program.call(kernel, tuple(one.type for one in values))
        return returned._replace(code=f"{name}({', '.join(one.code for one in values)})")

    def _of_real(self, function: Any, value: Value) -> Value:
        found = result_of(function, value.type)
        if found is None or not is_real(found[1]):
            raise UntranslatableError(f"{function.__name__} of {value.type}")
        code = f"{_OF_REALS[function]}({converted(value, FLOAT).code})"
        return Value(f"Math.fround({code})" if found[1] == SINGLE else code, found[1])

    def _length_of(self, node: ast.expr) -> Value:
        found = self.resolved(node)
        if isinstance(found, tuple | np.ndarray):
            return whole(len(found))
        value = self.expression(node)
        if isinstance(value.type, TupleOf):
            return whole(len(value.type.items))
        if not isinstance(value.type, ArrayOf):
            raise UntranslatableError(f"the length of {ast.unparse(node)}")
        return self._length(value)

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
