"""Operations on numbers, in JavaScript: exactly what compiled code computes, wrap-around included."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from numba import types

from dicegym.web.export.translate.types import (
    BOOL,
    FLOAT,
    INT,
    SAFE,
    SINGLE,
    UINT,
    Value,
    bounds,
    is_real,
    is_whole,
    result_of,
)

OPERATIONS: dict[type[ast.operator], tuple[str, Callable[..., Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}
HELPERS = {
    "+": "$add",
    "-": "$sub",
    "*": "$mul",
    "//": "$floorDiv",
    "%": "$mod",
    "**": "$pow",
    "<<": "$shl",
    ">>": "$shr",
    "&": "$and",
    "|": "$or",
    "^": "$xor",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
}
_BITS = 2**31 - 1


class UntranslatableError(Exception):
    """Says why something cannot be translated; where it stands is added by who knows."""


def whole(number: int) -> Value:
    """Return a whole number that is known."""
    if 2**63 <= number < 2**64:
        return Value(f"{number}n", UINT)  # as Numba takes it
    if not -(2**63) <= number < 2**63:
        raise UntranslatableError(f"the number {number}, which has more than 64 bits")
    code = str(number) if abs(number) <= SAFE else f"{number}n"
    return Value(f"({code})" if number < 0 else code, INT, number, number)


def real(number: float, kind: Any = FLOAT) -> Value:
    """Return a floating point number that is known."""
    if math.isnan(number):
        return Value("NaN", kind)
    if math.isinf(number):
        return Value("Infinity" if number > 0 else "(-Infinity)", kind)
    return Value(f"({number!r})" if number < 0 or str(number)[0] == "-" else repr(number), kind)


def converted(value: Value, kind: Any) -> Value:
    """Return a number as one of another type, as a call of that type makes it."""
    code, given = value.code, value.type
    if given == kind:
        return value
    if kind == BOOL:
        return Value(f"({code} !== {'0n' if given == UINT else '0'})", BOOL)
    if is_real(kind):
        if given == BOOL:
            code = f"({code} ? 1 : 0)"
        elif given == UINT or (is_whole(given) and not value.between(-SAFE, SAFE)):
            code = f"Number({code})"
        return Value(f"Math.fround({code})" if kind == SINGLE and given != BOOL else code, kind)
    if kind == UINT:
        if given == BOOL:
            return Value(f"({code} ? 1n : 0n)", UINT)
        if is_real(given):
            raise UntranslatableError("a floating point number made a uint64")
        known = value.known
        if known is not None:
            return Value(f"{known % 2**64}n", UINT)
        return Value(f"BigInt.asUintN(64, BigInt({code}))", UINT)
    if not is_whole(kind):
        raise UntranslatableError(f"a number of type {kind}")
    if given == BOOL:
        return Value(f"({code} ? 1 : 0)", kind, 0, 1)
    if given == UINT:
        value = Value(f"$whole(BigInt.asIntN(64, {code}))", INT)
    elif is_real(given):
        value = Value(f"$truncated({code})", INT)
    low, high = bounds(kind)
    if low is None or high is None or value.between(low, high):
        return Value(value.code, kind, value.low, value.high)
    return Value(f"$narrow({value.code}, {kind.bitwidth})", kind, low, high)


def tested(value: Value) -> str:
    """Return the code of whether a value counts as true."""
    if value.type == BOOL:
        return value.code
    if isinstance(value.type, types.Number):
        return converted(value, BOOL).code
    raise UntranslatableError("a test of what is no number")


def arithmetic(operation: type[ast.operator], left: Value, right: Value) -> Value:
    """Return the result of an operation on two numbers."""
    if operation not in OPERATIONS:
        raise UntranslatableError(f"the operator {operation.__name__}")
    sign, function = OPERATIONS[operation]
    shift = sign in ("<<", ">>")
    if UINT in (left.type, right.type) and left.type != right.type and not shift:
        raise UntranslatableError(f"{left.type} {sign} {right.type}, which have no common type: convert one of them")
    found = result_of(function, left.type, right.type)
    if found is None:
        raise UntranslatableError(f"{left.type} {sign} {right.type}")
    takes, gives = found
    if gives == BOOL:
        if sign == "^":
            return Value(f"({left.code} !== {right.code})", BOOL)
        return Value(f"({left.code} {sign * 2} {right.code})", BOOL)
    if is_real(gives):
        if sign == "**" and not is_real(takes[1]):
            raise UntranslatableError("a floating point number to a power that is none: make the power a float")
        one, other = (kind if is_real(kind) else FLOAT for kind in takes)  # of whole numbers, a quotient
        return _real_operation(sign, converted(left, one), converted(right, other), gives)
    if gives == UINT:
        if UINT not in (left.type, right.type):
            raise UntranslatableError(f"{left.type} {sign} {right.type}, which is uint64: convert them to int64")
        amount = converted(right, UINT)
        if sign in ("//", "%", "**"):
            raise UntranslatableError(f"{sign} of uint64")
        code = f"({left.code} {sign} {amount.code})"
        return Value(f"BigInt.asUintN(64, {code})" if sign in ("+", "-", "*", "<<") else code, UINT)
    return _whole_operation(sign, converted(left, INT), converted(right, INT))


def _real_operation(sign: str, left: Value, right: Value, kind: Any) -> Value:
    if sign in ("//", "%"):
        code = f"{'$floorDivReal' if sign == '//' else '$modReal'}({left.code}, {right.code})"
    elif sign == "**":
        code = f"Math.pow({left.code}, {right.code})"
    elif sign in ("+", "-", "*", "/"):
        code = f"({left.code} {sign} {right.code})"
    else:
        raise UntranslatableError(f"{sign} of floating point numbers")
    return Value(f"Math.fround({code})" if kind == SINGLE else code, kind)


def _whole_operation(sign: str, left: Value, right: Value) -> Value:
    a, b = left.known, right.known
    if a is not None and b is not None:
        found = _computed(sign, a, b)
        if found is not None:
            return whole(found)
    low, high = _range(sign, left, right)
    result = Value(f"{HELPERS[sign]}({left.code}, {right.code})", INT, low, high)
    if not (left.between(-SAFE, SAFE) and right.between(-SAFE, SAFE) and result.between(-SAFE, SAFE)):
        return result if result.between(-SAFE, SAFE) else Value(result.code, INT)
    if sign in ("+", "-"):
        return result._replace(code=f"({left.code} {sign} {right.code})")
    if sign == "*":
        plus = "" if left.between(0, SAFE) and right.between(0, SAFE) else " + 0"  # which makes 0 of -0
        return result._replace(code=f"({left.code} * {right.code}{plus})")
    if sign == "//" and left.between(0, SAFE) and right.between(1, SAFE):
        return result._replace(code=f"Math.floor({left.code} / {right.code})")
    if sign == "%" and left.between(0, SAFE) and right.between(1, SAFE):
        return result._replace(code=f"({left.code} % {right.code})")
    if sign in ("&", "|", "^") and left.between(0, _BITS) and right.between(0, _BITS):
        return result._replace(code=f"({left.code} {sign} {right.code})")
    if sign == ">>" and left.between(-_BITS, _BITS) and right.between(0, 31):
        return result._replace(code=f"({left.code} >> {right.code})")
    if sign == "<<" and left.between(0, _BITS) and right.between(0, 31) and result.between(0, _BITS):
        return result._replace(code=f"({left.code} << {right.code})")
    return result


def _computed(sign: str, a: int, b: int) -> int | None:
    """Return the result for two known numbers; None where it would have to wrap, or has none."""
    if (sign in ("//", "%") and b == 0) or (sign in ("<<", ">>", "**") and not 0 <= b < 64):
        return None
    function = next(found for name, found in OPERATIONS.values() if name == sign)
    found: int = function(a, b)
    return found if -(2**63) <= found < 2**63 else None


def _range(sign: str, left: Value, right: Value) -> tuple[int | None, int | None]:
    """Return the least and largest result of numbers in their ranges, without wrapping; None where not known."""
    a, b, c, d = left.low, left.high, right.low, right.high
    if sign == "%" and c is not None and d is not None and c > 0:
        return (0, d - 1) if a is None or b is None or a < 0 or b >= d else (0, b)
    if sign == "&":
        highs = [high for low, high in ((a, b), (c, d)) if low is not None and low >= 0 and high is not None]
        return (0, min(highs)) if highs else (None, None)
    if a is None or b is None or c is None or d is None:
        return None, None
    if sign == "+":
        return a + c, b + d
    if sign == "-":
        return a - d, b - c
    if sign == "*" or (sign == "<<" and c >= 0 and d < 63):
        corners = [x * (y if sign == "*" else 1 << y) for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)
    if (sign == "//" and c > 0) or (sign == ">>" and c >= 0 and d < 64):
        corners = [x // (y if sign == "//" else 1 << y) for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)
    if sign in ("|", "^") and a >= 0 and c >= 0:
        return 0, (1 << max(b.bit_length(), d.bit_length())) - 1
    return None, None


def negated(value: Value) -> Value:
    """Return the number with the other sign."""
    if is_real(value.type):
        return Value(f"(-{value.code})", value.type)
    return arithmetic(ast.Sub, whole(0), value)


def compared(operation: type[ast.cmpop], left: Value, right: Value) -> Value:
    """Return whether two numbers stand in a relation."""
    if operation not in COMPARISONS:
        raise UntranslatableError(f"the comparison {operation.__name__}")
    if (left.type == UINT) != (right.type == UINT):
        raise UntranslatableError(f"a comparison of {left.type} with {right.type}: convert one of them")
    if left.type != right.type:  # of two of a kind, true and false are compared as they are
        left = converted(left, INT) if left.type == BOOL else left
        right = converted(right, INT) if right.type == BOOL else right
        if is_real(left.type) or is_real(right.type):
            left = left if is_real(left.type) else converted(left, FLOAT)
            right = right if is_real(right.type) else converted(right, FLOAT)
    return Value(f"({left.code} {COMPARISONS[operation]} {right.code})", BOOL)


def extreme(largest: bool, values: list[Value]) -> Value:
    """Return the least or the largest of several numbers."""
    best = values[0]
    for value in values[1:]:
        found = result_of(max if largest else min, best.type, value.type)
        if found is None or UINT in (best.type, value.type):
            raise UntranslatableError(f"the extreme of {best.type} and {value.type}")
        one, other = converted(best, found[1]), converted(value, found[1])
        low, high = _extreme_range(largest, one, other)
        if is_real(found[1]) or (one.between(-SAFE, SAFE) and other.between(-SAFE, SAFE)):
            code = f"Math.{'max' if largest else 'min'}({one.code}, {other.code})"
        else:
            code = f"{'$max' if largest else '$min'}({one.code}, {other.code})"
        best = Value(code, found[1], low, high)
    return best


def _extreme_range(largest: bool, one: Value, other: Value) -> tuple[int | None, int | None]:
    lows = [low for low in (one.low, other.low) if low is not None]
    highs = [high for high in (one.high, other.high) if high is not None]
    if largest:
        return (max(lows) if lows else None), (max(highs) if len(highs) == 2 else None)
    return (min(lows) if len(lows) == 2 else None), (min(highs) if highs else None)
