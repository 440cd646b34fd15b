"""Two trainings side by side: differences with intervals, what differs, and when a score was reached."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pydantic")
pytest.importorskip("scipy")

import scipy  # its parts are loaded when a test asks for them

from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.learning.run_curves import compare_runs, interquartile_mean

RunFolder = Callable[..., Path]
A = [0.50, 0.52, 0.55, 0.47, 0.51]
B = [0.60, 0.66, 0.63, 0.70, 0.58]


@pytest.fixture
def both(run_folder: RunFolder, tmp_path: Path) -> tuple[Path, Path]:
    """Return two trainings of five seeds each, the second one better."""
    for name, scores, rate in (("a", A, 1e-3), ("b", B, 3e-4)):
        for seed, score in enumerate(scores, 1):
            curve = f"steps,score\n0,0.0\n100,{score / 2}\n200,{score}\n"
            folder = run_folder(f"{name}/seed-{seed}", curve, run__seed=seed, algorithm__learning_rate=rate)
            (folder / "pace.csv").write_text("seconds,steps,games\n10.0,100,5\n40.0,200,9\n")
    return tmp_path / "a", tmp_path / "b"


def test_differences_are_those_of_the_references(both: tuple[Path, Path]) -> None:
    found = compare_runs(*both)
    assert (found.game, found.measure, found.steps) == ("hog", "win rate against bacon", 200)
    welch = scipy.stats.ttest_ind(B, A, equal_var=False).confidence_interval()
    assert found.mean == pytest.approx((np.mean(B) - np.mean(A), welch.low, welch.high))
    reference = scipy.stats.bootstrap(
        (A, B),
        lambda x, y, axis: interquartile_mean(y, axis) - interquartile_mean(x, axis),
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert found.iqm.value == pytest.approx(0.63 - 0.51)
    assert found.iqm[1:] == pytest.approx((reference.low, reference.high), abs=0.01)
    assert found.above.value == 1
    assert "b is better" in found.verdict
    assert found.differing == {"algorithm.learning_rate": (1e-3, 3e-4)}


def test_turned_around_it_says_the_opposite(both: tuple[Path, Path]) -> None:
    one, two = compare_runs(*both), compare_runs(*reversed(both))
    assert two.mean == pytest.approx((-one.mean.value, -one.mean.high, -one.mean.low))
    assert two.above.value == pytest.approx(1 - one.above.value)
    assert "b is better" in two.verdict


def test_when_a_score_was_reached_lies_between_evaluations(both: tuple[Path, Path]) -> None:
    found = compare_runs(*both, score=0.6)
    assert found.a.reached[:2] == (0, 5)
    assert math.isnan(found.a.reached.steps)
    when = [200 * 0.6 / score for score in B if score >= 0.6]
    assert found.b.reached[:2] == (4, 5)
    assert found.b.reached.steps == pytest.approx(np.median(when))
    assert found.b.reached.seconds == pytest.approx(np.median([10 + 30 * (at - 100) / 100 for at in when]))


def test_trainings_are_compared_as_far_as_all_of_them_came(both: tuple[Path, Path]) -> None:
    (both[0] / "seed-1/curve.csv").write_text("steps,score\n0,0.0\n100,0.3\n")
    found = compare_runs(*both)
    assert found.steps == 100
    assert found.b.scores == pytest.approx(np.array(B) / 2)
    assert compare_runs(*both, steps=50).b.scores == pytest.approx(np.array(B) / 4)


def test_few_seeds_have_no_interval(run_folder: RunFolder) -> None:
    a = run_folder("a", "steps,score\n0,0.0\n100,0.4\n", run__seed=1)
    b = run_folder("b", "steps,score\n0,0.0\n100,0.6\n", run__seed=1)
    found = compare_runs(a, b)
    assert found.mean.value == pytest.approx(0.2)
    assert math.isnan(found.mean.low)
    assert "too few seeds" in found.verdict
    assert found.differing == {}
    run_folder("c/1", "steps,score\n100,0.4\n", run__seed=1)
    c = run_folder("c/2", "steps,score\n100,0.5\n", run__seed=2).parent
    found = compare_runs(c, [a, b])
    assert not math.isnan(found.mean.low)
    assert math.isnan(found.iqm.low)
    assert "holds 0" in found.verdict


def test_the_command_says_and_writes_it(
    both: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "both.json"
    with pytest.raises(SystemExit, match="0"):
        main(["runs", "compare", *map(str, both), "-o", str(plain)])
    said = capsys.readouterr().out
    for words in ("after 200 steps", "[+0.", "100%", "algorithm.learning_rate", "b is better", "5 of 5"):
        assert words in said, words
    found = json.loads(plain.read_text())
    assert found["settings"] == {"algorithm.learning_rate": [1e-3, 3e-4]}
    assert found["b"]["scores"]["seed-2"] == pytest.approx(0.66)


def test_what_cannot_be_compared_is_said(both: tuple[Path, Path], run_folder: RunFolder, tmp_path: Path) -> None:
    solo = run_folder("solo", "steps,score\n0,50\n", game="yatzy", players=1)
    with pytest.raises(ParameterError, match=r"measure different things: .*bacon.*yatzy for 1"):
        compare_runs(both[0], solo)
    with pytest.raises(ParameterError, match="trainings of different settings"):
        compare_runs(list(both), both[0])
    with pytest.raises(ParameterError, match="no folder of a training"):
        compare_runs(tmp_path / "nowhere", both[0])
    with pytest.raises(ParameterError, match="reached 200 steps"):
        compare_runs(*both, steps=201)
