"""What the README tells people to type does what it says, typed in its order, in a folder with nothing in it.

Commands of other pages that run until somebody ends them, and some that read what the README's have left, follow.

The two commands that set everything up are not typed here: whoever runs these tests has typed them. `make test-all`
types them too, in a fresh clone.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
TYPED = [line.partition(" #")[0].strip() for block in BLOCKS for line in block.splitlines() if line.strip()]
SET_UP = ("make ", "source ")
FURTHER = (
    "dicegym check my/hog.py",
    "dicegym arena show",
    "dicegym arena replay 1",
    "dicegym values analyse 1",
    "dicegym values exploitability hog ppo --seconds 5",
    "dicegym runs tune hog --trials 20",
    "dicegym values grade hog swap bacon",
    "dicegym values solve",
    "dicegym watch ppo --game hog -o hog.gif",
    "dicegym export ppo --game hog --as hog.py",
    "dicegym server start yatzy --tcp 5000 --agents thrifty gather",
    "dicegym doctor",
    "dicegym doctor --bench",
)
"""Typed after those of the README."""
COMMANDS = [*(line for line in TYPED if not line.startswith(SET_UP)), *FURTHER]


class Ending(NamedTuple):
    """How a command that goes on for long is brought to an end."""

    typed: str = ""
    """What is typed while it runs."""
    seen: str = ""
    """After this has been printed, Ctrl-C is pressed."""
    made: str = ""
    """After this file is there, Ctrl-C is pressed: sooner than a line of progress, which `seen` then is in the end."""
    status: tuple[int, ...] = (0,)


ENDINGS = {
    "dicegym play": Ending(typed="5\nquit\n"),
    "dicegym train": Ending(seen="steps", made="runs/hog/curve.csv", status=(130,)),
    "dicegym runs tune": Ending(seen="of 20 trials", made="runs/tune-hog/trial-000/curve.csv", status=(130,)),
    "dicegym server start": Ending(seen="5000", status=(0, 130)),
    "dicegym web": Ending(seen="http://", status=(0, 130)),
    "dicegym doctor --bench": Ending(seen="preparing", status=(130,)),
}
"""What a person would end; all others end by themselves."""
LONG = ("dicegym values exploitability", "dicegym runs tune")
"""What takes ten seconds of a core and more, and is typed by `make test-all`."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder, where all commands are typed one after the other."""
    return tmp_path_factory.mktemp("anywhere")


@pytest.fixture(scope="module")
def shell() -> dict[str, str]:
    """Return the environment of a shell in which `source .venv/bin/activate` was typed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "BROWSER": "true"}


def ending(command: str) -> Ending:
    return next((ending for begin, ending in ENDINGS.items() if command.startswith(begin)), Ending())


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    "command", [pytest.param(one, marks=[pytest.mark.slow] if one.startswith(LONG) else []) for one in COMMANDS]
)
def test_a_command_of_the_readme_works_as_typed(command: str, folder: Path, shell: dict[str, str]) -> None:
    end = ending(command)
    if command.startswith("dicegym web"):
        command += " --port 0"  # 8000 is what many programs take
    log = folder / "log.txt"
    with log.open("w+", encoding="utf-8") as out:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=folder,
            env=shell,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            if end.seen:
                wait_until(lambda: has_come(end, folder, log) or process.poll() is not None)
                assert has_come(end, folder, log), f"{command} did not come so far: {log.read_text('utf-8')}"
                process.send_signal(signal.SIGINT)
            process.communicate(end.typed, timeout=240)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    told = log.read_text("utf-8")
    assert process.returncode in end.status, f"{command}\n{told}"
    assert told.strip()
    assert end.seen in told, f"{command} did not say how far it is"
    assert "Traceback" not in told, told


def has_come(end: Ending, folder: Path, log: Path) -> bool:
    return (folder / end.made).exists() if end.made else end.seen in log.read_text("utf-8")


def wait_until(seen: Callable[[], bool], seconds: float = 240) -> None:
    import time

    until = time.monotonic() + seconds
    while not seen() and time.monotonic() < until:
        time.sleep(0.1)


def test_activation_is_said_where_the_first_command_stands() -> None:
    first = next(i for i, line in enumerate(TYPED) if line.startswith("dicegym"))
    assert "source .venv/bin/activate" in TYPED[:first]


def test_every_command_that_runs_until_it_is_ended_is_tried() -> None:
    assert all(any(command.startswith(begin) for command in COMMANDS) for begin in (*ENDINGS, *LONG))


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """Yield a fresh clone, as somebody who comes would have it: what is committed and nothing else."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: there is nothing to clone")
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "dicegym")], check=True)
    yield tmp_path / "dicegym"
    shutil.rmtree(tmp_path / "dicegym")


@pytest.mark.slow
def test_a_fresh_clone_sets_itself_up_and_shows_its_demo(clone: Path) -> None:
    """`make demo` and the activation, in one shell; `make test` is what is running."""
    typed = [line for line in TYPED if line.startswith(SET_UP) and line != "make test"]
    script = "\n".join(["set -e", *typed, "cd /", "dicegym --version", "python -c 'import dicegym'"])
    plain = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=clone, env=plain, capture_output=True, text=True, timeout=1500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "dicegym " in done.stdout.splitlines()[-1]
