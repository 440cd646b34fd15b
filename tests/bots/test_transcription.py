"""Kernels as text do what the kernels do, and need NumPy alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from variants import each_game, states_of

from dicegym import games
from dicegym.bots.transcription import HELPERS, transcribe
from dicegym.engine.jit import kernel
from dicegym.engine.spec import HEADER

TABLE = np.arange(1000, dtype=np.int16)
LIMIT = 7


@kernel
def helper(x):
    """Say something."""
    return min(TABLE[x], LIMIT)


@kernel
def twice(x):
    return 2 * helper(x)


def draws() -> float:
    return random.random()


def run(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(HELPERS + source, namespace)
    return namespace


def test_functions_come_with_all_that_they_use() -> None:
    source = transcribe(twice)
    assert "kernel" not in source
    assert "Say something" not in source
    assert len(source) < 3000
    found = run(source)
    assert [found["twice"](x) for x in (3, 900)] == [6, 14]


def test_what_a_file_could_not_count_on_is_refused() -> None:
    with pytest.raises(TypeError, match="uses the module random"):
        transcribe(draws)


@each_game
def test_transcribed_kernels_see_what_the_kernels_see(name: str) -> None:
    game = games.game(name)
    found = run(transcribe(game.spec.kernels.observe, game.spec.kernels.legal))

    class State:
        pass

    for state in states_of(game, 3)[:-1:3]:
        known = State()
        for field in game.spec.state.names or ():
            value = state[field]
            plain = value.astype(np.int64) if value.dtype.kind in "iu" and field != "key" else value
            setattr(known, field, plain if value.shape else value.item())
        for seat in range(game.players):
            seen = np.full(game.observation_size, np.nan, np.float32)
            found["observe"](known, seat, seen)
            assert np.allclose(seen, game.observe(state, seat), rtol=0, atol=1e-6)
        mask = np.zeros(game.n_actions, np.bool_)
        found["legal"](known, mask)
        assert np.array_equal(mask, game.legal(state))
    assert {name for name, _ in HEADER} <= set(game.spec.state.names or ())
