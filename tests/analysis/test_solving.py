"""Solving and keeping, with a solution that counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from solutions_toy import STEPS, Counting, Toy, play_with

import dicegym
from dicegym.analysis import solving
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.games.parts import part
from dicegym.games.solved import read_arrays, report_unsolved, tables_folder, write_arrays

GAME = dicegym.game("hog", goal=20)


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    """Return the one solution that Hog has in these tests."""
    kind = type("Counting", (Counting,), {})
    play_with(monkeypatch, Toy(kind))
    return kind


@pytest.mark.parametrize(
    ("named", "parameters", "words"),
    [
        ("liarsdice", {"dice": 1}, "'equilibrium' are available at once; for stored tables give it players=2 and"),
        ("liarsdice_spot_on", {"dice": 1}, "'equilibrium' are available at once; for stored tables give it players=2"),
        ("hog", {}, "'exact' are available at once; for stored tables ask for liarsdice or"),
        ("liarsdice", {"players": 3}, "can be solved in minutes: give it players=2 and dice=2"),
        ("lucky", {}, "can be solved in minutes: ask for liarsdice or"),
    ],
)
def test_where_there_is_no_solution_it_is_told_what_there_is(
    named: str, parameters: dict[str, int], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "part", part)
    with pytest.raises(ParameterError, match=words):
        solving.solution(dicegym.game(named, **parameters))


def test_what_is_solved_is_kept_and_gone_on_with() -> None:
    before = solving.status(GAME)
    assert (before.quality, before.done, before.state) == (None, False, "not solved yet")
    assert not before.folder.exists()
    assert not solving.solve(GAME, minutes=0).done
    shutil.rmtree(before.folder)
    told: list[tuple[int, int, str]] = []
    after = solving.solve(GAME, progress=lambda *step: told.append(step))
    assert after == solving.status(GAME)
    assert (after.quality, after.done, after.state) == (0.01, True, "what is left 0.01")
    assert told == [(count, STEPS, f"{1 / count:.3g}") for count in range(1, 101)]
    assert [path.name for path in after.folder.iterdir()] == ["count.npz"]

    solving.solve(GAME, progress=lambda *step: told.append(step))
    assert len(told) == 100  # nothing to do
    assert solving.solve(GAME, goal=0.005, progress=lambda *step: told.append(step)).quality == 0.005
    assert told[100][0] == 101
    assert solving.status(dicegym.game("hog", goal=30)).quality is None
    assert after.as_json()["parameters"] == {"players": 2, "goal": 20, "memory": 0}


def test_an_end_keeps_what_was_reached_and_says_how_to_go_on(counting: type[Counting]) -> None:
    counting.stop_at = 7
    with pytest.raises(KeyboardInterrupt, match="solve again by `dicegym values solve hog -p goal=20`"):
        solving.solve(GAME)
    assert solving.status(GAME).quality == 1 / 7
    assert solving.solve(GAME).done


def test_two_do_not_solve_the_same() -> None:
    folder = tables_folder(GAME)
    folder.mkdir(parents=True)
    with FileLock(folder / solving.LOCK_FILE), pytest.raises(ParameterError, match="another process is at work"):
        solving.solve(GAME)
    assert solving.solve(GAME).done


def test_damaged_tables_are_told_with_what_to_do() -> None:
    folder = solving.solve(GAME).folder
    whole = (folder / "count.npz").read_bytes()
    for content in (whole[:-30], whole[:60] + b"\0\1\2" + whole[63:], b"no archive", b""):
        (folder / "count.npz").write_bytes(content)
        found = solving.status(GAME)
        assert found.quality is None
        assert f"remove the folder {folder}; `dicegym values solve" in found.state
        with pytest.raises(DamagedFileError, match="dicegym values solve hog -p goal=20"):
            solving.solve(GAME)
    shutil.rmtree(folder)
    assert solving.solve(GAME).done


def test_values_and_folders_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`dicegym values solve hog -p goal=20` does it" in str(report_unsolved(GAME))
    with pytest.raises(ParameterError, match="give it goal=20, or goal=30"):
        solving.solve(dicegym.game("hog"))
    with pytest.raises(ParameterError, match="ask for hog"):
        solving.solve(dicegym.game("yatzy"))
    for wrong in ({"goal": -1}, {"goal": "much"}, {"goal": float("nan")}, {"minutes": -1}, {"threads": 0}):
        with pytest.raises(ParameterError):
            solving.solve(GAME, **wrong)  # type: ignore[arg-type]  # callers may err
    assert [one.parameters["goal"] for one in solving.solvable_games()] == [20, 30]
    (tmp_path / "file").touch()
    monkeypatch.setenv("DICEGYM_TABLES", str(tmp_path / "file" / "tables"))
    with pytest.raises(ParameterError, match="DICEGYM_TABLES"):
        solving.solve(GAME)


def test_arrays_come_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "a.npz"
    write_arrays(file, a=np.arange(6).reshape(2, 3), b=np.float32(2))
    found = read_arrays(file, GAME, ["a", "b"])
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(DamagedFileError, match="cannot be read"):
        read_arrays(file, GAME, ["a", "c"])
    with file.open("wb") as stream:
        np.save(stream, np.zeros(3))  # an array, and no archive of arrays
    with pytest.raises(DamagedFileError, match="cannot be read"):
        read_arrays(file, GAME, ["a"])


@pytest.mark.parametrize("game", solving.solvable_games(), ids=repr)
def test_what_games_say_can_be_solved_can(game: dicegym.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "part", part)
    found = solving.solution(game)
    assert found.goal > 0
    assert found.measure
    assert found.needs.endswith("on two cores")
    assert found.quality(tables_folder(game)) is None
