"""What holds for every game in every state, whatever is played: Hypothesis looks for a counterexample."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from variants import VARIANTS, default_forms_always, each_game, each_variant, forget, pick, play, states_of

from dicegym import games
from dicegym.checks.common import check_running, erring_states_of
from dicegym.checks.game_checks import check_actions, check_branching
from dicegym.checks.state_checks import check_reading, check_words
from dicegym.engine import loops
from dicegym.engine.batch import Batch
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED

SEEDS = st.integers(0, 2**64 - 1)
each_form = pytest.mark.parametrize("game", default_forms_always(), ids=repr)
"""What the engine does is the same in all forms of a game, and most are slow; the rules are tried in each form."""


def examples(game: Game, most: int) -> settings:
    """Return how many examples to try: ``most`` of how a game is by default, a quarter of them in its other forms."""
    return settings(max_examples=most if game == games.game(game.name) else most // 4)


def position(game: Game, seed: int, decisions: int) -> Any:
    """Return a state in which somebody is to move, after at most that many random decisions."""
    last: list[Any] = []

    def visit(state: Any) -> None:
        if not state["over"]:
            last[:] = [state.copy()]

    play(game, seed, decisions, visit)
    return last[0]


def drawn(data: st.DataObject, game: Game) -> Any:
    return position(game, data.draw(SEEDS, "seed"), data.draw(st.integers(0, 80), "decisions"))


@pytest.mark.boundscheck
@each_variant
def test_states_keep_what_the_conformance_suite_promises(game: Game) -> None:
    """In every form: buffers, masks and what any whole number does, copies that branch, views and scenes."""

    @examples(game, 12)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        state = drawn(data, game)
        strange = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), "actions")
        check_running(game, state)
        check_reading(game, state)
        check_words(game, state)
        check_actions(game, state)
        check_branching(game, state, len(strange))
        for action in strange:  # contest entries return what they like
            if not state["over"]:
                assert 0 <= game.step(state, action) < len(game.spec.faults)
                check_running(game, state)
                check_reading(game, state)

    check()


@each_form
@given(data=st.data())
@settings(max_examples=10)
def test_other_dice_after_a_branch(game: Game, data: st.DataObject) -> None:
    """A copy under another key goes on with other dice, which is how the future is sampled."""
    seen, last = set(), 0
    start = drawn(data, game)
    for key in range(6):
        state = start.copy()
        state["key"] = key
        for time in range(30):
            if not state["over"]:
                game.step(state, pick(game.legal(state), 5, time))
        last += bool(state["over"])
        state["key"] = 0
        seen.add(state.tobytes())
    assume(len(seen) > 1 or last < 6)  # just before its end a game may have no more dice to roll
    assert len(seen) > 1


def digests(batch: Batch, names: np.ndarray, decisions: int, first: int = 0) -> list[str]:
    """Return a digest of all that rows from ``first`` on show, under random actions that depend on name and time.

    What all other rows do depends on the time alone.
    """
    found, rows = [hashlib.sha256() for _ in names], slice(first, first + len(names))
    for time in range(decisions):
        actions = batch.random_actions(time).copy()
        actions[rows] = [pick(mask, int(name), time) for mask, name in zip(batch.masks[rows], names, strict=True)]
        for row, digest in enumerate(found):
            for array in (batch.states, batch.observations, batch.masks, actions):
                digest.update(array[rows][row].tobytes())
        batch.step(actions)
        for row, digest in enumerate(found):
            digest.update(batch.overs[rows][row].tobytes())
            if batch.overs[rows][row]:
                digest.update(batch.results[rows][row].tobytes())
    return [digest.hexdigest()[:16] for digest in found]


def alone(game: Game, seed: int, name: int, decisions: int) -> str:
    """Return the same digest of one row, computed from single records."""
    digest = hashlib.sha256()
    episode = 0
    state = game.new_game(seed)[0]
    for time in range(decisions):
        mask = game.legal(state)
        action = np.int64(pick(mask, name, time))
        for array in (state, game.observe(state, int(state["player"])), mask, action):
            digest.update(array.tobytes())
        game.step(state, int(action))
        digest.update(state["over"].tobytes())
        if state["over"]:
            digest.update(game.returns(state).tobytes())
            episode += 1
            state = game.new_game(seed, episode)[0]
    return digest.hexdigest()[:16]


@each_form
def test_a_row_is_the_same_in_every_batch_and_alone(game: Game) -> None:
    """In a batch of one, of a dozen and of thousands, at any place, whatever others do, and as a single record."""
    few, decisions, seed = 12, 30, 1000
    names = np.arange(few)
    expected = digests(game.batch(few, seed), names, decisions)
    assert len(set(expected)) == few
    assert [alone(game, seed + row, row, decisions) for row in range(few)] == expected
    assert digests(game.batch(1, seed + 3), np.array([3]), decisions) == [expected[3]]
    before = 2000 if COMPILED else 20
    many = game.batch(before + few + before // 2, seed - before)
    assert digests(many, names, decisions, first=before) == expected


@each_form
@given(data=st.data())
@settings(max_examples=5)
def test_the_order_of_rows_does_not_matter(game: Game, data: st.DataObject) -> None:
    """Games that are stepped row by row in any order, or not at all, do not touch each other."""
    n = 6
    states, seeds = game.new_states(n), np.arange(n, dtype=np.uint64)
    order = np.array(data.draw(st.permutations(range(n)), "order"))
    loops.begin_rows(states, order, game.blank, seeds, np.zeros(n, np.uint64))
    expected = [game.new_game(row)[0] for row in range(n)]
    for time in range(20):
        rows = np.array([row for row in order if row % 3 != time % 3 and not states[row]["over"]], np.int64)
        actions = np.array([pick(game.legal(states[row]), int(row), time) for row in rows], np.int64)
        faults = np.full(len(rows), -1)
        loops.step_rows(states, rows, actions, faults)
        assert not faults.any()
        for row, action in zip(rows, actions, strict=True):
            game.step(expected[row], int(action))
        assert states.tobytes() == b"".join(state.tobytes() for state in expected)


WITHOUT_COMPILATION = """
import json, sys
sys.path[:0] = sys.argv[1:]
import numba
import numpy as np
from test_properties import digests
from variants import VARIANTS
assert numba.config.DISABLE_JIT
print(json.dumps([digests(game.batch(3, 77), np.arange(3), 40) for game in VARIANTS]))
"""


@pytest.mark.slow
def test_compilation_off_is_the_same_game() -> None:
    """Compiled code and plain Python agree to the last bit, in all that is seen of every game."""
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILATION, str(Path(__file__).parent), str(Path(__file__).parents[1])],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    here = [digests(game.batch(3, 77), np.arange(3), 40) for game in VARIANTS]
    assert json.loads(run.stdout) == here


@each_game
def test_fingerprints_name_the_rules(name: str) -> None:
    """The same for the same rules, another for each setting that can be seen, whatever was played before."""
    game = games.game(name)
    assert len(game.fingerprint) == 16
    batch = game.batch(4)
    batch.step(batch.random_actions(0))
    assert games.game(name).compute_fingerprint() == game.fingerprint
    variants = [variant for variant in VARIANTS if variant.name == name]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_a_fingerprint_is_played_once_for_equal_games_and_anew_for_changed_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = []
    monkeypatch.setattr(Game, "compute_fingerprint", lambda game: played.append(game) or f"{len(played)}")
    spec = dataclasses.replace(games.game("hog").spec)
    assert Game(spec).fingerprint == Game(spec).fingerprint == "1"
    assert Game(spec, goal=50).fingerprint == "2"
    assert Game(dataclasses.replace(spec)).fingerprint == "3", "another object may hold other rules"
    assert len(played) == 3


@lru_cache(maxsize=64)
def sources_of(game: Game, seed: int) -> list[Any]:
    """States along two random games, one with errors in it, and one in which all always take their first legal action.

    In that one everybody wants the same. Not to be changed by those who ask.
    """
    alike, state = list[Any](), game.new_game(seed)[0]
    while not state["over"] and len(alike) < 120:
        alike.append(state.copy())
        game.step(state, int(game.legal(state).argmax()))
    return [*states_of(game, seed), *(state.copy() for state in erring_states_of(game, 60, seed)), *alike, state]


@each_variant
def test_what_a_seat_may_not_know_does_not_show(game: Game) -> None:
    """Observation, view, scene and own mask are the same whatever the hidden part of the state is."""

    @examples(game, 16)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        first, second = (data.draw(st.integers(0, 2), "seed") for _ in (0, 1))
        state = data.draw(st.sampled_from(states_of(game, first)), "state")
        source = data.draw(st.sampled_from(sources_of(game, second + 100)), "source")
        for seat in range(game.players):
            other = forget(game, state, seat, source)
            assert np.array_equal(game.observe(state, seat), game.observe(other, seat))
            assert game.view(state, seat) == game.view(other, seat)
            assert game.scene(state, seat) == game.scene(other, seat)
            if seat == state["player"]:
                assert np.array_equal(game.legal(state), game.legal(other))

    check()


@each_variant
def test_the_hidden_part_is_changed_by_this(game: Game) -> None:
    """The test above would prove nothing if it changed nothing."""
    states = [state for seed in range(3) for state in states_of(game, seed)][::3]
    sources = [state for seed in range(100, 103) for state in sources_of(game, seed)][::5]
    for name in ["key", *sorted(game.spec.private | game.spec.secret)]:
        pairs = product(states, sources)
        assert any(not np.array_equal(forget(game, one, 0, other)[name], one[name]) for one, other in pairs), name


@each_game
def test_batches_played_in_threads_are_those_played_one_after_the_other(name: str) -> None:
    """Kernels release the interpreter's lock, so threads really meet; they share nothing but the rules."""
    game = games.game(name)

    def played(seed: int) -> bytes:
        batch = game.batch(50, seed)
        for time in range(200):
            batch.step(batch.random_actions(time))
        return bytes(batch.states.tobytes() + batch.observations.tobytes())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(played, range(8))) == [played(seed) for seed in range(8)]
