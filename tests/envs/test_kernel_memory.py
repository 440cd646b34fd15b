"""What compiled loops allocate they free: they are compiled without counting references (`loop_kernel`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from variants import VARIANTS

import dicegym
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.envs.vector import BatchEnv
from dicegym.players.batch_players import twin_numbers

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled, so Python itself frees everything")


FORMS, OF_SEVERAL = (
    [pytest.param(game, marks=[] if game == dicegym.game(game.name) else pytest.mark.slow) for game in forms]
    for forms in (VARIANTS, [game for game in VARIANTS if game.players > 1])
)


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    before = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not before:
        _nrt_python.memsys_disable_stats()


def held() -> int:
    """Arrays that compiled code has made and not freed."""
    stats = rtsys.get_allocation_stats()
    return int(stats.alloc - stats.free)


@pytest.mark.parametrize("game", FORMS, ids=repr)
def test_batches_of_games_hold_nothing(game: Game) -> None:
    batch = game.batch(64)
    batch.step(batch.random_actions(0))
    before = held()
    for time in range(1, 300):
        batch.step(batch.random_actions(time))
    assert held() == before


@pytest.mark.parametrize("game", OF_SEVERAL, ids=repr)
def test_batches_with_compiled_opponents_hold_nothing(game: Game) -> None:
    """Every twin sits in some of the games; some of them work with arrays of their own."""
    env = BatchEnv(game, 64, opponent=list(twin_numbers(game)), autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    generator = np.random.default_rng(0)
    before = held()
    for _ in range(60):
        scores = generator.random(info["action_mask"].shape) * info["action_mask"]
        *_, info = env.step(scores.argmax(axis=1))
    assert held() == before
