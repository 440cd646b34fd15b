"""The networks that play: what a row scores does not depend on the others, and how many threads multiply."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dicegym.bots.network import UNSHARED_ROWS, Layer, Network
from dicegym.engine import threads

RNG = np.random.default_rng(5)
NETWORK = Network(
    (Layer(RNG.normal(size=(40, 300)), RNG.normal(size=300), "ReLU"), Layer(RNG.normal(size=(300, 7)), np.ones(7)))
)


ALONE = """
import numpy as np, threadpoolctl
from dicegym.bots import network
from dicegym.bots.network import UNSHARED_ROWS, Layer, Network

def threads():
    return max(one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas")

relu, seen = network.ACTIVATIONS["ReLU"], []
network.ACTIVATIONS["ReLU"] = lambda x: seen.append(threads()) or relu(x)
scores = Network((Layer(np.ones((40, 7)), np.ones(7), "ReLU"),)).scores
with threadpoolctl.threadpool_limits(2, "blas"):
    for rows, columns in ((UNSHARED_ROWS, 40), (UNSHARED_ROWS + 1, 40), (UNSHARED_ROWS + 1, 41)):
        try:
            scores(np.ones((rows, columns), np.float32))
        except ValueError as error:
            seen.append("matmul" in str(error))
        seen.append(threads())
print(seen)
"""


def test_many_rows_are_multiplied_on_one_thread_and_the_users_choice_comes_back() -> None:
    """In a process of its own: the number of threads is one for a whole process, and others multiply in this one."""
    pytest.importorskip("threadpoolctl")
    printed = subprocess.run([sys.executable, "-c", ALONE], check=True, capture_output=True, text=True, timeout=120)
    assert printed.stdout.strip() == "[2, 2, 1, 2, True, 2]"


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
