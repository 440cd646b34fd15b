"""What the loops of a game gave, once for all tests of the bench in a process."""

from __future__ import annotations

import pytest
from short_benches import measured

from benchmarks.modes import LOOP_MODES
from benchmarks.result import BenchResult


@pytest.fixture(scope="session")
def played() -> BenchResult:
    """Return what the loops of Hog gave."""
    return measured(*LOOP_MODES)
