"""The networks that play: what a row scores does not depend on the others, and how many threads multiply."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytest

from dicegym.bots import network
from dicegym.bots.network import UNSHARED_ROWS, Layer, Network, relu
from dicegym.engine import threads

RNG = np.random.default_rng(5)
NETWORK = Network(
    (Layer(RNG.normal(size=(40, 300)), RNG.normal(size=300), "ReLU"), Layer(RNG.normal(size=(300, 7)), np.ones(7)))
)


def blas_threads() -> int:
    info = pytest.importorskip("threadpoolctl").threadpool_info()
    counts: list[int] = [one["num_threads"] for one in info if one["user_api"] == "blas"]
    return max(counts)


def are_two_again() -> bool:
    """Return whether there are two threads again, once whatever else multiplies in this process has ended."""
    deadline = time.monotonic() + 20
    while blas_threads() != 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    return blas_threads() == 2


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many threads each product had, while the user has given NumPy two."""
    counts: list[int] = []

    def watched(x: np.ndarray) -> Any:
        counts.append(blas_threads())
        return relu(x)

    monkeypatch.setitem(network.ACTIVATIONS, "ReLU", watched)
    return counts


def test_many_rows_are_multiplied_on_one_thread_and_the_users_choice_comes_back(seen: list[int]) -> None:
    limits = pytest.importorskip("threadpoolctl").threadpool_limits
    with limits(2, "blas"):
        NETWORK.scores(np.ones((UNSHARED_ROWS + 1, 40), np.float32))
        assert seen == [1]
        assert are_two_again()
        with pytest.raises(ValueError, match="matmul"):
            NETWORK.scores(np.ones((UNSHARED_ROWS + 1, 41), np.float32))
        assert are_two_again()


def test_networks_play_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.normal(size=(64, 40)).astype(np.float32)
    expected = NETWORK.scores(rows)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    threads._products.cache_clear()
    try:
        assert (NETWORK.scores(rows) == expected).all()
        assert threads._products() is None
    finally:
        threads._products.cache_clear()


@pytest.mark.parametrize("rows", [2, UNSHARED_ROWS, UNSHARED_ROWS + 1, 200])
def test_a_row_scores_alone_what_it_scores_among_others(rows: int) -> None:
    observations = RNG.normal(size=(rows, 40)).astype(np.float32)
    alone = np.concatenate([NETWORK.scores(row[None]) for row in observations])
    np.testing.assert_allclose(NETWORK.scores(observations), alone, rtol=1e-11, atol=1e-11)
