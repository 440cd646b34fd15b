"""Trainings so small that tests run many of them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from variants import FINISHED

from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE

SMALL = [
    "run.games=16",
    "run.steps=3072",
    "run.torch_threads=1",
    "run.evaluate_every=1024",
    "run.checkpoint_every=1024",
    "algorithm.n_steps=16",
    "algorithm.batch_size=128",
    "network.net_arch=[16]",
    "run.evaluate_games=20",
    "run.card_games=10",
    "self_play.games=2",
    "self_play.keep=2",
    "self_play.snapshot_every=1024",
]
ALONE = [*SMALL, 'opponents={"self"=1}', "self_play.keep=1"]
"""Against past selves and nobody else."""
STEADY = [  # a run that does not depend on how long it was to be
    *SMALL,
    "game.memory=1",
    "game.goal=20",
    "run.temperature=1",  # who draws is measured by games
    "algorithm.learning_rate_end=0.001",
    "algorithm.ent_coef_end=0.6",
]
LEAGUE = [
    *STEADY,
    'opponents={"self"=2,"bacon"=1}',
    "self_play.snapshot_every=1024",
    "self_play.priority=hard",
]
CHOSEN = [  # trainings that measure themselves often, for tests of which model is kept
    *SMALL,
    *("run.steps=1024", "run.evaluate_every=512", "run.checkpoint_every=256", "run.card_games=0"),
    *("run.average=0.5", "algorithm.ent_coef=0.1"),
]
Done = tuple[Any, Path]
"""A finished run and its folder."""
Train = Callable[[str, list[str]], Done]
"""Trains a game with overrides, or tells of the run that did."""


def small(game: str, overrides: list[str] = SMALL) -> list[str]:
    """Return overrides for a game: Hog to 20, of which the exact value takes a tenth of the time."""
    return [*overrides, "game.goal=20"] if game == "hog" else overrides


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Return the lines of a run's curve."""
    with (folder / CURVE_FILE).open() as file:
        return list(csv.DictReader(file))


def score_of(opponent: str, value: float) -> Score:
    """Return a win rate that is known without an interval."""
    return Score("win rate", opponent, value, value, value, 100)


each_game = pytest.mark.parametrize("game", FINISHED)
