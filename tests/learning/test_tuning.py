"""Searching for settings: the search space, the study and how it continues, and its result."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("optuna")

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from dicegym.cli import main
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.learning import tune as studies
from dicegym.learning.configuration import as_toml, from_plain, override, read_config, to_plain
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE, SETTINGS_FILE, alone_in
from dicegym.learning.tune import (
    BEST,
    EVALUATIONS,
    JOURNAL,
    USUAL,
    as_settings,
    best_trial,
    read_space,
    tune,
    usual_point,
)
from dicegym.registry import GAMES

SMALL = ["run.games=16", "run.torch_threads=1", "algorithm.n_steps=8", "algorithm.batch_size=64"]
RATES = ["algorithm.learning_rate={low=1e-4, high=1e-2, log=true}"]
Train = Callable[..., None]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace trainings by curves that follow from the settings; return what may stop one of them."""
    stop: dict[str, Any] = {"at": None, "left": 0}

    def train(game, folder, config, overrides, resume=False, progress=None, evaluated=None):  # noqa: ANN001, ANN202 - stands in for `train`
        folder.mkdir(parents=True, exist_ok=True)
        if not resume:
            plain = to_plain(override(read_config(game, config), overrides))
            (folder / SETTINGS_FILE).write_text(json.dumps(plain))
        settings = from_plain(json.loads((folder / SETTINGS_FILE).read_text()))
        curve = folder / CURVE_FILE
        rows = curve.read_text().split() if resume and curve.is_file() else ["steps,score"]
        quality = -abs(np.log10(settings.algorithm.learning_rate) + 3) + 0.01 * settings.run.seed
        for number in range(len(rows), EVALUATIONS + 1):
            if (folder.name, number) == stop["at"]:
                stop["at"] = None
                raise stop["error"]
            steps, score = number * settings.run.steps // EVALUATIONS, quality * (1 - 1 / (number + 1))
            rows.append(f"{steps},{score:.9f}")
            curve.write_text("\n".join(rows) + "\n")
            evaluated(steps, Score("win rate", "bacon", score, score, score, 0))

    monkeypatch.setattr(studies, "train", train)
    return stop


def kept(folder: Path) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that a study's journal holds."""
    journal = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    return optuna.load_study(study_name=None, storage=journal).trials


# --- what is searched -------------------------------------------------------------------------------------------


def test_a_search_space_is_read() -> None:
    found = read_space(
        [
            "algorithm.n_epochs={low=2, high=8}",
            "network.net_arch={choices=[[64], {pi=[8], vf=[4]}]}",
            "a.b={low=1, high=2.5}",
        ]
    )
    assert found["algorithm.n_epochs"] == IntDistribution(2, 8)
    assert found["network.net_arch"] == CategoricalDistribution(["[64]", "{pi = [8], vf = [4]}"])
    assert found["a.b"] == FloatDistribution(1.0, 2.5)
    settings = override(read_config("hog"), ["network.net_arch={pi = [8], vf = [4]}"])
    assert settings.network.net_arch == {"pi": [8], "vf": [4]}


@pytest.mark.parametrize("game", GAMES)
def test_every_configuration_is_inside_or_outside_the_default_space(game: str) -> None:
    plain, space = to_plain(read_config(game)), read_space(USUAL)
    point = usual_point(space, read_config(game))
    inside = all(
        one.low <= plain["algorithm"][name.partition(".")[2]] <= one.high
        for name, one in space.items()
        if not isinstance(one, CategoricalDistribution)
    ) and as_toml(plain["network"]["net_arch"]) in ("[64, 64]", "[128, 128]", "[256, 256]")
    assert (point is not None) == inside


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("algorithm.n_epochs={low=-3, high=4}", "n_epochs=-3 cannot be used"),
        ("run.stepz={low=1, high=2}", "Did you mean 'steps'"),
        ("algorithm.foo={low=1, high=2}", "no argument of FastMaskablePPO 'foo'.*Known: name, learning_rate"),
        ("environment.foo={low=1, high=2}", r"no \[environment\] setting 'foo'"),
        ('network.activation={choices=["ReLU", "Relu"]}', "'Relu' is not a class of torch.nn"),
        ('algorithm.name={choices=["FastMaskablePPO", "DQN"]}', r"\[algorithm\] does not fit DQN"),
        ("algorithm.learning_rate={low=0, high=1}", "learning_rate=0 cannot be used.*above 0"),
        ("algorithm.n_epochs={low=6, high=5}", "low=6.* high=5"),
        ("algorithm.ent_coef={low=0.0, high=1.0, log=true}", "low.* > 0"),
        ("algorithm.ent_coef={lo=1}", "low"),
        ("algorithm.ent_coef", "cannot be searched"),
        *(
            (f"algorithm.{said}", "cannot be searched")
            for said in (
                "n_epochs=5",
                "n_epochs={low=5}",
                "ent_coef={low=0.1, high=1.0, log=3}",
                "ent_coef={low=true, high=1.0}",
                "ent_coef={choices=[]}",
                "ent_coef={choices=[1], log=true}",
            )
        ),
    ],
)
def test_invalid_searches_are_refused_before_any_trial(wrong: str, words: str, tmp_path: Path) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=words):
        tune("hog", tmp_path / "study", 1, 64, [*RATES, wrong])
    assert not (tmp_path / "study").exists()


# --- the study --------------------------------------------------------------------------------------------------


def test_the_configuration_is_tried_first_and_bad_trials_are_pruned(made_up: dict[str, Any], tmp_path: Path) -> None:
    found = tune("hog", tmp_path, 14, 1600, RATES)
    assert found.trials[0].params == {"algorithm.learning_rate": 1e-3}
    best = best_trial(found)
    assert best is not None
    assert best.number == 0  # by the made-up curves
    states = [one.state for one in found.trials]
    assert TrialState.PRUNED in states
    assert states.count(TrialState.COMPLETE) + states.count(TrialState.PRUNED) == 14
    given_up = next(one for one in found.trials if one.state == TrialState.PRUNED)
    assert len(given_up.intermediate_values) < EVALUATIONS
    assert "win rate against bacon after" in given_up.user_attrs["why"]
    quality = -abs(np.log10(best.params["algorithm.learning_rate"]) + 3) + 0.01
    last = [quality * (1 - 1 / (number + 1)) for number in range(12, EVALUATIONS + 1)]
    assert best.value == pytest.approx(np.mean(last), abs=1e-6)


def test_the_same_command_continues_an_interrupted_study(made_up: dict[str, Any], tmp_path: Path) -> None:
    made_up.update(at=("trial-006", 2), error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        tune("hog", tmp_path, 9, 1600, RATES)
    assert kept(tmp_path)[-1].state == TrialState.FAIL
    found = tune("hog", tmp_path, 9, 1600, RATES)
    assert len(found.trials) == 9
    assert [one.state for one in found.trials].count(TrialState.FAIL) == 1
    assert len(tune("hog", tmp_path, 9, 1600, RATES).trials) == 9
    found = tune("hog", tmp_path, 11, 1600, RATES)
    assert len(found.trials) == len({str(one.params) for one in found.trials}) == 11  # none is drawn twice
    for other, words in (({"steps": 3200}, "steps=1600"), ({"steps": 1600, "overrides": SMALL}, r"overrides=\[\]")):
        with pytest.raises(ParameterError, match=f"began with {words}"):
            tune("hog", tmp_path, 12, search=RATES, **other)
    with pytest.raises(ParameterError, match=r"holds a study of other choices .*: repeat its --search"):
        tune("hog", tmp_path, 12, 1600, ["algorithm.learning_rate={choices=[0.1, 0.2]}"])
    first, again = (tune("hog", tmp_path / name, 3, 1600, RATES).trials for name in "ab")
    assert [(one.params, one.intermediate_values) for one in first] == [
        (one.params, one.intermediate_values) for one in again
    ]


def test_a_failing_trial_does_not_end_the_study(made_up: dict[str, Any], tmp_path: Path) -> None:
    made_up.update(at=("trial-001", 3), error=ValueError("nan"))
    without = ['algorithm={name="FastMaskablePPO"}']  # only the search sets the first rate
    search = [*RATES, "algorithm.learning_rate_end={low=1e-6, high=1e-5}"]  # needs another that is searched
    found = tune("hog", tmp_path, 3, 1600, search, overrides=without)
    assert best_trial(found) is not None
    assert [one.state for one in found.trials].count(TrialState.FAIL) == 1
    assert found.trials[1].user_attrs["why"] == "ValueError: nan"
    made_up.update(at=("trial-000", 1), error=ParameterError("no memory"))
    with pytest.raises(ParameterError, match=r"all 1 trials failed.*no memory"):
        tune("hog", tmp_path / "other", 1, 1600, RATES)


# --- the best settings ------------------------------------------------------------------------------------------


def test_the_best_settings_can_be_used(made_up: dict[str, Any], tmp_path: Path) -> None:
    search = [*RATES, "network.net_arch={choices=[[8], [16], {pi=[128], vf=[8]}]}"]
    found = tune("hog", tmp_path, 6, 1600, search, overrides=SMALL, pruner=optuna.pruners.NopPruner())
    best = best_trial(found)
    assert best is not None
    settings = read_config("hog", tmp_path / BEST)
    assert settings == override(read_config("hog"), [*SMALL, *as_settings(best.params)])
    assert settings.algorithm.learning_rate == best.params["algorithm.learning_rate"]
    assert settings.run.steps == read_config("hog").run.steps  # not as short as the trials


def test_the_command_trains_continues_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With real trainings: the report has the runs' own curves."""
    words = ["runs", "tune", "hog", "--run-dir", str(tmp_path), "--steps", "512"]
    words += [word for text in (*SMALL, "game.goal=20") for word in ("--set", text)]
    words += ["--search", "algorithm.learning_rate={low=1e-4, high=1e-2, log=true}"]
    for trials in ("1", "2"):
        with pytest.raises(SystemExit, match="0"):
            main([*words, "--trials", trials])
    said = capsys.readouterr().out
    assert "2 trials: 2 completed" in said
    assert f"wrote {tmp_path / BEST}" in said.replace("\n", "")
    for one in kept(tmp_path):
        curve = (tmp_path / f"trial-{one.number:03}/curve.csv").read_text().split()[1:]
        scores = [float(line.split(",")[1]) for line in curve]
        assert [*one.intermediate_values.values()] == pytest.approx(scores, abs=1e-8)
        assert not list((tmp_path / f"trial-{one.number:03}").glob("*.md"))
    before = (tmp_path / "best.toml").read_text()
    (tmp_path / "best.toml").unlink()
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--trials", "1"])  # tries nothing
    assert "2 trials" in capsys.readouterr().out
    assert (tmp_path / "best.toml").read_text() == before


# --- who else works there ---------------------------------------------------------------------------------------


def test_one_process_at_a_time_works_on_a_study_of_one_game(made_up: dict[str, Any], tmp_path: Path) -> None:
    tune("hog", tmp_path, 1, 1600, RATES)
    with pytest.raises(ParameterError, match="holds a study of hog, not of yatzy"):
        tune("yatzy", tmp_path, 2, 1600, RATES)
    with ThreadPoolExecutor(1) as pool, alone_in(tmp_path), pytest.raises(ParameterError, match="another training"):
        pool.submit(tune, "hog", tmp_path, 2, 1600, RATES).result()
    assert len(kept(tmp_path)) == 1
    assert len(tune("hog", tmp_path, np.int64(2), np.int64(1600), RATES, seed=np.int64(0)).trials) == 2


@pytest.mark.parametrize("seed", [-1, 1 << 32, 0.5])
def test_a_seed_that_no_sampler_takes_is_refused_before_any_trial(seed: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the seed of a study"):
        tune("hog", tmp_path / "study", 1, 1600, RATES, seed=seed)
    assert not (tmp_path / "study").exists()
