"""Compilation of `FastMaskablePPO`'s kernels, their vector instructions, and matrix products.

The compiler does not vectorise a loop over parts of one array, as it cannot tell that the parts are separate: a softmax
took three times as long. The intrinsics here use vectors explicitly.

Calling a library's product from Python takes time and Python's lock, for which threads then wait; and libraries are
slow with as few as 64 units. So products are computed here, in tiles of `ROWS` rows and `COLUMNS` columns: the sums of
a tile are vectors in registers, and each step adds one number of the left matrix times a row of the right one. On a
core of an AMD EPYC with AVX-512 this gives 108 to 117 billion operations per second from 64 units on, close to the peak
of its arithmetic, where PyTorch reached 75 to 103.

All matrices are parts of one-dimensional float32 arrays, given by an offset and a row stride.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, allow-untyped-calls, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dicegym.engine.jit import CACHE_FOLDER, COMPILED
from dicegym.engine.kernel_cache import KernelCache, hash_beside

F = TypeVar("F", bound=Callable[..., Any])

_IN_ANY_ORDER = {"reassoc", "contract", "nsz", "arcp"}
"""Allowed fast-math assumptions; finite numbers are not assumed."""
LANES = 16
"""Numbers in a vector; where registers hold fewer, the compiler uses several."""
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
"""2^f for f in [-0.5, 0.5]: the Taylor series of exp(f ln 2), with a remainder below 2e-8."""
LOWEST = -87.0
"""Below this, exp of a float32 is practically 0."""
BIAS, FRACTION = 127, 23
"""A float32 stores its exponent plus 127 above 23 bits of its fraction (IEEE 754)."""
_WIDE = COMPILED and bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))
ROWS, VECTORS = (8, 2) if _WIDE else (4, 1)
"""Size of a tile, whose sums fill half of the registers."""
COLUMNS = VECTORS * LANES
ADDED = 8 if _WIDE else 2
"""Vectors of a row that `add_picked` adds at once."""


def fast_kernel(function: F) -> F:
    """Compile ``function``, without Python's lock, and cache it on disk by the sources of this folder."""
    return _compiled(function, _IN_ANY_ORDER)


def strict_kernel(function: F) -> F:
    """Compile as `fast_kernel` does, but without fast-math: the order of calculation is as written.

    With fast-math the divergence from an anchor was rounded differently in the process that compiled it and in those
    that load it from the cache, so the same seed gave other weights.
    """
    return _compiled(function, set())


def _compiled(function: F, fastmath: set[str]) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
    if COMPILED:
        compiled._cache = KernelCache(function, Path(CACHE_FOLDER), hash_beside(function.__code__.co_filename))
    return compiled


def pad_size(n: int) -> int:
    """Return the padded size of a row of ``n`` numbers: whole vectors, and whole tiles of rows."""
    return -(-n // LANES) * LANES


def data_of(context: Any, builder: Any, signature: Any, args: Any, number: int) -> Any:
    """Return the data pointer of an array argument."""
    return context.make_array(signature.args[number])(context, builder, args[number]).data


class VectorWriter:
    """Emits vector instructions."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def _call(self, name: str, result: Any, *arguments: Any, **flags: Any) -> Any:
        signature = ir.FunctionType(result, [one.type for one in arguments])
        function = cgutils.get_or_insert_function(self._builder.module, signature, name)
        return self._builder.call(function, arguments, **flags)

    def at(self, place: Any, offset: Any) -> Any:
        """Return the pointer to a number."""
        return self._builder.gep(place, [offset])

    def load(self, place: Any) -> Any:
        """Return the vector that begins at a number."""
        found = self._builder.load(self._builder.bitcast(place, VECTOR.as_pointer()))
        found.align = 4
        return found

    def store(self, vector: Any, place: Any) -> None:
        """Store a vector at a pointer."""
        self._builder.store(vector, self._builder.bitcast(place, VECTOR.as_pointer())).align = 4

    def spread(self, number: Any) -> Any:
        """Return a vector with one number in all lanes."""
        nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
        first = self._builder.insert_element(nothing, number, _INT(0))
        return self._builder.shuffle_vector(first, nothing, ir.Constant(_INTS, [0] * LANES))

    def constant(self, number: float) -> Any:
        """Return a vector with a constant in all lanes."""
        return ir.Constant(VECTOR, [float(np.float32(number))] * LANES)

    def product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c."""
        return self._call(f"llvm.fmuladd.v{LANES}f32", VECTOR, a, b, c)

    def keep(self, vector: Any) -> Any:
        """Return memory for a vector that loops change."""
        place = cgutils.alloca_once(self._builder, VECTOR)
        self._builder.store(vector, place)
        return place

    def add_product(self, total: Any, a: Any, b: Any) -> None:
        """Add a * b to the vector stored in ``total``."""
        self._builder.store(self.product(a, b, self._builder.load(total)), total)

    def larger(self, a: Any, b: Any) -> Any:
        """Return the elementwise maximum."""
        return self._builder.select(self._builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        """Return the elementwise minimum."""
        return self._builder.select(self._builder.fcmp_ordered("<", a, b), a, b)

    def largest(self, vector: Any) -> Any:
        """Return the largest number of a vector."""
        return self._call(f"llvm.vector.reduce.fmax.v{LANES}f32", FLOAT, vector)

    def total(self, vector: Any) -> Any:
        """Return the sum of a vector."""
        start = ir.Constant(FLOAT, 0.0)
        return self._call(f"llvm.vector.reduce.fadd.v{LANES}f32", FLOAT, start, vector, fastmath=("reassoc",))

    def exp(self, x: Any) -> Any:
        """Return e^x for x <= 0: x log2(e) = n + f with an integer n, the exponent's bits, and a small f."""
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
        """Loop over the offsets of vectors in a row."""
        count = self._builder.udiv(columns, INDEX(LANES))
        with cgutils.for_range(self._builder, count, intp=INDEX) as loop:
            yield self._builder.mul(loop.index, INDEX(LANES))


@intrinsic
def softmax(typingctx, room, logits, scratch, columns, masks, row):
    """Compute the softmax of logits (float32[columns], padded) in ``room`` over legal actions.

    ``masks`` (bool[decisions, actions]) must be padded with `LANES` bytes (`masks_with_room`). ``scratch`` is the
    offset of the output, float32[3, columns]: logit - highest legal logit; its exponential, 0 for illegal actions; and,
    in the first two numbers, the sum of the exponentials, and of their products with logit - highest.
    """

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
            """Return which of the next actions are legal; padding is not."""
            found = builder.load(builder.bitcast(write.at(legal, at), ir.VectorType(_BYTE, LANES).as_pointer()))
            found.align = 1
            real = builder.icmp_signed("<", lanes, write.spread(builder.sub(actions, at)))
            return builder.and_(real, builder.icmp_unsigned("!=", found, ir.Constant(found.type, [0] * LANES)))

        lowest, zero = write.constant(-np.inf), write.constant(0)
        best = write.keep(lowest)
        with write.blocks(columns) as at:
            found = builder.select(allowed(at), write.load(write.at(logits, at)), lowest)
            builder.store(write.larger(found, builder.load(best)), best)
        highest = write.spread(write.largest(builder.load(best)))
        total, weighted = write.keep(zero), write.keep(zero)
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


@intrinsic
def mix_slopes(typingctx, room, out, scratch, columns, plain, steep):
    """Set ``out`` (float32[columns]) to exponential * (plain + steep * (logit - highest)), after `softmax`."""

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


def masks_with_room(*shape: int) -> np.ndarray:
    """Return masks (bool) with all actions legal, padded at the end as `softmax` needs."""
    size = int(np.prod(shape))
    return np.ones(size + LANES, np.bool_)[:size].reshape(shape)


# Matrix products


def _tile(rows: int, vectors: int) -> Any:
    """Return an intrinsic for one tile ``c = d + a b`` with a number of rows and vectors."""
    offsets = [INDEX(number * LANES) for number in range(vectors)]

    @intrinsic
    def compiled(typingctx, a, a0, a_row, a_step, b, b0, b_row, c, c0, c_row, d, d0, d_row, depth):
        def codegen(context, builder, signature, args):
            write = VectorWriter(builder)
            a, b, c, d = (data_of(context, builder, signature, args, number) for number in (0, 4, 7, 10))
            _, a0, a_row, a_step, _, b0, b_row, _, c0, c_row, _, d0, d_row, depth = args

            def rows_of(place: Any, first: Any, apart: Any) -> list[Any]:
                return [write.at(place, builder.add(first, builder.mul(apart, INDEX(row)))) for row in range(rows)]

            lefts = rows_of(a, a0, a_row)
            begun = [[write.load(write.at(start, offset)) for offset in offsets] for start in rows_of(d, d0, d_row)]
            sums = [[write.keep(vector) for vector in row] for row in begun]
            right = write.at(b, b0)
            with cgutils.for_range(builder, depth, intp=INDEX) as loop:
                beginning = write.at(right, builder.mul(loop.index, b_row))
                found = [write.load(write.at(beginning, offset)) for offset in offsets]
                step = builder.mul(loop.index, a_step)
                for left, row in zip(lefts, sums, strict=True):
                    factor = write.spread(builder.load(write.at(left, step)))
                    for total, vector in zip(row, found, strict=True):
                        write.add_product(total, factor, vector)
            for end, row in zip(rows_of(c, c0, c_row), sums, strict=True):
                for offset, total in zip(offsets, row, strict=True):
                    write.store(builder.load(total), write.at(end, offset))
            return context.get_dummy_value()

        index = types.int64
        left, right = (a, index, index, index), (b, index, index)
        return types.void(*left, *right, c, index, index, d, index, index, index), codegen

    return compiled


def _picked(vectors: int) -> Any:
    """Return an intrinsic for ``c = d + sum of values * b[picked]`` with a number of vectors of a row."""
    offsets = [INDEX(number * LANES) for number in range(vectors)]

    @intrinsic
    def compiled(typingctx, values, picked, first, end, b, b0, b_row, c, c0, d, d0):
        def codegen(context, builder, signature, args):
            write = VectorWriter(builder)
            values, picked, b, c, d = (data_of(context, builder, signature, args, number) for number in (0, 1, 4, 7, 9))
            _, _, first, end, _, b0, b_row, _, c0, _, d0 = args
            sums = [write.keep(write.load(write.at(d, builder.add(d0, offset)))) for offset in offsets]
            with cgutils.for_range(builder, builder.sub(end, first), intp=INDEX) as loop:
                place = builder.add(first, loop.index)
                row = builder.zext(builder.load(write.at(picked, place)), INDEX)
                beginning = write.at(b, builder.add(b0, builder.mul(row, b_row)))
                factor = write.spread(builder.load(write.at(values, place)))
                for offset, total in zip(offsets, sums, strict=True):
                    write.add_product(total, factor, write.load(write.at(beginning, offset)))
            for offset, total in zip(offsets, sums, strict=True):
                write.store(builder.load(total), write.at(c, builder.add(c0, offset)))
            return context.get_dummy_value()

        index = types.int64
        return types.void(values, picked, index, index, b, index, index, c, index, d, index), codegen

    return compiled


_whole_tile, _last_tile = _tile(ROWS, VECTORS), _tile(ROWS, 1)
_many_picked, _one_picked = _picked(ADDED), _picked(1)


@fast_kernel
def add_product(a, a0, a_row, a_step, b, b0, b_row, c, c0, c_row, d, d0, d_row, rows, columns, depth):
    """Set ``c[i, j]`` to ``d[i, j]`` plus the sum of ``a[i, k] b[k, j]`` over k.

    In the float32 arrays, ``a[i, k]`` is at ``a0 + i a_row + k a_step``, so that ``a`` may be transposed; ``b[k, j]``
    is at ``b0 + k b_row + j``, ``c[i, j]`` at ``c0 + i c_row + j``, and ``d[i, j]`` likewise. ``d`` may be ``c``; a
    ``d_row`` of 0 repeats one row. ``columns`` is a multiple of `LANES`, and k is below ``depth``. If ``rows`` is not a
    multiple of `ROWS`, the rows up to the next multiple are written too, and must exist.
    """
    column = 0
    while column + COLUMNS <= columns:  # rows inside: these columns of b stay in the nearest cache
        for row in range(0, rows, ROWS):
            _whole_tile(
                a, a0 + row * a_row, a_row, a_step, b, b0 + column, b_row,
                c, c0 + row * c_row + column, c_row, d, d0 + row * d_row + column, d_row, depth,
            )  # fmt: skip
        column += COLUMNS
    while column < columns:
        for row in range(0, rows, ROWS):
            _last_tile(
                a, a0 + row * a_row, a_row, a_step, b, b0 + column, b_row,
                c, c0 + row * c_row + column, c_row, d, d0 + row * d_row + column, d_row, depth,
            )  # fmt: skip
        column += LANES


@fast_kernel
def add_picked(values, picked, first, end, b, b0, b_row, c, c0, d, d0, columns):
    """Set ``c[j]`` to ``d[j]`` plus the sum of ``values[k] b[picked[k], j]`` over k from ``first`` to before ``end``.

    ``picked`` are whole numbers of at least 0; see `add_product` for the rest.
    """
    column = 0
    while column + ADDED * LANES <= columns:
        _many_picked(values, picked, first, end, b, b0 + column, b_row, c, c0 + column, d, d0 + column)
        column += ADDED * LANES
    while column < columns:
        _one_picked(values, picked, first, end, b, b0 + column, b_row, c, c0 + column, d, d0 + column)
        column += LANES


def allocate_aligned(shape: Iterable[int], dtype: Any = np.float32) -> np.ndarray:
    """Return zeros that start at a cache line, so that each vector is in one line."""
    sizes = tuple(shape)
    size = int(np.prod(sizes)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    found: np.ndarray = memory[start : start + size].view(dtype).reshape(sizes)
    return found
