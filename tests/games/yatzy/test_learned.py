"""Values of Yatzy for one that were learned in games: kept, gone on with, and good for playing by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.analysis.valuers import valuer
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.games.solved import FOLDER_VARIABLE, tables_folder
from dicegym.games.yatzy.solving import learned
from dicegym.games.yatzy.solving.positions import ALL_FILLED

GAMES = 4 * 500


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let few games be all of them, and keep what they teach apart."""
    monkeypatch.setattr(learned, "GAMES", GAMES)
    monkeypatch.setattr(learned, "AT_ONCE", 500)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "tables"))


def solve(folder: Path, goal: float = 0.0) -> float:
    return learned.Learned().solve(folder, goal=goal, seconds=None, threads=1, progress=lambda done, total, text: None)


@pytest.mark.slow
def test_what_is_learned_does_not_depend_on_how_often_one_has_begun(tmp_path: Path) -> None:
    assert learned.Learned().quality(tmp_path / "parts") is None
    assert solve(tmp_path / "parts", goal=0.5) == learned.Learned().quality(tmp_path / "parts") == 0.5
    assert solve(tmp_path / "parts") == solve(tmp_path / "whole") == 0
    parts, whole = (np.load(tmp_path / part / learned.FILE)["weights"] for part in ("parts", "whole"))
    assert np.array_equal(parts, whole)
    assert parts.any()


def test_a_little_learning_plays_well_above_chance() -> None:
    with pytest.raises(ParameterError, match="dicegym solve yatzy learned -p players=1"):
        valuer(learned.ALONE, learned.NAME)
    folder = tables_folder(learned.ALONE, learned.NAME)
    solve(folder)
    found = learned.values()
    assert found.min() >= 0
    assert found[ALL_FILLED].max() == 0
    judge = valuer(learned.ALONE, learned.NAME)
    scores = []
    for seed in range(10):
        state = learned.ALONE.new_game(seed)[0]
        while not state["over"]:
            learned.ALONE.step(state, int(judge.policy(state).argmax()))
        scores.append(learned.ALONE.returns(state)[0])
    assert np.mean(scores) > 120  # at random: 46
    (folder / learned.FILE).write_bytes(b"")
    with pytest.raises(DamagedFileError, match="--remove"):
        learned.values()


def test_positions_that_differ_near_par_are_told_apart_and_those_far_from_it_are_not() -> None:
    room = learned.new_room()

    def numbers(filled: int, upper: int) -> list[int]:
        return room[: learned.entries(filled, upper, room)].tolist()

    sixes = 1 << 5  # of which three are par, 18 points
    largest = [numbers(sixes, upper)[3] for upper in (0, 6, 12, 18, 24, 30)]
    assert largest[0] == largest[1]  # both ten points below par or more
    assert len(set(largest)) == 5
    assert numbers(sixes, 18)[3] != numbers(sixes | 1 << 14, 18)[3]
    assert len(numbers(0, 0)) == learned.TABLES + 15
    found = np.zeros(learned.SIZE)
    learned.learn(found, np.uint64(1), 0, 200, 0.5, 0.5)
    for first, end in ((0, learned.BY_BOXES), (learned.BY_BOXES, learned.BY_PAR), (learned.BY_PAR, learned.BY_ALL)):
        assert found[first:end].any()
    assert found[learned.BY_ALL : learned.OPEN].any()


@pytest.mark.slow
def test_exact_values_stay_the_ones_that_are_asked_first() -> None:
    assert valuer(dicegym.game("yatzy", players=1)).name == "exact"
