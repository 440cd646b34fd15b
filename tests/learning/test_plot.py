"""Curves grouped by experiment, and drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from variants import one_always

pytest.importorskip("scipy")

from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.learning.curves import find_runs, group_runs

RunFolder = Callable[..., Path]


def test_seeds_of_one_folder_become_a_mean_and_a_band(run_folder: RunFolder) -> None:
    same = {"algorithm__ent_coef": 0.1, "run__steps": 300}
    one = run_folder("same/seed-1", "steps,score\n0,0.0\n100,0.4\n200,0.6\n", run__seed=1, **same)
    two = run_folder("same/seed-2", "steps,score\n0,0.2\n200,0.4\n", run__seed=2, **same)
    other = run_folder("c", "steps,score\n0,0.1\n", run__seed=1, algorithm__ent_coef=0.5)
    runs, others = find_runs([one.parent, other])
    assert (len(runs), others) == (3, [])  # each once
    found = group_runs(runs)
    assert [group.label for group in found] == ["same (2 seeds)", "c"]
    band = found[0].band("score")
    assert band.steps.tolist() == [0, 100, 200]
    assert band.mean == pytest.approx([0.1, 0.35, 0.5])
    assert band.lowest == pytest.approx([0.0, 0.3, 0.4])
    assert band.highest == pytest.approx([0.2, 0.4, 0.6])
    assert found[0].runs[1].folder == two
    (two / "curve.csv").write_text("steps,score\n0,0.2\n100,0.2\n")  # a run that ended early counts until its end
    (group,) = group_runs(find_runs([one.parent])[0])
    band = group.band("score")
    assert band.mean == pytest.approx([0.1, 0.3, 0.6])
    assert band.lowest[-1] == pytest.approx(0.6)
    assert (band.steps.tolist(), band.runs.tolist()) == ([0, 100, 200], [2, 2, 1])
    one_called_so = run_folder("odd", "steps,score,score,bacon\n0,0.1,0.7,0.8\n", run__seed=1)
    (odd,), _ = find_runs([one_called_so])  # whose opponents' files are score.py and bacon.py
    assert {name: values.tolist() for name, values in odd.values.items()} == {
        "score": [0.1],
        "score (1)": [0.7],
        "bacon": [0.8],
    }


@pytest.mark.parametrize("ending", one_always(["svg", "png"]))
def test_the_picture_shows_every_game_and_opponent(
    run_folder: RunFolder, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_folder("hog", 'steps,score,bacon,"swap, tuned"\n0,0.1,0.2,0.0\n2000000,0.5,0.6,0.4\n', run__seed=1)
    run_folder("solo", "steps,score\n0,50\n500,90\n", game="yatzy", players=1)
    (tmp_path / "notes").mkdir()
    target = tmp_path / f"curves.{ending}"
    folders = [str(tmp_path / name) for name in ("hog", "solo", "notes")]
    with pytest.raises(SystemExit, match="0"):
        main(["runs", "plot", *folders, "--output", str(target)])
    shown = capsys.readouterr()
    assert "notes is skipped" in shown.err
    assert f"wrote {target}" in shown.out
    assert "0.5000" in shown.out
    if ending == "svg":
        text = target.read_text()
        for said in ("hog, 2 players", "yatzy, 1 player", "against bacon", "against swap, tuned", "2 M", "as good as"):
            assert f">{said}" in text, said
    else:
        picture = np.asarray(pytest.importorskip("PIL.Image").open(target))
        assert picture.shape[0] > picture.shape[1] * 0.8  # two panels
        assert np.unique(picture[..., :3].reshape(-1, 3), axis=0).shape[0] > 10


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["nowhere"], "no folder of a training with a curve.csv"),
        (["a", "--output", "picture.pdf"], "must end in .png or .svg"),
        (["a", "--output", "no/x.png"], "the folder no does not exist"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_refused(
    run_folder: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    match: str,
) -> None:
    run_folder("a", "steps,score\n0,0.1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["runs", "plot", *arguments])
    assert end.value.code == 2
    assert match in capsys.readouterr().err


def test_a_damaged_run_is_refused(run_folder: RunFolder) -> None:
    for name, curve in (("a", "steps,score\n0,x\n"), ("b", ""), ("c", "steps,score\n0,1,2\n"), ("d", "steps,score\n")):
        with pytest.raises(ParameterError, match="does not hold the files of a training"):
            find_runs([run_folder(name, curve)])
