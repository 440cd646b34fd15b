"""An edited rule is what the next process runs, and an unedited one is not compiled again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dicegym.engine import jit

SCRIPT = """
import json, sys
import numpy as np
import dicegym
from dicegym.engine import jit, loops
from dicegym.games import game

hog = game("hog")
states = hog.new_game()
loops.step_rows(states, np.arange(1), np.zeros(1, np.int64), np.zeros(1, np.int64))  # -1 dice: one point
used = [loops.begin, loops.step_rows]
print(json.dumps({
    "points": int(states["scores"][0, 0]),
    "package": dicegym.__file__,
    "folder": jit.CACHE_FOLDER,
    "hits": sum(sum(f.stats.cache_hits.values()) for f in used),
    "misses": sum(sum(f.stats.cache_misses.values()) for f in used),
}))
"""
SETTINGS = {"NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0"}


def run(checkout: Path, cache: Path) -> dict[str, Any]:
    """Play one decision in a process of its own, with the package that lies in ``checkout``."""
    environment = os.environ | SETTINGS | {"DICEGYM_CACHE": str(cache), "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert Path(result["package"]).parent == checkout / "dicegym"
    assert Path(result["folder"]).parent == cache
    return result


def files_in(cache: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in cache.rglob("*.nb[ic]")}


def test_an_edited_rule_is_what_the_next_process_runs(tmp_path: Path) -> None:
    """The rule is edited in one file; the loop that calls it lies in another, which does not change."""
    shutil.copytree(jit.PACKAGE, tmp_path / "dicegym", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    first = run(tmp_path, cache)
    assert first["points"] == 1
    assert first["misses"] > 0
    kept = files_in(cache)
    assert kept

    again = run(tmp_path, cache)
    assert again["points"] == 1
    assert again["misses"] == 0
    assert again["hits"] == first["misses"]
    assert files_in(cache) == kept

    rules = tmp_path / "dicegym" / "games" / "hog" / "rules.py"
    text = rules.read_text(encoding="utf-8")
    edited = re.sub(
        r'(def step\(state, action\):\n    """.*?"""\n)', r"\1    state.scores[0] += 4\n", text, flags=re.DOTALL
    )
    assert edited != text
    rules.write_text(edited, encoding="utf-8")
    changed = run(tmp_path, cache)
    assert changed["points"] == 5
    assert changed["folder"] != first["folder"]


# --- the folder --------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in ("engine/a.py", "envs/batch_kernels.py", "games/hog/rules.py", "_agents/bot.py", "readme.md"):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "package"


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("engine/a.py", True),
        ("envs/batch_kernels.py", True),
        ("cli/new.py", False),
        ("games/hog/rules.py", True),
        ("games/pig/_new.py", True),
        ("_agents/bot.py", False),
        ("readme.md", False),
    ],
)
def test_sources_of_kernels_count(package: Path, path: str, counts: bool) -> None:
    """A new bot or command must not make everybody compile again."""
    before = jit.source_hash(package)
    (package / path).parent.mkdir(parents=True, exist_ok=True)
    (package / path).write_text("changed")
    assert (jit.source_hash(package) != before) is counts


@pytest.mark.nojit
def test_moving_text_from_file_to_file_counts(package: Path) -> None:
    (package / "engine" / "a.py").write_text("x")
    before = jit.source_hash(package)
    (package / "engine" / "a.py").rename(package / "engine" / "b.py")
    assert jit.source_hash(package) != before


@pytest.mark.nojit
def test_the_folder_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "mine"))
    folder = Path(jit._cache_folder())
    assert folder.parent == tmp_path / "mine"
    assert folder.is_dir()
    assert jit.source_hash() in folder.name


@pytest.mark.nojit
def test_bounds_checks_have_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba would hand out the cached function without the checks."""
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path))
    folders = set()
    for checked in (0, 1):
        monkeypatch.setattr(jit.numba.config, "BOUNDSCHECK", checked)
        folders.add(jit._cache_folder())
    assert len(folders) == 2


@pytest.mark.nojit
def test_an_unwritable_folder_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder can be made below a file, not even by root")
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    folder = Path(jit._cache_folder())
    assert folder.parent.parent == tmp_path / "temporary"
    assert Path(jit._cache_folder()) == folder  # the next process finds it again

    shutil.rmtree(folder.parent)
    folder.parent.write_text("taken by somebody else")
    last_resort = Path(jit._cache_folder())
    assert last_resort.is_dir()
    assert last_resort.parent == tmp_path / "temporary"


@pytest.mark.nojit
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners and modes of files")
def test_a_folder_that_others_can_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba unpickles what it finds in its cache, and the name of the folder is known to everybody."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    shared = Path(jit._cache_folder()).parent
    assert shared == tmp_path / f"dicegym-{os.getuid()}"
    assert shared.stat().st_mode & 0o777 == 0o700

    for mode in (0o770, 0o702):
        shared.chmod(mode)
        assert Path(jit._cache_folder()).parent == tmp_path
    shared.chmod(0o700)
    assert Path(jit._cache_folder()).parent == shared

    shared.rename(tmp_path / "elsewhere")
    shared.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert Path(jit._cache_folder()).parent == tmp_path
    shared.unlink()
    shared.mkdir(mode=0o700)
    monkeypatch.setattr(jit.os, "getuid", lambda: os.stat(shared).st_uid + 1)
    foreign = tmp_path / f"dicegym-{jit.os.getuid()}"
    foreign.mkdir(mode=0o700)
    assert Path(jit._cache_folder()).parent == tmp_path


@pytest.mark.nojit
def test_old_generations_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path))
    for age in range(8):
        folder = tmp_path / f"kernels-{age}"
        folder.mkdir()
        os.utime(folder, (10**9 - age, 10**9 - age))
    (tmp_path / "something else").mkdir()
    current = Path(jit._cache_folder())
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([current.name, "kernels-0", "kernels-1", "kernels-2", "something else"])


@pytest.mark.nojit
def test_numba_gets_its_own_setting_back() -> None:
    before = jit.numba.config.CACHE_DIR
    with jit._cached_in_our_folder():
        assert jit.numba.config.CACHE_DIR == jit.CACHE_FOLDER
    assert before == jit.numba.config.CACHE_DIR
