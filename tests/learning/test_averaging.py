"""The average of a learner's parameters: what is evaluated, saved and resumed where a run asks for it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from dicegym.learning import checkpoint
from dicegym.learning.averaging import ParameterAverage, _parameters
from dicegym.learning.script import train
from dicegym.players import model as models

SMALL = ["run.games=8", "run.torch_threads=1", "run.card_games=0", "run.evaluate_games=20", "run.log=[]"]
SMALL += ["run.evaluate_every=64", "algorithm.n_steps=8", "algorithm.batch_size=16", "network.net_arch=[8]"]
AVERAGE = [*SMALL, "run.average=0.25"]


class _Model:
    """Stands for a model of three parameters."""

    def __init__(self, torch: Any) -> None:
        self.policy = torch.nn.Linear(2, 1)


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_places_count_alike_at_first_and_then_by_the_rate(rate: float) -> None:
    torch = pytest.importorskip("torch")
    model: Any = _Model(torch)
    average = ParameterAverage()
    places = np.random.default_rng(0).random((6, 3)).astype(np.float32)
    wanted = np.zeros(3)
    for number, place in enumerate(places, start=1):
        torch.nn.utils.vector_to_parameters(torch.from_numpy(place), model.policy.parameters())
        average.follow(model, rate)
        wanted = wanted + max(rate, 1 / number) * (place - wanted)
        np.testing.assert_allclose(average.values, wanted, atol=1e-6)
    weight = model.policy.weight
    with average.shown(model):
        np.testing.assert_array_equal(_parameters(model), average.values)
        assert model.policy.weight is weight  # written in place: an algorithm may hold views
    np.testing.assert_array_equal(_parameters(model), places[-1])


def test_without_places_the_learner_itself_is_shown() -> None:
    model: Any = _Model(pytest.importorskip("torch"))
    before = _parameters(model)
    with ParameterAverage().shown(model):
        np.testing.assert_array_equal(_parameters(model), before)


@pytest.mark.parametrize("algorithm", ["FastMaskablePPO", "MaskablePPO"])
def test_files_hold_the_average_and_checkpoints_the_learner(algorithm: str, tmp_path: Path) -> None:
    ours = [f"algorithm.name={algorithm}", "run.steps=512"]
    plain = train("hog", tmp_path / "plain", overrides=[*SMALL, *ours])
    run = train("hog", tmp_path / "averaged", overrides=[*AVERAGE, *ours])
    np.testing.assert_array_equal(_parameters(run.model), _parameters(plain.model))  # learning is what it was
    average = run.state.average
    assert average.taken == 8
    assert average.values is not None
    assert not np.array_equal(average.values, _parameters(run.model))
    saved = _parameters(models.load_model(tmp_path / "averaged" / "model.zip")[0])
    # inputs that were never met are left out of files
    same = saved == average.values
    assert same.mean() > 0.5
    assert (saved[~same] == 0).all()
    going_on = checkpoint.newest(tmp_path / "averaged")
    assert going_on is not None
    assert models.facts(going_on / "model.zip")["settings"]["run"]["average"] == 0.25


def test_a_resumed_run_has_the_average_of_an_uninterrupted_one(tmp_path: Path) -> None:
    constant = ["algorithm.learning_rate_end=1e-3", "algorithm.ent_coef_end=0.6"]  # nothing follows from run.steps
    whole = train("hog", tmp_path / "whole", overrides=[*AVERAGE, *constant, "run.steps=512"])
    train("hog", tmp_path / "first", overrides=[*AVERAGE, *constant, "run.steps=256"])
    shutil.copytree(tmp_path / "first", tmp_path / "again")
    again = train("hog", tmp_path / "again", overrides=["run.steps=512"], resume=True)
    assert again.state.average.taken == whole.state.average.taken
    curves = [(tmp_path / name / "curve.csv").read_text().splitlines() for name in ("whole", "again")]
    assert curves[0][-1] == curves[1][-1]
    np.testing.assert_array_equal(again.state.average.values, whole.state.average.values)
