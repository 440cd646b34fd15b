"""Hog's equilibrium by scores: kernels against those for tables, bounds, and going on from a file."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.errors import DamagedFileError
from dicegym.games.hog import exact
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving.strategies import (
    Duel,
    Search,
    best_response,
    best_table_against,
    choices_of,
)
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH
from dicegym.games.hog.values import FILE, STEPS, Equilibrium, solutions
from dicegym.games.solved import write_arrays

from .improving import improvements

GOAL = 12
GAME = dicegym.game("hog", goal=GOAL)


def some_table(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 11, (GOAL, GOAL)).astype(np.int8)


def silent(done: int, of: int, text: str) -> None:
    pass


@pytest.mark.slow
def test_bounds_of_a_table_are_those_of_the_search_for_tables() -> None:
    table = some_table(0)
    assert best_response(choices_of(table))[0] == pytest.approx(exact.best_response(table, GAME)[0], abs=1e-12)
    won, found = best_table_against(choices_of(table), 1)
    assert exact.win_rate(found, table, GAME) == pytest.approx(won, abs=1e-12)
    *_, (climbed, _) = improvements(np.full((GOAL, GOAL), 5, np.int8), table, GAME)
    assert won >= climbed - 1e-12


def test_what_wins_against_a_mixture_is_the_mean_over_its_tables() -> None:
    """Where chance decides at two pairs alone, there are four tables."""
    table, mix = some_table(1), choices_of(some_table(1))
    tables, weights = [], []
    mix[0], mix[2 * GOAL + 3] = 0, 0
    mix[0, 0, 0, [4, 7]], mix[2 * GOAL + 3, 0, 0, [1, 5]] = (0.25, 0.75), (0.5, 0.5)
    for (first, one), (second, other) in itertools.product([(3, 0.25), (6, 0.75)], [(0, 0.5), (4, 0.5)]):
        drawn = table.copy()
        drawn[0, 0], drawn[2, 3] = first, second
        tables.append(drawn)
        weights.append(one * other)
    won, found = best_table_against(mix, 0)
    rates = [exact.win_rate(found, drawn, GAME) for drawn in tables]
    assert won == pytest.approx(float(np.dot(weights, rates)), abs=1e-12)


def test_gains_are_what_a_single_other_choice_wins() -> None:
    goal = 6
    generator = np.random.default_rng(2)
    mix = generator.dirichlet(np.ones(N_ACTIONS), (goal * goal, 1, 1))
    alike = Duel(mix)
    alike.spread()
    alike.sweep(WEIGH)
    gains = alike.gains - (mix * alike.gains).sum(axis=-1, keepdims=True)

    for pair, action in [(0, 3), (7, 0), (3 * goal + 2, 11)]:
        changed = mix.copy()
        changed[pair] = np.eye(N_ACTIONS)[action]
        duel = Duel(changed, mix)
        duel.sweep(PLAY, PLAY)
        assert sum(duel.rates()) / 2 - 0.5 == pytest.approx(gains[pair, 0, 0, action], abs=1e-14)


def test_a_short_search_is_hard_to_beat() -> None:
    search = Search(GOAL)
    for _ in range(60):
        search.step()
    assert np.abs(search.mix.sum(axis=-1) - 1).max() < 1e-12
    assert best_table_against(search.mix, 2)[0] < 0.505
    assert best_table_against(Search(GOAL).mix, 2)[0] > 0.7
    assert best_response(search.mix)[0] >= best_table_against(search.mix, 2)[0] - 1e-12


def test_going_on_is_as_if_it_had_never_ended(tmp_path: Path) -> None:
    (one,) = solutions(GAME)
    assert isinstance(one, Equilibrium)
    assert one.quality(tmp_path) is None
    for folder, times in (("once", [1]), ("twice", [0, 1])):
        for goal in times:
            one.solve(tmp_path / folder, goal=float(goal), seconds=0.0, threads=1, progress=silent)
    assert not (tmp_path / "once").exists()  # no time, no step
    told: list[int] = []
    quality = one.solve(tmp_path / "a", goal=0.01, seconds=None, threads=1, progress=lambda done, *_: told.append(done))
    assert told[:STEPS] == list(range(1, STEPS + 1))
    assert quality == one.quality(tmp_path / "a")
    assert quality <= 0.01
    better = quality / 1e6
    one.solve(tmp_path / "a", goal=better, seconds=60, threads=1, progress=lambda done, *_: told.append(done))
    one.solve(tmp_path / "b", goal=better, seconds=60, threads=1, progress=silent)
    assert (tmp_path / "a" / FILE).read_bytes() == (tmp_path / "b" / FILE).read_bytes()


def test_a_file_that_holds_no_probabilities_is_told(tmp_path: Path) -> None:
    (one,) = solutions(GAME)
    wrong = np.ones((GOAL * GOAL, N_ACTIONS))
    arrays = dict.fromkeys(("best", "regrets", "mix", "total"), wrong)
    write_arrays(tmp_path / FILE, won=np.array([0.5, 0.5]), steps=np.array(3), **arrays)
    with pytest.raises(DamagedFileError, match="no probabilities"):
        one.quality(tmp_path)


def test_players_who_remember_have_no_solution() -> None:
    assert solutions(dicegym.game("hog", memory=1)) == ()
