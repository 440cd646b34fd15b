"""The notebooks run from top to bottom, what they conclude holds, and what is kept of them fits everybody."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")
pytest.importorskip("sb3_contrib")

import notebook_runs

NAMES = notebook_runs.names()
STEPS = 65_000
"""Of a training run: two rollouts, enough to beat what it began with by far."""
MOST_BYTES = 500_000
FIGURES = {
    "first_training_run": "[[rate for _, rate in curve], len(result.standings)]",
    "hog_against_perfect_play": "[costs.sum(), missing, rates['the trained model'], float(shares.sum())]",
    "five_games": "[list(scores), optimum, rates[3, 0], len(result.standings)]",
}
"""What of each notebook is looked at when it has run."""


def figures_of(name: str, folder: Path) -> Any:
    """Return the `FIGURES` of a notebook after a run in an empty folder."""
    run = notebook_runs.executed(name, folder, STEPS, f"import json\nprint(json.dumps({FIGURES[name]}))")
    assert {cell.metadata.get("tags") for cell in run.cells} == {None}, "no cell may be allowed to fail"
    assert not [output for cell in run.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    return json.loads(run.cells[-1].outputs[-1]["text"])


@pytest.mark.slow
def test_a_short_training_run_learns(tmp_path: Path) -> None:
    curve, entries = figures_of("first_training_run", tmp_path)
    assert curve[-1] > curve[0] + 0.2
    assert entries == 4


@pytest.mark.slow
def test_costs_of_choices_add_up_to_what_is_missing(tmp_path: Path) -> None:
    from dicegym.players import model_file
    from dicegym.players.roster import agents_folder

    costs, missing, rate, shares = figures_of("hog_against_perfect_play", tmp_path)
    assert costs == pytest.approx(missing, abs=1e-9)
    assert shares == pytest.approx(1)
    assert rate == pytest.approx(model_file.facts(agents_folder("hog") / "ppo.zip")["score"]["value"], abs=1e-9)


@pytest.mark.slow
def test_the_tour_shows_every_game_and_its_true_values(tmp_path: Path) -> None:
    from dicegym.registry import GAMES

    games, optimum, rate, entries = figures_of("five_games", tmp_path)
    assert games == list(GAMES)
    assert optimum == pytest.approx(248.44, abs=0.005)
    assert rate == pytest.approx(0.81092, abs=5e-6)
    assert entries == 3


def test_every_notebook_has_a_figure_that_is_looked_at() -> None:
    assert sorted(FIGURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_kept_outputs_are_whole_small_and_of_no_machine(name: str) -> None:
    notebook = notebook_runs.read(name)
    path = notebook_runs.FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < MOST_BYTES
    assert dict(notebook.metadata) == notebook_runs.METADATA
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run `make notebooks`"
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs
    assert {output.output_type for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert "stderr" not in {output.get("name") for output in outputs}
    texts = [output.get("text", "") or output.data.get("text/plain", "") for output in outputs]
    assert not re.search(r"(^|[\s'\"(])(/\w|[A-Z]:\\|~/)", "\n".join(texts)), "a path of somebody's machine"
