"""``dicegym new game``: a package that plays, passes its own test and registers itself, as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dicegym.bots.new_game import LEFT_OUT, environment_of, new_game, rename_example
from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.registry import GAMES, from_entry_points
from dicegym.shipped import shipped_folder


def python(folder: Path, *command: str, jit: bool = False) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder; kernels are plain Python unless ``jit``, as that starts at once."""
    environment = os.environ | ({} if jit else {"NUMBA_DISABLE_JIT": "1"})
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_new_game_passes_its_own_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my" / "dice"
    with pytest.raises(SystemExit) as end:
        main(["new", "game", "space_dice", str(folder)])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert "SpaceDice-v0" in told
    assert f"wrote {folder / 'tests' / 'test_game.py'}" in told
    # The conformance suite itself takes ten seconds without compiled kernels: the test below asks it.
    quick = ["-k", "not promises"]
    done = python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


@pytest.mark.slow  # compiles the kernels of a new game
def test_a_new_game_keeps_all_promises(tmp_path: Path) -> None:
    new_game("space_dice", tmp_path / "dice")
    done = python(tmp_path / "dice", "-m", "pytest", "-q", "-p", "no:cacheprovider", jit=True)
    assert done.returncode == 0, done.stdout


def test_it_is_the_example_under_another_name(tmp_path: Path) -> None:
    files = new_game("space_dice", tmp_path / "dice")
    example = shipped_folder("examples") / "pig"
    package = tmp_path / "dice" / "dicegym_space_dice"
    expected = {path.relative_to(example) for path in example.rglob("*.py")} - {Path(name) for name in LEFT_OUT}
    assert {path.relative_to(package) for path in files if package in path.parents} - {Path("__init__.py")} == expected
    for file in files:
        text = file.read_text()
        assert "pig" not in text
        assert text.count("Pig") == text.count("Game Pig"), file
        if file.suffix == ".py":
            compile(text, str(file), "exec")
    about = tomllib.loads((tmp_path / "dice" / "pyproject.toml").read_text())
    assert about["project"]["entry-points"] == {"dicegym.games": {"SpaceDice-v0": "dicegym_space_dice.rules"}}


def test_installed_it_is_known_by_its_name(tmp_path: Path) -> None:
    """As an installer leaves it: the package, and what it says of itself."""
    new_game("space_dice", tmp_path / "dice")
    site = tmp_path / "site"
    shutil.copytree(tmp_path / "dice" / "dicegym_space_dice", site / "dicegym_space_dice")
    about = site / "dicegym_space_dice-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dicegym-space-dice\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[dicegym.games]\nSpaceDice-v0 = dicegym_space_dice.rules\n")
    code = (
        "import dicegym\n"
        "from dicegym.play.drive import play_game\n"
        "game = dicegym.game('space_dice', goal=20)\n"
        "players = [dicegym.agent(game, name) for name in dicegym.agent_names(game)]\n"
        "print(play_game(game, players, 1)['over'], dicegym.agent_names(game))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "True ['haphazard', 'hold_at_20']", done.stderr


@pytest.mark.parametrize(
    "name", ["Dice", "space dice", "a_b", "3dice", "class", GAMES[0], "", "x" * 60, "dice-x", "../up"]
)
def test_names_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"cannot be a game's name|is taken"):
        new_game(name, tmp_path / "dice")
    assert not (tmp_path / "dice").exists()


@pytest.mark.parametrize("name", ["dice", "space_dice", "dice2_go"])
def test_the_environment_bears_the_games_name(name: str) -> None:
    (found,) = from_entry_points([EntryPoint(environment_of(name), "dicegym.registry", "dicegym.games")])
    assert found.game == name


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "dice").mkdir()
    (tmp_path / "dice" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    for folder in ("dice", "file", "file/below"):
        with pytest.raises(ParameterError):
            new_game("space_dice", tmp_path / folder)
    assert [path.name for path in (tmp_path / "dice").iterdir()] == ["mine.txt"]


def test_what_others_are_called_stays() -> None:
    assert rename_example('"Optimal Play of the Dice Game Pig"', "other") == '"Optimal Play of the Dice Game Pig"'
