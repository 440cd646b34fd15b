"""Fast counting and searching in rows of flags, such as action masks.

A row is a contiguous array of bytes that are 0 or 1. One vector comparison turns 64 of them into the bits of a number.
Operations on the bits have no branches that a processor could mispredict. With compilation off NumPy does the work.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any, allow-untyped-calls
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import COMPILED, loop_kernel
from dicegym.engine.numba_names import TypingError, intrinsic, ir, types

_WIDTHS = (64, 32, 16, 8)
_W64, _W32, _W16, _W8 = (np.uint64(width) for width in _WIDTHS)
_ZERO, _ONE, _TWO, _FOUR, _BYTE = (np.uint64(n) for n in (0, 1, 2, 4, 0xFF))
_ODD, _PAIRS, _NIBBLES = (np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_EACH, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_BYTES = (types.boolean, types.int8, types.uint8)
_IN_BYTE = np.array(
    [[([place for place in range(8) if byte >> place & 1] + [0] * 8)[k] for byte in range(256)] for k in range(8)],
    np.uint8,
)
"""uint8[8, 256]: the place of set bit number k of a byte."""


def _loader(width):
    """Return an intrinsic that returns the flags ``row[start : start + width]`` as bits, the first one lowest."""

    def load(typingctx, row, start):
        if not (isinstance(row, types.Array) and row.ndim == 1 and row.layout == "C" and row.dtype in _BYTES):
            raise TypingError(f"a row of flags is a contiguous array of bytes, not {row}")

        def codegen(context, builder, signature, args):
            flags = context.make_array(signature.args[0])(context, builder, args[0])
            first = builder.gep(builder.bitcast(flags.data, ir.IntType(8).as_pointer()), [args[1]])
            vector = ir.VectorType(ir.IntType(8), width)
            loaded = builder.load(builder.bitcast(first, vector.as_pointer()), align=1)
            bits = builder.icmp_unsigned("!=", loaded, ir.Constant(vector, [0] * width))
            word = builder.bitcast(bits, ir.IntType(width))
            return word if width == 64 else builder.zext(word, ir.IntType(64))

        return types.uint64(row, types.uint64), codegen

    return intrinsic(load)


_load_64, _load_32, _load_16, _load_8 = (_loader(width) for width in _WIDTHS)


@intrinsic
def _lowest_bit(typingctx, word):
    """Return the place of the lowest set bit of a uint64 that is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _count_bits(typingctx, word):
    """Return the number of set bits of a uint64."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@loop_kernel
def _word(row, start, end):
    """Return the flags from ``start`` to ``end`` as bits, at most 64.

    Shorter pieces are read as two that overlap, so that nothing beyond the row is read.
    """
    n = end - start
    if n >= _W64:
        return _load_64(row, start)
    if n >= _W32:
        return _load_32(row, start) | (_load_32(row, end - _W32) << (n - _W32))
    if n >= _W16:
        return _load_16(row, start) | (_load_16(row, end - _W16) << (n - _W16))
    if n >= _W8:
        return _load_8(row, start) | (_load_8(row, end - _W8) << (n - _W8))
    word = _ZERO
    for k in range(n):
        word |= np.uint64(row[start + k]) << k
    return word


@loop_kernel
def _place_of_bit(word, number):
    """Return the place of set bit ``number`` (S. Vigna, "Broadword implementation of rank/select queries")."""
    sums = word - ((word >> _ONE) & _ODD)
    sums = (sums & _PAIRS) + ((sums >> _TWO) & _PAIRS)
    sums = ((sums + (sums >> _FOUR)) & _NIBBLES) * _EACH  # in each byte the number of bits up to it
    byte = _W8 * _count_bits((((number * _EACH) | _TOPS) - sums) & _TOPS)
    rest = number - (((sums << _W8) >> byte) & _BYTE)
    return byte + np.uint64(_IN_BYTE[rest, (word >> byte) & _BYTE])


@loop_kernel
def _how_many(row):
    n, start, count = np.uint64(row.shape[0]), _ZERO, _ZERO
    while start < n:
        count += _count_bits(_word(row, start, min(start + _W64, n)))
        start += _W64
    return np.int64(count)


@loop_kernel
def _place_of(row, number):
    n, start, seen = np.uint64(row.shape[0]), _ZERO, _ZERO
    wanted = np.uint64(number)
    word, begin, before = _ZERO, _ZERO, _ZERO
    while start < n:  # the whole row: leaving early would be a branch
        here = _word(row, start, min(start + _W64, n))
        if seen <= wanted:
            word, begin, before = here, start, seen
        seen += _count_bits(here)
        start += _W64
    return np.int64(begin + _place_of_bit(word, wanted - before))


@loop_kernel
def _write_places(row, out):
    n, start, count = np.uint64(row.shape[0]), _ZERO, np.int64(0)
    while start < n:
        word = _word(row, start, min(start + _W64, n))
        while word != _ZERO:
            out[count] = start + _lowest_bit(word)
            word &= word - _ONE
            count += 1
        start += _W64
    return count


def how_many(row):
    """Return the number of set flags of ``row``, an int64."""
    return np.count_nonzero(row)


def place_of(row, number):
    """Return the place of set flag ``number`` (0, 1, ...) of ``row``, an int64; it must exist."""
    return np.flatnonzero(row)[number]


def write_places(row, out):
    """Write the places of set flags of ``row`` to ``out`` (int64) in ascending order; return their number, an int64."""
    found = np.flatnonzero(row)
    out[: len(found)] = found
    return len(found)


if COMPILED:
    how_many, place_of, write_places = _how_many, _place_of, _write_places
