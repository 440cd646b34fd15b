"""Vectors of numbers in compiled code, for what a compiler left to itself takes number by number.

A loop that reads and writes parts of one array is such a case: the compiler cannot tell that they are apart, and a
softmax took three times as long. What is written here says how many numbers are taken at once.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="call-arg"
# Numba hands intrinsics one argument more, and infers the types of the others.

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dicegym.engine.jit import COMPILED

LANES = 16
"""Numbers in a vector. Where registers hold fewer, the compiler takes several of them."""
FLOAT, INDEX, _INT, _BYTE = ir.FloatType(), ir.IntType(64), ir.IntType(32), ir.IntType(8)
VECTOR, _INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(_INT, LANES)
LOG2_E = 1.4426950408889634
EXP = (
    1.0,
    0.6931471805599453,
    0.2402265069591007,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.00015403530393381608,
)
"""2^f for f in [-0.5, 0.5]: the Taylor series of exp(f ln 2), whose rest is below 2e-8."""
LOWEST = -87.0
"""Where exp of a float32 is as good as 0."""
BIAS, FRACTION = 127, 23
"""A float32 holds its exponent plus 127 above 23 bits of its fraction (IEEE 754)."""


def padded(n: int) -> int:
    """Return how many numbers a row of ``n`` takes: whole vectors, which are whole tiles of rows too."""
    return -(-n // LANES) * LANES


def data_of(context: Any, builder: Any, signature: Any, args: Any, number: int) -> Any:
    """Return where the data of an array among the arguments begin."""
    return context.make_array(signature.args[number])(context, builder, args[number]).data


class VectorWriter:
    """Writes instructions for vectors."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def _call(self, name: str, result: Any, *arguments: Any, **flags: Any) -> Any:
        signature = ir.FunctionType(result, [one.type for one in arguments])
        function = cgutils.get_or_insert_function(self._builder.module, signature, name)
        return self._builder.call(function, arguments, **flags)

    def at(self, place: Any, offset: Any) -> Any:
        """Return the place of a number."""
        return self._builder.gep(place, [offset])

    def load(self, place: Any) -> Any:
        """Return the vector that begins at a number."""
        found = self._builder.load(self._builder.bitcast(place, VECTOR.as_pointer()))
        found.align = 4
        return found

    def store(self, vector: Any, place: Any) -> None:
        """Put a vector where a number is."""
        self._builder.store(vector, self._builder.bitcast(place, VECTOR.as_pointer())).align = 4

    def spread(self, number: Any) -> Any:
        """Return a vector of one number throughout."""
        nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
        first = self._builder.insert_element(nothing, number, _INT(0))
        return self._builder.shuffle_vector(first, nothing, ir.Constant(_INTS, [0] * LANES))

    def constant(self, number: float) -> Any:
        """Return a vector of one known number."""
        return ir.Constant(VECTOR, [float(np.float32(number))] * LANES)

    def product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c."""
        return self._call(f"llvm.fmuladd.v{LANES}f32", VECTOR, a, b, c)

    def kept(self, vector: Any) -> Any:
        """Return what keeps a vector that loops change."""
        place = cgutils.alloca_once(self._builder, VECTOR)
        self._builder.store(vector, place)
        return place

    def add_product(self, total: Any, a: Any, b: Any) -> None:
        """Add a * b to the vector that is kept in ``total``."""
        self._builder.store(self.product(a, b, self._builder.load(total)), total)

    def larger(self, a: Any, b: Any) -> Any:
        """Return the larger of each two numbers."""
        return self._builder.select(self._builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        """Return the smaller of each two numbers."""
        return self._builder.select(self._builder.fcmp_ordered("<", a, b), a, b)

    def largest(self, vector: Any) -> Any:
        """Return the largest number of a vector."""
        return self._call(f"llvm.vector.reduce.fmax.v{LANES}f32", FLOAT, vector)

    def total(self, vector: Any) -> Any:
        """Return the sum of a vector."""
        start = ir.Constant(FLOAT, 0.0)
        return self._call(f"llvm.vector.reduce.fadd.v{LANES}f32", FLOAT, start, vector, fastmath=("reassoc",))

    def exp(self, x: Any) -> Any:
        """Return e^x for x of at most 0: x log2(e) = n + f, of which n are the exponent's bits, and f is small."""
        build = self._builder
        y = build.fmul(self.larger(x, self.constant(LOWEST)), self.constant(LOG2_E))
        whole = self._call(f"llvm.floor.v{LANES}f32", VECTOR, build.fadd(y, self.constant(0.5)))
        f = build.fsub(y, whole)
        power = self.constant(EXP[-1])
        for number in EXP[-2::-1]:
            power = self.product(power, f, self.constant(number))
        bits = build.add(build.fptosi(whole, _INTS), ir.Constant(_INTS, [BIAS] * LANES))
        return build.fmul(power, build.bitcast(build.shl(bits, ir.Constant(_INTS, [FRACTION] * LANES)), VECTOR))

    @contextmanager
    def blocks(self, columns: Any) -> Iterator[Any]:
        """Loop over the places of vectors in a row."""
        count = self._builder.udiv(columns, INDEX(LANES))
        with cgutils.for_range(self._builder, count, intp=INDEX) as loop:
            yield self._builder.mul(loop.index, INDEX(LANES))


@intrinsic
def _softmax(typingctx, room, logits, scratch, columns, masks, row):
    def codegen(context, builder, signature, args):
        write, room = VectorWriter(builder), data_of(context, builder, signature, args, 0)
        _, logits, scratch, columns, masks, row = args
        table = context.make_array(signature.args[4])(context, builder, masks)
        actions = builder.extract_value(table.shape, 1)
        legal = write.at(builder.bitcast(table.data, _BYTE.as_pointer()), builder.mul(row, actions))
        logits, shifted = write.at(room, logits), write.at(room, scratch)
        powers, sums = write.at(shifted, columns), write.at(shifted, builder.mul(columns, INDEX(2)))
        lanes = ir.Constant(ir.VectorType(INDEX, LANES), list(range(LANES)))

        def allowed(at: Any) -> Any:
            """Return which of the actions from one on are legal: of those that are actions, not padding."""
            found = builder.load(builder.bitcast(write.at(legal, at), ir.VectorType(_BYTE, LANES).as_pointer()))
            found.align = 1
            real = builder.icmp_signed("<", lanes, write.spread(builder.sub(actions, at)))
            return builder.and_(real, builder.icmp_unsigned("!=", found, ir.Constant(found.type, [0] * LANES)))

        lowest, zero = write.constant(-np.inf), write.constant(0)
        best = write.kept(lowest)
        with write.blocks(columns) as at:
            found = builder.select(allowed(at), write.load(write.at(logits, at)), lowest)
            builder.store(write.larger(found, builder.load(best)), best)
        highest = write.spread(write.largest(builder.load(best)))
        total, weighted = write.kept(zero), write.kept(zero)
        with write.blocks(columns) as at:
            x = write.smaller(builder.fsub(write.load(write.at(logits, at)), highest), zero)
            power = builder.select(allowed(at), write.exp(x), zero)
            write.store(x, write.at(shifted, at))
            write.store(power, write.at(powers, at))
            builder.store(builder.fadd(builder.load(total), power), total)
            write.add_product(weighted, power, x)
        builder.store(write.total(builder.load(total)), sums)
        builder.store(write.total(builder.load(weighted)), write.at(sums, INDEX(1)))
        return context.get_dummy_value()

    index = types.int64
    return types.void(room, index, index, index, masks, index), codegen


def _plain_softmax(room, logits, scratch, columns, masks, row):
    shifted, powers, sums = room[scratch : scratch + 3 * columns].reshape(3, columns)
    z, legal = room[logits : logits + columns], np.zeros(columns, np.bool_)
    legal[: masks.shape[1]] = masks[row]
    shifted[:] = np.minimum(z - z[legal].max(), 0)
    powers[:] = np.exp(np.maximum(shifted, LOWEST)) * legal
    sums[:2] = powers.sum(), (powers * shifted).sum()


@intrinsic
def _mixed(typingctx, room, out, scratch, columns, plain, steep):
    def codegen(context, builder, signature, args):
        write, room = VectorWriter(builder), data_of(context, builder, signature, args, 0)
        _, out, scratch, columns, plain, steep = args
        shifted, out = write.at(room, scratch), write.at(room, out)
        powers = write.at(shifted, columns)
        plain, steep = write.spread(plain), write.spread(steep)
        with write.blocks(columns) as at:
            slope = write.product(steep, write.load(write.at(shifted, at)), plain)
            write.store(builder.fmul(slope, write.load(write.at(powers, at))), write.at(out, at))
        return context.get_dummy_value()

    single = types.float32
    return types.void(room, types.int64, types.int64, types.int64, single, single), codegen


def _plain_mixed(room, out, scratch, columns, plain, steep):
    shifted, powers = room[scratch : scratch + 2 * columns].reshape(2, columns)
    room[out : out + columns] = powers * (plain + steep * shifted)


softmax = _softmax if COMPILED else _plain_softmax
"""``softmax(room, logits, scratch, columns, masks, row)`` reads logits (float32[columns], padded) in ``room``.

``masks`` (bool[decisions, actions]) has to have `LANES` more bytes behind it (`masks_with_room`). ``scratch`` is the
place of float32[3, columns] that is set: logit - highest of the legal ones; its exponential, 0 for illegal actions;
and, in the first two numbers, the sum of exponentials, and of their products with logit - highest.
"""
mixed = _mixed if COMPILED else _plain_mixed
"""``mixed(room, out, scratch, columns, plain, steep)`` sets ``out`` to exponential (plain + steep (logit - highest)).

Both are what `softmax` left in ``scratch``.
"""


def masks_with_room(*shape: int) -> np.ndarray:
    """Return masks of all actions (bool) with as many bytes behind them as `softmax` may read there."""
    size = int(np.prod(shape))
    return np.ones(size + LANES, np.bool_)[:size].reshape(shape)
