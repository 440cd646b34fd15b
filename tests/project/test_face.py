"""The package's face: Tab shows the public names, and each is typed, documented and has an example that runs.

The stubs beside the modules of the face list the names; docs/generate.py makes the site's reference of them.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUBS = {
    path.relative_to(ROOT).as_posix().removesuffix("/__init__.pyi").removesuffix(".pyi").replace("/", "."): path
    for path in sorted((ROOT / "dicegym").rglob("*.pyi"))
}
"""Module of the face -> its stub."""
NEEDS = {"torch": "torch", "VecEnv": "stable_baselines3", "dicegym.training": "sb3_contrib"}
"""What an example with such a word imports from an extra."""
SLOW = {"best_response", "compare", "DAgger", "FastMaskablePPO", "load_model", "save_model", "train", "train_seeds"}
SLOW |= {"Comparison", "ContestResult", "Named"}
"""Their examples take seconds, for PyTorch or for a contest's process; that of `contest` runs one always."""


def stub_names(module: str) -> list[str]:
    """Return the names that a stub's imports give, submodules left out."""
    tree = ast.parse(STUBS[module].read_text(encoding="utf-8"))
    return [one.name for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level for one in node.names]


FACE = [*((module, name) for module in STUBS for name in stub_names(module)), ("dicegym.wrappers", "MaskInObservation")]
NAMES = [
    pytest.param(module, name, id=f"{module}.{name}", marks=[pytest.mark.slow] if name in SLOW else [])
    for module, name in FACE
]


def test_the_face_is_small_and_has_five_rooms() -> None:
    assert set(STUBS) == {
        "dicegym",
        *(f"dicegym.{room}" for room in ("agents", "contest", "envs", "training", "values")),
    }
    assert len(FACE) <= 55
    assert len({name for _, name in FACE}) == len(FACE), "a name is in one place"


@pytest.mark.parametrize("module", STUBS)
def test_tab_shows_the_public_names_alone(module: str) -> None:
    loaded: ModuleType = importlib.import_module(module)
    submodules = set(re.findall(r"^from \. import (\w+)", STUBS[module].read_text(encoding="utf-8"), re.MULTILINE))
    version = {"__version__"} if module == "dicegym" else set()
    assert set(dir(loaded)) == set(loaded.__all__) == {*stub_names(module)} | submodules | version
    for name in submodules:
        assert inspect.ismodule(getattr(loaded, name))
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        _ = loaded.nothing


def value_of(module: str, name: str) -> Any:
    if module in ("dicegym.envs", "dicegym.training"):
        pytest.importorskip("sb3_contrib")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(("module", "name"), FACE)
def test_a_public_name_has_a_docstring_with_an_example(module: str, name: str) -> None:
    told = inspect.getdoc(value_of(module, name)) or ""
    assert "\nExample:\n    >>> " in told, f"{module}.{name}"


@pytest.mark.parametrize(("module", "name"), [*NAMES, *(pytest.param(module, "", id=module) for module in STUBS)])
def test_an_example_runs(module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = inspect.getdoc(value_of(module, name) if name else importlib.import_module(module)) or ""
    for word, needed in NEEDS.items():
        if word in told.partition("Example:")[2]:
            pytest.importorskip(needed)
    test = doctest.DocTestParser().get_doctest(told, {}, name or module, None, None)
    said: list[str] = []
    result = doctest.DocTestRunner().run(test, out=said.append)
    assert result.attempted > 1
    assert not result.failed, "".join(said)


SCRIPT = """
import gymnasium as gym
import dicegym
import dicegym.contest
from dicegym.agents import FunctionPlayer
from dicegym.envs import SB3VecEnv
from dicegym.games.hog.rules import SPEC, View
from dicegym.play.turn import Act

def greedy(turn: dicegym.Turn[View]) -> int:
    reveal_type(turn.view.score)
    return 5 if turn.view.score < 90 else 1

class Mine(dicegym.Player):
    name = "mine"
    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        return greedy

game = dicegym.game(SPEC, goal=50)
reveal_type(game.view(game.new_game(seed=1)[0], 0).opponent_score)
env = gym.make("dicegym/Hog-v0", opponent=FunctionPlayer(greedy, pure=True))
envs = SB3VecEnv("hog", 16, seed=0)
result = dicegym.contest.contest("hog", ["bacon", "swap", Mine()], workers=1)
reveal_type(result)
reveal_type(result.standings[0].place)
reveal_type(result.standings[0].name)
reveal_type(dicegym.contest.contest(game, ["bacon", "swap"], format="round_robin", seeds=2).matches[0].wins)
reveal_type(dicegym.agent("hog", "bacon"))
"""
RESULT, PLAYER = "dicegym.arena.results.ContestResult", "dicegym.play.player.Player"
TYPES = ["int", "int", RESULT, "int", "str", "tuple[int, ...]", PLAYER]
WRONG = """
dicegym.contest.contst
def wrong(turn: dicegym.Turn[View]) -> None:
    print(turn.view.scores)
"""


@pytest.mark.slow  # mypy reads all of the package and what it imports
def test_mypy_strict_knows_the_type_of_each_name_outside_the_checkout(tmp_path: Path) -> None:
    """A name whose type is Any is none that mypy knows, and one that the face or a view does not have is an error."""
    lines = [f"from {module} import {name} as {name}\nreveal_type({name})" for module, name in FACE]
    (tmp_path / "script.py").write_text(SCRIPT + WRONG)
    (tmp_path / "names.py").write_text("\n".join(lines))
    cache = Path(sys.prefix) / "cache" / "mypy-outside"
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", "script.py", "names.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    script, names = (
        [line.partition('Revealed type is "')[2].rstrip('"') for line in told if re.match(f"{file}.*Revealed", line)]
        for file in ("script", "names")
    )
    assert script == TYPES, told
    assert len(names) == len(FACE), told
    assert not [one for one in names if one.startswith("Any")]
    errors = [line for line in told if " error: " in line]
    assert len(errors) == 2, errors
    assert 'has no attribute "contst"' in errors[0]
    assert '"View" has no attribute "scores"' in errors[1]
