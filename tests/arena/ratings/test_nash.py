"""Nash averaging."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dicegym.arena.ratings.nash import nash_average
from dicegym.errors import DependencyError

CIRCLE = np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])


def test_a_circle_is_sent_evenly_and_copies_share() -> None:
    """Balduzzi et al. (2018): adding a copy changes nothing for the others."""
    assert nash_average(CIRCLE) == pytest.approx([1 / 3] * 3)
    again = CIRCLE[[0, 0, 1, 2]][:, [0, 0, 1, 2]]
    assert nash_average(again) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-5)
    assert nash_average(np.full((5, 5), 0.5)) == pytest.approx([0.2] * 5, abs=1e-5)


def test_who_beats_all_is_sent_always_and_equals_share() -> None:
    assert nash_average(np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]])) == pytest.approx([1, 0, 0])
    even = np.array([[0.5, 0.5, 0.7], [0.5, 0.5, 0.8], [0.3, 0.2, 0.5]])
    assert nash_average(even) == pytest.approx([0.5, 0.5, 0], abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_nobody_beats_it(seed: int) -> None:
    won = np.random.default_rng(seed).random((9, 9))
    rates = (won + 1 - won.T) / 2
    mixture = nash_average(rates)
    assert mixture.sum() == pytest.approx(1)
    assert (rates @ mixture).max() <= 0.5 + 1e-7


def test_without_scipy_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(DependencyError, match=r"dicegym\[arena\]"):
        nash_average(CIRCLE)
