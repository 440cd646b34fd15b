"""Expressions of kernels in JavaScript: names, elements of arrays, calls."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import numpy as np

from dicegym.web.export.translate.arrays import NOTHING, ArrayExpressions
from dicegym.web.export.translate.names import safe_name
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
    SINGLE,
    UINT,
    ArrayOf,
    TupleOf,
    Value,
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


class Expressions(ArrayExpressions):
    """Translates expressions; variables are known by name."""

    def expression(self, node: ast.expr) -> Value:
        """Return an expression. Raises UntranslatableError."""
        found = self.resolved(node)
        if found is not NOTHING:
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
        if function is NOTHING:
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
