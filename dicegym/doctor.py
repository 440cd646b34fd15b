"""Examine the installation: what works, what is missing, what is broken, and what to do about it.

``dicegym doctor`` prints the result within three seconds. Nothing is installed, changed or sent, and PyTorch is not
loaded.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from dicegym.columns import write_count
from dicegym.errors import DicegymError, install_command
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder

OK, LACKING, BROKEN = "ok", "lacking", "broken"
"""Installed and working; missing and optional; installed or required, and not working."""
PACKAGE = "dicegym"
PURPOSES = {
    "train": "training, learning curves, hyperparameter search",
    "render": "pictures and films",
    "arena": "stored contests, solved tables, the game server",
    "web": "pages in a browser",
    "jail": "bubblewrap, where the system has none",
    "postgres": "a store on a PostgreSQL server",
    "ray": "a cluster",
    "openspiel": "OpenSpiel's solvers",
    "llm": "language models as players, the Model Context Protocol, TextArena",
}
"""What each extra is for."""


class Diagnosis(NamedTuple):
    """The result for one thing: `OK`, `LACKING` or `BROKEN`, what was found, and what to do about it."""

    topic: str
    name: str
    state: str
    words: str
    advice: str = ""


def examine() -> list[Diagnosis]:
    """Return the results of all examinations. An error in one becomes a result, too."""
    found: list[Diagnosis] = []
    for one in EXAMINATIONS:
        try:
            found += one()
        except Exception as error:  # the other results still count
            words = f"could not be examined: {type(error).__name__}: {error}"
            found.append(Diagnosis(one.__name__, "", BROKEN, words, "report it with this line"))
    return found


def packages() -> Iterator[Diagnosis]:
    """Yield Python, the processors, and the installed packages of the core and each extra.

    Versions are not compared; `pip check` does that.
    """
    from dicegym.bench import processor_name
    from dicegym.engine.threads import cores

    python = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    yield Diagnosis("Python", "", OK, python)
    words = f"{processor_name()}, {cores()} of {os.cpu_count() or 1} processors may be used"
    yield Diagnosis("machine", "processor", OK, words)
    missing, found = _installed("")
    words = f"{PACKAGE} {metadata.version(PACKAGE)} with {', '.join(found)}"
    yield _judge("packages", "core", words, BROKEN, _lacks(missing), f"pip install -U -e . in {PACKAGE}'s folder")
    for extra in metadata.metadata(PACKAGE).get_all("Provides-Extra") or []:
        missing, found = _installed(extra)
        words, lacks = (f"{PURPOSES[extra]}: {one}" for one in (", ".join(found), _lacks(missing)))
        yield _judge("extras", extra, words, LACKING, lacks if missing else "", install_command(extra))


def kernels() -> Iterator[Diagnosis]:
    """Yield the cache of compiled kernels."""
    from dicegym.engine import jit

    if not jit.CACHE_FOLDER:
        yield Diagnosis("kernels", "", OK, "compilation is off (NUMBA_DISABLE_JIT): kernels run as plain Python")
        return
    folder = Path(jit.CACHE_FOLDER)
    number = len(list(folder.glob("*.nbc")))
    first = "" if number else ": the first use of each game compiles kernels, which takes minutes"
    words = f"{number} compiled in {folder}{first}"
    yield _judge("kernels", "", words, BROKEN, _unwritable(folder), "set DICEGYM_CACHE to a folder that you can write")


def isolation() -> Iterator[Diagnosis]:
    """Yield the layers that isolate strangers' bots here."""
    from dicegym.sandbox import jail, landlock, seccomp

    version, lacks = landlock.version(), jail.probe(jail.Isolation.JAIL)
    words = "bubblewrap: separate processes, network and files for each bot"
    yield _judge("isolation", "jail", words, LACKING, lacks, "until then, strangers' bots are isolated by fewer layers")
    lacks, advice = "" if version else "not available", "it needs Linux 5.13 or newer with Landlock enabled"
    yield _judge("isolation", "Landlock", f"version {version}", LACKING, lacks, advice)
    lacks, advice = "" if seccomp.available() else "not available", "it needs Linux on x86-64 or ARM"
    yield _judge("isolation", "seccomp", "system calls are filtered", LACKING, lacks, advice)


def store() -> Iterator[Diagnosis]:
    """Yield whether the default store of contests can be read. PostgreSQL servers are not contacted."""
    from dicegym.arena.storage import VARIABLE, default_store

    where = default_store()
    path = Path(os.path.expanduser(where))
    if "://" in where:
        driver, words = version_of("psycopg"), f"{VARIABLE} names a PostgreSQL server; its driver psycopg is"
        lacks = "" if driver else f"{words} not installed"
        yield _judge("store", "", f"{words} {driver}", BROKEN, lacks, install_command("postgres"))
    elif not path.exists():
        yield Diagnosis("store", "", OK, f"{path.resolve()} does not exist yet: the first contest makes it")
    elif missing := _installed("arena")[0]:
        words = f"{path} cannot be read: {_lacks(missing)}"
        yield Diagnosis("store", "", LACKING, words, install_command("arena"))
    else:
        from dicegym.arena.store.reading import StoreReader

        try:
            with StoreReader(path) as reader:
                words = f"{path}, {write_count(len(reader.contests()), 'contest')}"
            yield Diagnosis("store", "", OK, words)
        except DicegymError as error:
            advice = f"set {VARIABLE} to another default store"
            yield Diagnosis("store", "", BROKEN, str(error), advice)


def data() -> Iterator[Diagnosis]:
    """Yield the solved tables and the shipped agents."""
    from dicegym.games.solved import FOLDER_VARIABLE, tables_root

    root = tables_root()
    if not root.is_dir():
        words = f"nothing is solved yet in {root}; `dicegym values solve` shows what can be"
        yield Diagnosis("tables", "", OK, words)
    else:
        words = f"{sum(one.is_dir() for one in root.glob('*/*'))} in {root}"
        yield _judge("tables", "", words, BROKEN, _unwritable(root), f"set {FOLDER_VARIABLE} to another folder")
    folder = shipped_folder("agents")
    ours = [game for game in GAMES if (folder.parent / "games" / game).exists() or (folder / game).exists()]
    missing = [game for game in ours if not any((folder / game).glob("*.py"))]
    lacks = f"{folder} lacks agents of {', '.join(missing) or 'all games'}" if missing or not folder.is_dir() else ""
    bots, models = (len(list(folder.glob(f"*/*.{kind}"))) for kind in ("py", "zip"))
    words = f"{bots} bots and {models} models in {folder}"
    yield _judge("agents", "", words, BROKEN, lacks, "install dicegym again")


EXAMINATIONS = (packages, kernels, isolation, store, data)


def _judge(topic: str, name: str, works: str, state: str, lacks: str, advice: str) -> Diagnosis:
    """Return `OK` with ``works``, or the given state with ``lacks`` and the advice if something is missing."""
    return Diagnosis(topic, name, state, lacks, advice) if lacks else Diagnosis(topic, name, OK, works)


def _unwritable(folder: Path) -> str:
    return "" if os.access(folder, os.W_OK) else f"{folder} cannot be written"


def _lacks(missing: list[str]) -> str:
    return f"{', '.join(missing)} missing" if missing else ""


def version_of(name: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _installed(extra: str) -> tuple[list[str], list[str]]:
    """Return the packages of an extra ("": the core): names of missing ones, others with versions."""
    missing, found = [], []
    for line in metadata.requires(PACKAGE) or []:
        text, _, condition = line.partition(";")
        # This reads only conditions like those of our pyproject.toml.
        marks = dict(re.findall(r"(\w+) (?:==|<) ['\"]([^'\"]+)['\"]", condition))
        below = tuple(int(one) for one in marks.get("python_version", "99.0").split("."))
        here = marks.get("sys_platform", sys.platform) == sys.platform and sys.version_info[:2] < below
        if marks.get("extra", "") != extra or not here:
            continue
        name, inner = re.match(r"([\w.-]+)(?:\[([^\]]+)\])?", text).groups()  # type: ignore[union-attr]
        if name == PACKAGE:
            for part in inner.split(","):
                lacking, there = _installed(part.strip())
                missing += lacking
                found += there
        elif version := version_of(name):
            found.append(f"{name} {version}")
        else:
            missing.append(name)
    return missing, found
