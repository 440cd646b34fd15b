"""Flags are counted and found as NumPy counts and finds them, in rows of every length."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from dicegym.engine.flags import how_many, place_of, write_places
from dicegym.engine.jit import COMPILED

LENGTHS = (1, 7, 8, 9, 15, 16, 23, 31, 32, 33, 63, 64, 65, 127, 128, 181, 225, 256, 300)


@pytest.mark.nojit
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_flags_are_counted_and_found(length: int, share: float) -> None:
    generator = np.random.default_rng(length)
    rows = np.ones((4, length + 3), np.bool_)  # whatever is read beyond a row is set, and would be counted
    for row in rows:
        flags = row[1 : length + 1]
        flags[:] = generator.random(length) < share
        places = np.flatnonzero(flags)
        assert how_many(flags) == len(places)
        assert [place_of(flags, number) for number in range(len(places))] == places.tolist()
        listed = np.zeros(length, np.int64)
        assert listed[: write_places(flags, listed)].tolist() == places.tolist()


@pytest.mark.skipif(not COMPILED, reason="NumPy takes whatever it is given")
def test_only_contiguous_rows_of_bytes_are_flags() -> None:
    for wrong in (np.ones((8, 8), np.bool_)[:, 1], np.ones(8, np.int64)):
        with pytest.raises((TypingError, numba.core.errors.NumbaError), match="contiguous array of bytes"):
            how_many(wrong)
