"""A matrix of who won against whom, as text."""

from __future__ import annotations

import pytest

from dicegym.arena.report import Matrix


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("n", [2, 12, 30])
def test_a_matrix_keeps_to_the_width(n: int, width: int) -> None:
    names = [f"submission_{number:03d}" for number in range(n - 1)] + ["a name that is very much longer than any"]
    cells = [["." if a == b else str((a + b) % 10) for b in range(n)] for a in range(n)]
    lines = list(Matrix("Games", names, cells).lines(width))
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.strip() and line.split()[0].isdigit() and not line.startswith("   ")]
    seen = "".join("".join(line.split()[2:]) for line in rows if "a name" not in line)
    assert len(seen) == (n - 1) * n  # every cell stands in one block
    if n == 30:
        assert any(line == "" for line in lines) == (width < 116)
