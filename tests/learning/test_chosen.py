"""The model of a training that is kept as its best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from small_runs import CHOSEN, rows_of, score_of, small

from dicegym.learning.curves import Curve
from dicegym.players import model_file

pytestmark = pytest.mark.usefixtures("short_cards")


def test_the_best_model_has_the_highest_score_or_is_the_last() -> None:
    for takes_last, expected in ((False, [True, False, True, False]), (True, [True, True, True, True])):
        curve = Curve()
        values = enumerate((0.3, 0.2, 0.45, 0.45))
        added = [(steps, score_of("x", value)) for steps, value in values]
        assert [curve.add(steps, score, [score], takes_last) for steps, score in added] == expected


def test_a_run_that_takes_the_last_model_for_the_best_one_does_so_at_each_evaluation(
    training: Any, tmp_path: Path
) -> None:
    """Also one that is resumed, whose file of the best model scored more before."""
    folder, against = tmp_path / "run", 'run.evaluate_against=["bacon","swap"]'
    wanted = [*small("hog", CHOSEN), "run.best_by=last", against, "run.temperature=1"]  # measured by games
    run = training.train("hog", folder, overrides=[*wanted, "run.steps=256", "run.card_games=2"])
    for steps in (256, 512):
        if steps > 256:
            run = training.train("hog", folder, overrides=[f"run.steps={steps}"], resume=True)
        rows = rows_of(folder)
        assert int(rows[-1]["steps"]) == run.model.num_timesteps >= steps
        assert float(rows[-1]["score"]) == pytest.approx(sum(float(rows[-1][one]) for one in ("bacon", "swap")) / 2)
        best, last = model_file.facts(folder / "best.zip"), model_file.facts(folder / "model.zip")
        for name in ("timesteps", "score"):
            assert best[name] == last[name]
        assert best["timesteps"] == run.model.num_timesteps
        page = (folder / "best.md").read_text(encoding="utf-8")
        assert "The score is the mean over the opponents" in page
