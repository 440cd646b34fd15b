"""What runs the tests in forks loses no failure, and no test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FILE = """
import os, signal, warnings
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    yield folder
    Path(os.environ["SEEN"], f"ended-{os.getpid()}").touch()

def test_passes(shared, capfd):
    os.write(1, b"hello")
    assert capfd.readouterr().out == "hello"

def test_warns():
    warnings.warn("look at this", UserWarning, stacklevel=1)

def test_ends_the_process():
    os._exit(0)

def test_fails(shared):
    print("what it says")
    assert 1 == 2

@pytest.mark.skip(reason="not today")
def test_is_skipped():
    pass

def test_crashes():
    os.kill(os.getpid(), signal.SIGKILL)

def test_knows_its_process(shared):
    Path(os.environ["SEEN"], f"ran-{os.getpid()}-{os.getppid()}").touch()
    assert shared.is_dir()
"""


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run pytest in a folder that knows the plugin; return its status and what it says."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p forks -p no:cacheprovider\n", encoding="utf-8")
    (folder / "seen").mkdir(exist_ok=True)
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "SEEN": str(folder / "seen")}
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_each_test_runs_and_each_failure_is_told(tmp_path: Path) -> None:
    names = ["test_one.py", "test_other.py", "test_third.py"]
    for name in names:
        (tmp_path / name).write_text(FILE, encoding="utf-8")
    status, told = run(tmp_path, "--forks", "2")
    assert status == pytest.ExitCode.TESTS_FAILED, told
    assert re.search(r"= 9 failed, 9 passed, 3 skipped, 3 warnings in", told), told
    for name in names:
        assert f"the process that ran {name}::test_ends_the_process ended with 0" in told
        assert f"the process that ran {name}::test_crashes ended with -9" in told
        assert f"FAILED {name}::test_fails - assert 1 == 2" in told
    assert told.splitlines().count("what it says") == 3
    assert "UserWarning: look at this" in told
    ran = [path.name.split("-") for path in (tmp_path / "seen").glob("ran-*")]
    assert len(ran) == 3
    assert len({parent for _, _, parent in ran}) == 1
    assert len(list((tmp_path / "seen").glob("ended-*"))) >= 3


def test_a_run_ends_with_its_first_failure_if_told_so(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(FILE, encoding="utf-8")
    status, told = run(tmp_path, "--forks", "2", "-x")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "= 1 failed, 2 passed, 1 warning in" in told


def test_what_cannot_be_collected_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("1 / 0\n", encoding="utf-8")
    status, told = run(tmp_path, "--forks", "2")
    assert status == pytest.ExitCode.INTERRUPTED
    assert "ZeroDivisionError" in told
