"""Trainings as they are found and told of while they run, or with files that no training wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dicegym.learning.run_folder import alone_in
from dicegym.learning.runs import RUNNING, find_folders, inspect_run

HUGE = "9" * 400


def write_settings(folder: Path) -> None:
    folder.mkdir(parents=True)
    about = {"command": "dicegym train hog", "settings": {"run": {"steps": 9}}, "finished": False}
    (folder / "settings.json").write_text(json.dumps(about))
    (folder / "curve.csv").write_text("steps,score\n")


def test_seeds_are_found_while_they_are_trained(tmp_path: Path) -> None:
    seeds = [tmp_path / "five" / f"seed-{number}" for number in (1, 2)]
    with alone_in(tmp_path / "five"):
        assert find_folders(tmp_path) == [tmp_path / "five"]  # it prepares them
        for one in seeds:
            write_settings(one)
        assert find_folders(tmp_path) == seeds
    assert find_folders(tmp_path) == seeds


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pace.csv", "seconds,steps,games\n0,0,0\n1,{0},5\n2,3,{0}\n"),
        ("evaluations.csv", "steps,opponent,measure,value,low,high,games\n{0},a,b,0.5,0.4,0.6,7\n"),
    ],
)
def test_numbers_beyond_all_floats_are_left_out(file: str, text: str, sign: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_settings(folder)
    (folder / file).write_text(text.format(sign + HUGE))
    found = replace(inspect_run(folder, "run"), state=RUNNING)
    assert (found.steps, found.steps / found.of_steps, len(found.evaluations)) == (0, 0, 0)
    assert (found.games_a_second, found.seconds_left) == (None, None)
