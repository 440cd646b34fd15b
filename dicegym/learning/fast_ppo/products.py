"""Matrix products for compiled passes: blocks of the result stay in registers while everything is added to them.

To call a library's product from Python takes a while and Python's lock, for which threads then wait; and 64 units are
too few for libraries to be quick. So products are made here, of tiles of `ROWS` rows and `COLUMNS` columns: the sums of
a tile are vectors in registers, to which each step adds one number of the left matrix times a row of the right one. On
a core of an AMD EPYC with AVX-512 that gives 108 to 117 billion operations a second from 64 units on, nearly all that
its arithmetic can do, where PyTorch's gave 75 to 103.

All matrices lie in one-dimensional float32 arrays and are told by where they begin and how far apart their rows are.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, allow-untyped-calls, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dicegym.engine.jit import COMPILED
from dicegym.learning.fast_ppo.compiling import fast_kernel
from dicegym.learning.fast_ppo.vectors import INDEX, LANES, VECTOR, VectorWriter, data_of

_WIDE = COMPILED and bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))
ROWS, VECTORS = (8, 2) if _WIDE else (4, 1)
"""What a tile's sums fill half of the registers with."""
COLUMNS = VECTORS * LANES
ADDED = 8 if _WIDE else 2
"""Vectors of a row that `add_picked` sums at once."""


def _tile(rows: int, vectors: int) -> Any:
    """Return what computes one tile: ``c = d + a b``, of so many rows and vectors."""

    @intrinsic
    def compiled(typingctx, a, a0, a_row, a_step, b, b0, b_row, c, c0, c_row, d, d0, d_row, depth):
        def codegen(context, builder, signature, args):
            write = VectorWriter(builder)
            a, b, c, d = (data_of(context, builder, signature, args, number) for number in (0, 4, 7, 10))
            _, a0, a_row, a_step, _, b0, b_row, _, c0, c_row, _, d0, d_row, depth = args

            def rows_of(place: Any, first: Any, apart: Any) -> list[Any]:
                return [write.at(place, builder.add(first, builder.mul(apart, INDEX(row)))) for row in range(rows)]

            lefts = rows_of(a, a0, a_row)
            sums = [[cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)] for _ in lefts]
            for start, row in zip(rows_of(d, d0, d_row), sums, strict=True):
                for number, total in enumerate(row):
                    builder.store(write.load(write.at(start, INDEX(number * LANES))), total)
            right = write.at(b, b0)
            with cgutils.for_range(builder, depth, intp=INDEX) as loop:
                beginning = write.at(right, builder.mul(loop.index, b_row))
                found = [write.load(write.at(beginning, INDEX(number * LANES))) for number in range(vectors)]
                step = builder.mul(loop.index, a_step)
                for left, row in zip(lefts, sums, strict=True):
                    factor = write.spread(builder.load(write.at(left, step)))
                    for total, vector in zip(row, found, strict=True):
                        write.add_product(total, factor, vector)
            for end, row in zip(rows_of(c, c0, c_row), sums, strict=True):
                for number, total in enumerate(row):
                    write.store(builder.load(total), write.at(end, INDEX(number * LANES)))
            return context.get_dummy_value()

        index = types.int64
        left, right = (a, index, index, index), (b, index, index)
        return types.void(*left, *right, c, index, index, d, index, index, index), codegen

    def plain(a, a0, a_row, a_step, b, b0, b_row, c, c0, c_row, d, d0, d_row, depth):
        width = vectors * LANES
        for row in range(rows):
            total = d[d0 + row * d_row : d0 + row * d_row + width].copy()
            for step in range(depth):
                total += a[a0 + row * a_row + step * a_step] * b[b0 + step * b_row : b0 + step * b_row + width]
            c[c0 + row * c_row : c0 + row * c_row + width] = total

    return compiled if COMPILED else plain


def _picked(vectors: int) -> Any:
    """Return what computes ``c = d + sum of values * b[picked]`` for so many vectors of a row."""

    @intrinsic
    def compiled(typingctx, values, picked, first, end, b, b0, b_row, c, c0, d, d0):
        def codegen(context, builder, signature, args):
            write = VectorWriter(builder)
            values, picked, b, c, d = (data_of(context, builder, signature, args, number) for number in (0, 1, 4, 7, 9))
            _, _, first, end, _, b0, b_row, _, c0, _, d0 = args
            sums = [cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)]
            for number, total in enumerate(sums):
                builder.store(write.load(write.at(d, builder.add(d0, INDEX(number * LANES)))), total)
            with cgutils.for_range(builder, builder.sub(end, first), intp=INDEX) as loop:
                place = builder.add(first, loop.index)
                row = builder.zext(builder.load(write.at(picked, place)), INDEX)
                beginning = write.at(b, builder.add(b0, builder.mul(row, b_row)))
                factor = write.spread(builder.load(write.at(values, place)))
                for number, total in enumerate(sums):
                    write.add_product(total, factor, write.load(write.at(beginning, INDEX(number * LANES))))
            for number, total in enumerate(sums):
                write.store(builder.load(total), write.at(c, builder.add(c0, INDEX(number * LANES))))
            return context.get_dummy_value()

        index = types.int64
        return types.void(values, picked, index, index, b, index, index, c, index, d, index), codegen

    def plain(values, picked, first, end, b, b0, b_row, c, c0, d, d0):
        width = vectors * LANES
        total = d[d0 : d0 + width].copy()
        for place in range(first, end):
            at = b0 + int(picked[place]) * b_row
            total += values[place] * b[at : at + width]
        c[c0 : c0 + width] = total

    return compiled if COMPILED else plain


_whole_tile, _last_tile = _tile(ROWS, VECTORS), _tile(ROWS, 1)
_many_picked, _one_picked = _picked(ADDED), _picked(1)


@fast_kernel
def add_product(a, a0, a_row, a_step, b, b0, b_row, c, c0, c_row, d, d0, d_row, rows, columns, depth):
    """Set ``c[i, j]`` to ``d[i, j]`` plus the sum of ``a[i, k] b[k, j]`` over k.

    Where ``rows`` are not whole tiles, rows behind them are written too; they have to be there.

    Args:
        a: float32 array in which ``a[i, k]`` stands at ``a0 + i a_row + k a_step``.
        a0: see there; so are the next two, which allow for matrices that are read as if they were turned.
        a_row: see above.
        a_step: see above.
        b: ``b[k, j]`` stands at ``b0 + k b_row + j``.
        b0: see above.
        b_row: see above.
        c: ``c[i, j]`` stands at ``c0 + i c_row + j``.
        c0: see above.
        c_row: see above.
        d: as c, which it may be; ``d_row`` 0 gives all rows the same.
        d0: see above.
        d_row: see above.
        rows: of ``a``.
        columns: of ``b``: a multiple of `LANES`.
        depth: how many numbers are added.
    """
    column = 0
    while column + COLUMNS <= columns:  # rows within: so many columns of b stay in the nearest cache
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


def aligned(shape: Iterable[int], dtype: Any = np.float32) -> np.ndarray:
    """Return zeros whose first number stands at the beginning of a cache line: a vector is then read from one line."""
    sizes = tuple(shape)
    size = int(np.prod(sizes)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    found: np.ndarray = memory[start : start + size].view(dtype).reshape(sizes)
    return found
