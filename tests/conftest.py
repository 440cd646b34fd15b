"""What every test may rely on."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from postgres import MissingError, Postgres, running

ROOT = Path(__file__).resolve().parents[1]

pytest_plugins = ["command_line"]

# The first example may compile a kernel; which examples run must not depend on the day.
hypothesis.settings.register_profile("dicegym", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dicegym")

# A setting of whoever runs the tests must not decide which bots they see.
os.environ.pop("DICEGYM_AGENTS", None)

# A shell starts what it runs in the background deaf to Ctrl-C, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# As `nohup` makes them deaf to the end of the terminal.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# Whatever a test starts inherits it, so that what is left when all have run can be told from the rest of the machine.
RUN = "DICEGYM_TEST_RUN"
IS_ALL = RUN not in os.environ  # neither a worker nor a run within a run
os.environ.setdefault(RUN, secrets.token_hex(8))
SECONDS_TO_END = 5.0
"""What waits for the end of its parent may take so long to see it."""


# Workers share the cores already; a second thread in each would only wait for the other's.
if "PYTEST_XDIST_WORKER" in os.environ:
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Trainings ask for a second thread all the same, and what they ask for stays. Threads of PyTorch wait for each other at
# full speed unless told otherwise before it is loaded: on a core that is shared, products took a hundred times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


LONGEST = (
    "tests/zoo/test_jail.py",
    "tests/games/test_agents.py",
    "tests/engine/test_properties.py",
    "tests/games/bidding/test_recall.py",
    "tests/sandbox/test_sandbox.py",
    "tests/web/test_watch_pages.py",
    "tests/learning/test_dagger.py",
    "tests/learning/test_interrupted_training.py",
    "tests/project/test_packaging.py",
    "tests/server/test_agents.py",
    "tests/web/test_browser.py",
)
"""Files that workers begin with: a worker that gets one of them last keeps the others waiting. The first
and tests of sandboxes wait themselves, for what hostile bots do."""


ALL_SLOW = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)
"""How a file says that all of its tests are slow."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the marks that a run asks for: importing all takes longer than some runs.

    Lists of parameters in `variants` mark tests too. A run without slow tests leaves out the files of which all are.
    """
    if config.option.markexpr == "not slow" and collection_path.suffix == ".py":
        return True if ALL_SLOW.search(collection_path.read_text(encoding="utf-8")) else None
    asked = set(re.findall(r"\w+", config.option.markexpr.partition(" and ")[0])) - {"or"}
    if not asked or not asked <= {"boundscheck", "check", "nojit"} or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    names = [*(f"pytest.mark.{mark}" for mark in asked), "each_variant", "default_forms_always"]
    return True if not any(name in text for name in names) else None


class NoCompiler(ModuleType):
    """Stands for PyTorch's compiler, which the first optimizer of a process imports only to be left alone by it.

    That takes each worker two seconds, and nothing here is compiled by it. What else is asked of it is the real one's.
    """

    def disable(self, function: Any, recursive: bool = True, wrapping: bool = True) -> Any:
        return function

    def graph_break(self) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


sys.modules.setdefault("torch._dynamo", NoCompiler("torch._dynamo"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage only in what tests leave: in all that is collected, looking took a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(
            50_000, 10, 10
        )  # and far less often than usual in tests, of which many make thousands of objects
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases past those of `slow_after` slow; put the longest files first where several workers share the tests."""
    seen = Counter[str]()
    for item in items:
        if mark := item.get_closest_marker("slow_after"):
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > mark.args[0]:
                item.add_marker(pytest.mark.slow)
    if "PYTEST_XDIST_WORKER" in os.environ:
        ranks = {path: rank for rank, path in enumerate(LONGEST)}
        items.sort(key=lambda item: ranks.get(item.nodeid.split("::")[0], len(LONGEST)))


def rewrite_asserts() -> None:
    """Let one process write the bytecode of all tests, where there is none: workers would each make it, all at once."""
    known = any(ROOT.glob("tests/*/__pycache__/test_*-pytest-*.pyc"))
    if not known and not sys.dont_write_bytecode:
        quiet = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
        subprocess.run(quiet, cwd=ROOT, check=False, capture_output=True)


FOLDER = pytest.StashKey[str]()
"""A folder of this process, for what users have in folders of theirs."""
NUMBERS = itertools.count()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what workers would else compile once each, if they are to run everything and it is not there yet."""
    config = session.config
    config.stash[FOLDER] = tempfile.mkdtemp(prefix="dicegym-tests-")
    processes = getattr(config.option, "numprocesses", None)  # none in a worker, nor where all runs in one process
    if not processes or config.option.collectonly or config.args_source == pytest.Config.ArgsSource.ARGS:
        return
    rewrite_asserts()
    import warm_up

    from dicegym.engine import jit

    if not jit.COMPILED:
        return
    what = "all" if config.option.markexpr in ("slow", "not slow") else "rules"
    if jit.CACHE_FOLDER and not warm_up.mark(what).exists():
        warm_up.compile_all(what, processes)


def left_behind() -> list[str]:
    """Return the processes of this run that are no part of it any more, each with its command (on Linux)."""
    mark, own, found = f"{RUN}={os.environ[RUN]}".encode(), os.getpid(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z" and mark in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(folder.name)] = int(parent), command
        except OSError:  # it has just ended, or is somebody else's
            continue
    ours = {own}
    while more := {pid for pid, (parent, _) in found.items() if parent in ours and pid not in ours}:
        ours |= more
    return [f"{pid}: {command[:200]}" for pid, (_, command) in sorted(found.items()) if pid not in ours]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Remove what tests kept, and fail a run that leaves processes behind, when its workers have ended."""
    yield
    shutil.rmtree(session.config.stash[FOLDER], ignore_errors=True)
    if sys.platform != "linux" or not IS_ALL:
        return
    deadline = time.monotonic() + SECONDS_TO_END
    while (left := left_behind()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left:
        print("\nerror: processes are left behind by the tests:", *left, sep="\n  ", file=sys.stderr)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep contests and solved tables elsewhere than in the user's folders, and let no test find those of another.

    A fixture for every test would take a twentieth of the time of a small one.
    """
    own = Path(item.config.stash[FOLDER], str(next(NUMBERS)))
    os.environ |= {"DICEGYM_STORE": f"{own}.sqlite", "XDG_DATA_HOME": f"{own}-data", "DICEGYM_TABLES": f"{own}-tables"}


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return a real PostgreSQL server; skip where none can be started."""
    pytest.importorskip("psycopg")
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(running())
        except MissingError as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


def pytest_report_header() -> str:
    """Say in which of Numba's modes the kernels run, so that a log shows what it proves."""
    modes = [name for name in ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT") if os.environ.get(name, "0") != "0"]
    return f"kernels: {', '.join(modes) or 'compiled'}"
