"""Floors under the score that chooses a model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from small_runs import CHOSEN, rows_of, score_of
from variants import one_always

import dicegym
from dicegym.learning.configuration import from_plain
from dicegym.learning.curves import Curve
from dicegym.learning.evaluator import BEST_REPLY, EXPLOITER, Evaluator, floors_of
from dicegym.learning.preparation import prepare
from dicegym.learning.seeds.summary import SeedResult, SeedsSummary
from dicegym.players import model as models

WATCHED = ["reckless", "haphazard"]
"""Whom else the configuration of classic Liar's Dice evaluates against."""

pytestmark = pytest.mark.usefixtures("short_cards", "quick_exploiters")


def test_floors_come_before_scores() -> None:
    """Who misses least is best as long as all miss; then the score decides among those who do not."""
    curve = Curve()
    added = [
        (0, 0.30, 0.2),
        (1, 0.20, 0.1),
        (2, 0.45, 0.15),
        (3, 0.10, 0.0),
        (4, 0.09, 0.0),
        (5, 0.40, 0.0),
        (6, 0.5, 0.01),
    ]
    better = [curve.add(steps, score_of("x", value), [score_of("x", value)], missed) for steps, value, missed in added]
    assert better == [True, True, False, True, False, True, False]
    assert (curve.best, curve.missed) == (0.40, 0.0)


def test_the_last_of_those_that_miss_a_floor_as_little_is_best_whatever_they_score() -> None:
    curve = Curve()
    added = [(0, 0.9, 0.2), (1, 0.1, 0.2), (2, 0.8, 0.3), (3, 0.5, 0.0), (4, 0.4, 0.0), (5, 0.9, 0.1), (6, 0.3, 0.0)]
    better = [
        curve.add(steps, score_of("x", value), [score_of("x", value)], missed, takes_last=True)
        for steps, value, missed in added
    ]
    assert better == [True, True, False, True, True, False, True]
    assert (curve.best, curve.missed) == (0.3, 0.0)


@pytest.mark.parametrize("by", one_always(["exploiter", "exploitability"]))
def test_a_run_keeps_the_model_that_is_least_exploited_of_those_that_win_enough(
    by: str, training: Any, tmp_path: Path
) -> None:
    wanted = [
        *CHOSEN,
        "game.dice=1",
        f"run.best_by={by}",
        *(["run.exploiter_steps=256"] if by == "exploiter" else []),
        "run.evaluate_games=100",
        "run.steps=512",
    ]
    training.train("liarsdice", tmp_path / "all", overrides=wanted)
    rows = rows_of(tmp_path / "all")
    column = BEST_REPLY if by == "exploitability" else EXPLOITER
    assert list(rows[0])[2:] == ["even", *WATCHED, column]
    least = sorted(float(row["even"]) for row in rows)[len(rows) // 2]
    for floor in (least, 1.0):
        folder = tmp_path / f"floor {floor}"
        training.train("liarsdice", folder, overrides=[*wanted, f'run.best_floor={{"even"={floor}}}'])
        enough = [row for row in rows if float(row["even"]) >= floor]
        chosen = (
            max(enough, key=lambda row: float(row[column])) if enough else max(rows, key=lambda r: float(r["even"]))
        )
        about = models.facts(folder / "best.zip")
        assert about["timesteps"] == int(chosen["steps"])
        given, missed = floors_of(about)
        assert given == {"even": floor}
        assert missed == pytest.approx(max(0.0, floor - float(chosen["even"])), abs=1e-8)
        resumed = training.Run(prepare("liarsdice", folder, None, [], True))
        assert resumed.state.curve.missed == pytest.approx(missed)


def test_a_floor_may_be_what_is_left_to_a_model(training: Any, tmp_path: Path) -> None:
    """The other way round: who wins most of those that give little away."""
    floor = 'run.best_floor={"exploitability"=0.1}'
    run = training.train(
        "liarsdice", tmp_path / "run", overrides=[*CHOSEN, "game.dice=1", floor, "run.best_by=even", "run.steps=256"]
    )
    assert list(rows_of(tmp_path / "run")[0])[2:] == ["even", *WATCHED, BEST_REPLY]
    assert run.state.curve.score.opponent == "even"


def test_a_target_is_reached_above_the_floor_alone() -> None:
    run = from_plain({"run": {"target": 0.4, "best_by": "exploiter", "best_floor": {"even": 0.6}}}).run
    evaluator = Evaluator(dicegym.game("liarsdice"), run)
    assert not evaluator.has_reached_target([])
    assert not evaluator.has_reached_target([score_of("even", 0.5), score_of(EXPLOITER, 0.45)])
    assert not evaluator.has_reached_target([score_of("even", 0.6), score_of(EXPLOITER, 0.39)])
    assert evaluator.has_reached_target([score_of("even", 0.6), score_of(EXPLOITER, 0.4)])


@pytest.mark.parametrize("by", ["mean", "worst"])
def test_a_floor_does_not_change_what_is_summed_up(by: str) -> None:
    """What is left to a model is no opponent of its evaluations."""
    run = from_plain(
        {"run": {"best_by": by, "evaluate_against": ["even", "honest"], "best_floor": {"exploiter": 0.4}}}
    ).run
    evaluator = Evaluator(dicegym.game("liarsdice"), run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dicegym.learning.evaluator.evaluate", lambda *_, **__: score_of("", 0.6))
        found, scores = evaluator.measure(None, lambda: score_of("", 0.1))  # type: ignore[arg-type]
    assert found.value == pytest.approx(0.6)
    assert [one.opponent for one in scores] == ["even", "honest", EXPLOITER]
    assert evaluator.measure_shortfall(scores) == pytest.approx(0.3)


def test_the_best_of_several_seeds_reaches_the_floor() -> None:
    def result(seed: int, best: float, missed: float) -> SeedResult:
        return SeedResult(seed, "finished", "", 10, best, best, missed)

    results = (result(1, 0.5, 0.1), result(2, 0.3, 0.0), result(3, 0.4, 0.0), result(4, math.nan, 0.0))
    found = SeedsSummary(Path("runs"), "liarsdice", "", results, None, None).best_model
    assert found is not None
    assert found.parent.name == "seed-3"
