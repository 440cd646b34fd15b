"""An edited rule is what the next process runs, and an unedited one is not compiled again."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dicegym.engine import jit

SETTINGS = {"NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0"}


def in_a_process(script: str, folder: Path, cache: Path) -> Any:
    """Return what ``script`` prints, run in a process of its own with the modules that lie in ``folder``."""
    environment = os.environ | SETTINGS | {"DICEGYM_CACHE": str(cache), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


COIN = """
import numpy as np
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, record
from gain import GAIN, gain

@kernel
def reset(state):
    state.total = 0

@kernel
def step(state, action):
    state.total += gain(action)
    state.over = True
    return 0

@kernel
def legal(state, mask):
    mask[:] = True

@kernel
def observe(state, seat, out):
    out[0] = 0

@kernel
def returns(state, out):
    out[0] = state.total

SPEC = GameSpec(
    name="coin", title="Coin", state=record([("total", np.int64)]), players=(1, 1),
    kernels=Kernels(reset, step, legal, observe, returns),
    n_actions=2, features=lambda parameters: {"nothing": 1}, view=None, faults=("",),
    default_opponent="none", baseline="none",
)
"""
GAIN = "from dicegym.engine.jit import kernel\nGAIN = {}\n@kernel\ndef gain(action):\n    return GAIN * action\n"
OUTSIDE = """
import json, os, sys
from pathlib import Path
import numpy as np
from dicegym.engine import loops
from dicegym.engine.game import Game

def played():
    from rules import SPEC, gain
    states = Game(SPEC).new_states(1)
    loops.step_rows(states, np.arange(1), np.ones(1, np.int64), np.zeros(1, np.int64))
    used = [*SPEC.kernels, loops.step_rows, gain]
    return int(states["total"][0]), sum(sum(kernel.stats.cache_misses.values()) for kernel in used)

found = []
sys.dont_write_bytecode = True  # or a text of the same length, written in the same second, would not be read
for number in (2, 2, 7):
    Path("gain.py").write_text(TEXT.format(number))
    if (child := os.fork()) == 0:
        Path("found.json").write_text(json.dumps(played()))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    found.append(json.loads(Path("found.json").read_text()))
print(json.dumps(found))
"""


def test_a_changed_game_outside_the_package_plays_its_new_rule(tmp_path: Path) -> None:
    """The rule stands in a file that holds neither the loop, nor the game's `step`, nor its record.

    Each time a fork plays that has compiled nothing, of a process that has not imported the game.
    """
    (tmp_path / "game").mkdir()
    (tmp_path / "game" / "rules.py").write_text(COIN)
    found = in_a_process(OUTSIDE.replace("TEXT", repr(GAIN)), tmp_path / "game", tmp_path / "cache")
    assert [(points, compiled > 0) for points, compiled in found] == [(2, True), (2, False), (7, True)]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in ("engine/a.py", "envs/batch_kernels.py", "games/hog/rules.py", "_agents/bot.py", "readme.md"):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "package"


COUNTS = ["engine/a.py", "envs/batch_kernels.py", "games/hog/rules.py", "games/pig/_new.py", "engine/text.py"]
COUNTS_NOT = ["cli/new.py", "games/pig/text.py", "_agents/bot.py", "readme.md"]


@pytest.mark.nojit
@pytest.mark.parametrize("path", COUNTS + COUNTS_NOT)
def test_sources_of_kernels_count(package: Path, path: str) -> None:
    """A new bot or command must not make everybody compile again."""
    before = jit.source_hash(package)
    (package / path).parent.mkdir(parents=True, exist_ok=True)
    (package / path).write_text("changed")
    assert (jit.source_hash(package) != before) is (path in COUNTS)


@pytest.mark.nojit
def test_moving_text_from_file_to_file_counts(package: Path) -> None:
    (package / "engine" / "a.py").write_text("x")
    before = jit.source_hash(package)
    (package / "engine" / "a.py").rename(package / "engine" / "b.py")
    assert jit.source_hash(package) != before


def compiled_modules() -> set[str]:
    """Return the names of the modules of the package that make kernels."""
    return {name for name, path in FILES.items() if re.search(r"^@(loop_)?kernel$", path.read_text(), re.MULTILINE)}


FILES = {
    ".".join(path.relative_to(jit.PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(jit.PACKAGE.rglob("*.py"))
}


def is_kept_apart(module: str) -> bool:
    """Return whether kernels of a module are kept by the sources of its own folder."""
    return FILES[module] not in jit.kernel_sources(jit.PACKAGE)


WITHOUT_NUMBERS = {"dicegym", *(f"dicegym.{name}" for name in ("errors", "files", "registry"))}
WITHOUT_NUMBERS |= {"dicegym.games.worth", "dicegym.games.solved"}
"""Imported by sources of kernels, but for exceptions, names, types, and reading and writing of files alone."""


def imported(module: str) -> set[str]:
    """Return the modules of the package that a module imports, wherever in its text, with those around them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: write the whole name of the module"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return {name for name in found if name in FILES}


@pytest.mark.nojit
def test_kernels_take_nothing_from_other_sources() -> None:
    """What a kernel is compiled of must be in the name of its folder, or an edit of it would go unnoticed."""
    waiting, seen = list(compiled_modules()), set(WITHOUT_NUMBERS)
    assert "dicegym.games.hog.rules" in waiting
    assert "dicegym.envs.batch_kernels" in waiting
    forgotten, counted = set(), jit.kernel_sources(jit.PACKAGE)
    # Kernels above the games, and in folders of their own, are kept by their own sources; what they call is not.
    waiting = [module for module in waiting if not is_kept_apart(module)] + [
        other
        for module in waiting
        if is_kept_apart(module)
        for other in imported(module)
        if FILES[other].parent != FILES[module].parent
    ]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        if FILES[module] not in counted:
            forgotten.add(module)
        waiting += imported(module)
    assert not forgotten, f"correct KERNEL_SOURCES or WITHOUT_KERNELS of dicegym/engine/jit.py: {sorted(forgotten)}"
