"""A game of another package, which registers it by an entry point, is as good as one of ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dicegym import registry

PIG = Path(__file__).resolve().parents[2] / "docs" / "examples" / "pig"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder for PYTHONPATH in which the example game is installed as a package of its own."""
    folder = tmp_path / "site"
    shutil.copytree(PIG, folder / "dicegym_pig", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "dicegym_pig" / "__init__.py").touch()
    install(folder, "dicegym_pig", "Pig-v0 = dicegym_pig.rules")
    return folder


def install(folder: Path, name: str, line: str) -> None:
    """Leave in ``folder`` what an installer would of a package with this entry point."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{registry.ENTRY_POINTS}]\n{line}\n")


def run(site: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(site), "COLUMNS": "200", "PYTHONWARNINGS": "default"}
    environment["NUMBA_DISABLE_JIT"] = "1"  # compiled rules take longer to load than all else
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=site, capture_output=True, text=True, check=False
    )


EVERYWHERE = """
import gymnasium as gym, pettingzoo
import dicegym
from dicegym.arena import contest
from dicegym.pettingzoo import pig_v0

if __name__ == "__main__":
    env = gym.make("dicegym/Pig-v0", opponent="haphazard", goal=50)
    assert env.reset(seed=1)[0].shape == env.observation_space.shape
    assert gym.make_vec("dicegym/Pig-v0", num_envs=4).reset(seed=0)[0].shape[0] == 4
    assert len(pettingzoo.make("aec", "dicegym/Pig-v0").possible_agents) == len(pig_v0.env().possible_agents) == 2
    assert repr(dicegym.game("pig")) == "dicegym.game('pig', players=2, goal=100)"
    assert contest("pig", ["hold_at_20", "haphazard"], seed=0, workers=1).standings[0].name == "hold_at_20"
    assert contest("pig", ["mcts(4)", "haphazard"], seed=0, workers=1, games=2).standings
    print(dicegym.agent_names("pig"))
"""


@pytest.mark.slow
def test_the_game_is_found_by_its_name_everywhere(site: Path) -> None:
    (site / "everywhere.py").write_text(EVERYWHERE)
    done = run(site, "everywhere.py")
    assert (done.stdout, done.returncode) == ("['haphazard', 'hold_at_20']\n", 0), done.stderr
    listed = run(site, "-m", "dicegym", "games")
    assert "dicegym/Pig-v0" in listed.stdout, listed.stderr


COMMANDS = """
import contextlib, io, json, sys
told = []
for words in json.loads(sys.argv[1]):
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        from dicegym.cli import main
        try:
            main(words)
        except SystemExit as end:
            status = end.code or 0
    told.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


def test_games_that_cannot_be_loaded_are_told_and_harm_nobody(site: Path) -> None:
    """A broken one, one that is not there, and one of another name than it is registered under."""
    (site / "dicegym_mole").mkdir()
    (site / "dicegym_mole" / "__init__.py").touch()
    (site / "dicegym_mole" / "rules.py").write_text("1 / 0\n")
    install(site, "dicegym_mole", "Mole-v3 = dicegym_mole.rules")
    install(site, "dicegym_gone", "Gone-v0 = dicegym_gone.rules")
    install(site, "dicegym_sow", "Sow-v0 = dicegym_pig.rules")
    done = run(site, "-c", COMMANDS, json.dumps([["games"], ["games", "mole"], ["games", "sow"]]))
    assert done.returncode == 0, done.stderr
    listed, mole, sow = json.loads(done.stdout)
    assert [listed[0], mole[0], sow[0]] == [0, 2, 2]
    assert [name for name in ("dicegym/Pig-v0", "dicegym/Mole-v3") if name not in listed[1]] == []
    assert "Gone-v0 = 'dicegym_gone.rules' of dicegym.games adds no game: there is no such package" in listed[2]
    assert "'mole' of dicegym_mole.rules cannot be loaded: ZeroDivisionError" in mole[2]
    assert "Traceback" not in mole[2]
    assert "registered as the game 'sow', but its SPEC says 'pig'" in sow[2]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("pig", "dicegym.errors", "use the form 'Pig-v0'"),
        ("Pig-v0", "dicegym.errors:SPEC", "invalid module"),
        ("Hog-v0", "dicegym.errors", "the name is taken"),
        ("Hog-v1", "dicegym.errors", "the name is taken"),
        ("Pig-v0", "no_such_package_at_all.rules", "there is no such package"),
    ],
)
def test_an_entry_point_that_cannot_work_is_left_out(name: str, value: str, reason: str) -> None:
    with pytest.warns(RuntimeWarning, match=reason):
        found = registry.from_entry_points([EntryPoint(name, value, registry.ENTRY_POINTS)])
    assert found == ()


def test_a_name_of_several_words_and_a_second_entry_point_of_one_name() -> None:
    points = [EntryPoint("FlipTheCoin-v2", "dicegym.errors", registry.ENTRY_POINTS)] * 2
    with pytest.warns(RuntimeWarning, match="the name is taken"):
        (found,) = registry.from_entry_points(points)
    named = (found.full_id, found.game, found.module_name)
    assert named == ("dicegym/FlipTheCoin-v2", "flip_the_coin", "flip_the_coin_v2")
