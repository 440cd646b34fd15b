"""The average of a learner's parameters in evaluations, files and resumed runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import one_always

pytest.importorskip("sb3_contrib")

from dicegym.learning import run_state
from dicegym.learning.learner import ParameterAverage
from dicegym.learning.run_folder import newest_checkpoint
from dicegym.learning.train import train
from dicegym.players import model_file, sb3_models

SMALL = ["run.games=8", "run.torch_threads=1", "run.card_games=0", "run.evaluate_games=20", "run.log=[]"]
SMALL += ["run.evaluate_every=256", "algorithm.n_steps=8", "algorithm.batch_size=16", "network.net_arch=[8]"]
SMALL.append("game.goal=20")  # a tenth of the time for exact values
AVERAGE = [*SMALL, "run.average=0.25"]


def parameters_of(model: Any) -> np.ndarray:
    """Return the parameters of a model as one vector."""
    return np.concatenate([one.detach().numpy().ravel() for one in model.policy.parameters()])


def flat(average: ParameterAverage) -> np.ndarray:
    """Return an average as one vector."""
    return np.concatenate([one.numpy().ravel() for one in average.values])


class _Model:
    """Stands for a model of three parameters."""

    def __init__(self, torch: Any) -> None:
        self.policy = torch.nn.Linear(2, 1)
        self.num_timesteps = 0


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_points_weigh_equally_at_first_and_then_by_the_rate(rate: float) -> None:
    torch = pytest.importorskip("torch")
    model: Any = _Model(torch)
    average, before = ParameterAverage(), parameters_of(model)
    with average.apply_to(model):  # without points it is the learner
        np.testing.assert_array_equal(parameters_of(model), before)
    places = np.random.default_rng(0).random((6, 3)).astype(np.float32)
    wanted = np.zeros(3)
    for number, place in enumerate(places, start=1):
        torch.nn.utils.vector_to_parameters(torch.from_numpy(place), model.policy.parameters())
        model.num_timesteps += 5
        average.follow(model, rate)
        average.follow(model, rate)  # a point counts once
        wanted = wanted + max(rate, 1 / number) * (place - wanted)
        np.testing.assert_allclose(flat(average), wanted, atol=1e-6)
    weight = model.policy.weight
    with average.apply_to(model):
        np.testing.assert_array_equal(parameters_of(model), flat(average))
        assert model.policy.weight is weight  # written in place: an algorithm may hold views
    np.testing.assert_array_equal(parameters_of(model), places[-1])


@pytest.mark.parametrize("algorithm", one_always(["FastMaskablePPO", "MaskablePPO"]))
def test_files_hold_the_average_and_checkpoints_the_learner(algorithm: str, tmp_path: Path) -> None:
    ours = [f"algorithm.name={algorithm}", "run.steps=512"]
    plain = train("hog", tmp_path / "plain", overrides=[*SMALL, *ours])
    run = train("hog", tmp_path / "averaged", overrides=[*AVERAGE, *ours])
    np.testing.assert_array_equal(parameters_of(run.model), parameters_of(plain.model))  # learning does not change
    average = run.learner.average
    assert average.taken == 8
    assert not np.array_equal(flat(average), parameters_of(run.model))
    saved = parameters_of(sb3_models.load_model(tmp_path / "averaged" / "model.zip")[0])
    # files leave out inputs that were never seen
    same = saved == flat(average)
    assert same.mean() > 0.5
    assert (saved[~same] == 0).all()
    going_on = newest_checkpoint(tmp_path / "averaged")
    assert going_on is not None
    assert model_file.facts(going_on / "model.zip")["settings"]["run"]["average"] == 0.25


def test_a_short_run_averages_learned_and_not_fresh_networks(tmp_path: Path) -> None:
    """The last update counts, and networks that have learned nothing do not."""
    one = ["run.steps=64", "run.average=0.01"]
    run = train("hog", tmp_path / "run", overrides=[*SMALL, *one])
    assert run.learner.average.taken == 1
    np.testing.assert_array_equal(flat(run.learner.average), parameters_of(run.model))
    more = [*SMALL, *one, f'run.start_from="{tmp_path / "run" / "model.zip"}"']
    assert train("hog", tmp_path / "more", overrides=more).learner.average.taken == 2


def test_a_resumed_run_has_the_average_of_an_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = [*AVERAGE, "run.steps=512", "run.checkpoint_every=256"]
    copied: list[int] = []
    replace = run_state.replace_checkpoint

    def copy(*arguments: Any) -> None:
        replace(*arguments)
        if not copied:
            shutil.copytree(tmp_path / "whole", tmp_path / "again")
        copied.append(1)

    monkeypatch.setattr(run_state, "replace_checkpoint", copy)
    whole = train("hog", tmp_path / "whole", overrides=overrides)
    assert len(copied) > 1
    again = train("hog", tmp_path / "again", resume=True)
    assert again.first == 256
    assert again.learner.average.taken == whole.learner.average.taken == 8
    np.testing.assert_array_equal(flat(again.learner.average), flat(whole.learner.average))
    assert (tmp_path / "again" / "curve.csv").read_text() == (tmp_path / "whole" / "curve.csv").read_text()
