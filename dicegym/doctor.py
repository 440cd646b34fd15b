"""What this machine has of what dicegym can use, what it lacks, what is broken, and what to do about it.

``dicegym doctor`` prints it. Nothing is installed, changed or sent anywhere, PyTorch is not loaded, and nothing takes
long: it answers within three seconds.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import install_command
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder

OK, LACKING, BROKEN = "ok", "lacking", "broken"
"""Installed and working; missing, which only its users notice; installed, and not working."""
PACKAGE = "dicegym"
PURPOSES = {
    "train": "training, learning curves, hyperparameter search",
    "render": "pictures and films",
    "arena": "stored contests and solved tables",
    "server": "the game server",
    "web": "pages in a browser",
    "jail": "bubblewrap, where the system has none",
    "postgres": "a store on a PostgreSQL server",
    "ray": "a cluster",
    "openspiel": "OpenSpiel's solvers",
    "llm": "language models as players",
    "mcp": "a server of the Model Context Protocol",
    "textarena": "the games in TextArena",
}
"""What each extra is for."""


class Diagnosis(NamedTuple):
    """One thing that was examined."""

    topic: str
    name: str
    state: str
    """`OK`, `LACKING` or `BROKEN`."""
    words: str
    """What was found."""
    advice: str = ""
    """What to do about it, if anything."""


def examine() -> list[Diagnosis]:
    """Return what works, what is missing and what is broken, topic by topic. Never raises for what it finds."""
    found: list[Diagnosis] = []
    for one in EXAMINATIONS:
        try:
            found += one()
        except Exception as error:  # a machine may be broken in ways that nobody thought of, and the rest counts too
            words = f"could not be examined: {type(error).__name__}: {error}"
            found.append(Diagnosis(one.__name__, "", BROKEN, words, "report it with this line"))
    return found


def packages() -> Iterator[Diagnosis]:
    """Yield whether the core's packages and those of each extra are installed; `pip check` compares versions."""
    python = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    yield Diagnosis("Python", "", OK, python)
    missing, found = _installed("")
    if missing:
        words = f"{', '.join(missing)} missing"
        yield Diagnosis("packages", "core", BROKEN, words, f"pip install -U -e . in {PACKAGE}'s folder")
    else:
        yield Diagnosis("packages", "core", OK, f"{PACKAGE} {metadata.version(PACKAGE)} with {', '.join(found)}")
    for extra in metadata.metadata(PACKAGE).get_all("Provides-Extra") or []:
        missing, found = _installed(extra)
        purpose = PURPOSES.get(extra, extra)
        if missing:
            words = f"{purpose}: {', '.join(missing)} missing"
            yield Diagnosis("extras", extra, LACKING, words, install_command(extra))
        else:
            yield Diagnosis("extras", extra, OK, f"{purpose}: {', '.join(found)}")


def machine() -> Iterator[Diagnosis]:
    """Yield the processors that may be used."""
    from dicegym.bench import processor_name
    from dicegym.engine.threads import cores

    words = f"{processor_name()}, {cores()} of {os.cpu_count() or 1} processors may be used"
    yield Diagnosis("machine", "processor", OK, words)


def kernels() -> Iterator[Diagnosis]:
    """Yield where compiled kernels are cached, and how many."""
    from dicegym.engine import jit

    if not jit.CACHE_FOLDER:
        yield Diagnosis("kernels", "", OK, "compilation is off (NUMBA_DISABLE_JIT): all is plain Python")
        return
    folder = Path(jit.CACHE_FOLDER)
    files = [one for one in folder.iterdir() if one.suffix == ".nbc"]
    words = f"{len(files)} compiled ({sum(one.stat().st_size for one in files) / (1 << 20):.0f} MiB) in {folder}"
    if not os.access(folder, os.W_OK):
        advice = "let DICEGYM_CACHE name a folder of yours"
        yield Diagnosis("kernels", "", BROKEN, f"{folder} cannot be written", advice)
    else:
        first = "" if files else ": the first game of each kind compiles its own, which takes minutes"
        yield Diagnosis("kernels", "", OK, words + first)


def isolation() -> Iterator[Diagnosis]:
    """Yield what isolates strangers' bots here, layer by layer."""
    from dicegym.sandbox import jail, landlock, seccomp

    if why := jail.probe(jail.Isolation.JAIL):
        yield Diagnosis("isolation", "jail", LACKING, why, "strangers' bots have fewer walls around them until then")
    else:
        program = jail.bubblewrap()
        name = f"bubblewrap {program.version} ({program.path})" if program else "bubblewrap"
        yield Diagnosis("isolation", "jail", OK, f"{name}: own processes, network and files for each bot")
    version = landlock.version()
    layers = (
        ("Landlock", version, f"version {version}", "Linux 5.13 or newer with Landlock on has it"),
        ("seccomp", seccomp.available(), "system calls are filtered", "Linux on x86-64 or ARM has it"),
    )
    for layer, holds, words, advice in layers:
        yield Diagnosis("isolation", layer, *((OK, words) if holds else (LACKING, "not here", advice)))


def store() -> Iterator[Diagnosis]:
    """Yield whether the default store of contests can be read. A PostgreSQL server is not connected with."""
    from dicegym.arena.storage import VARIABLE, default_store

    where = default_store()
    path = Path(where)
    if "://" in where:
        driver = version_of("psycopg")
        words = f"{VARIABLE} names a PostgreSQL server; its driver psycopg is {driver or 'not installed'}"
        yield Diagnosis("store", "", OK if driver else BROKEN, words, "" if driver else install_command("postgres"))
        return
    if not path.exists():
        yield Diagnosis("store", "", OK, f"{path.resolve()} does not exist: the first contest makes it")
        return
    if missing := _installed("arena")[0]:
        words = f"{path} cannot be read without {', '.join(missing)}"
        yield Diagnosis("store", "", LACKING, words, install_command("arena"))
        return
    from dicegym.arena.store.opening import SCHEMA

    advice = f"name another one by --store or {VARIABLE}, or move it away"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.5)) as connection:
            row = connection.execute("select value from about where name = 'schema'").fetchone()
    except sqlite3.Error as error:
        yield Diagnosis("store", "", BROKEN, f"{path} is not a store of contests ({error})", advice)
        return
    if row is None or str(row[0]) != SCHEMA:
        words = f"{path} has schema {row[0] if row else 'none'}, and this version reads {SCHEMA}"
        yield Diagnosis("store", "", BROKEN, words, advice)
    else:
        yield Diagnosis("store", "", OK, f"{path}, {path.stat().st_size / (1 << 20):.1f} MiB, schema {SCHEMA}")


def data() -> Iterator[Diagnosis]:
    """Yield which tables are solved, and whether the shipped agents are there."""
    from dicegym.games.solved import FOLDER_VARIABLE, tables_root

    root = tables_root()
    if not root.is_dir():
        words = f"nothing is solved yet in {root}; `dicegym values solve` shows what can be"
        yield Diagnosis("tables", "", OK, words)
    elif not os.access(root, os.W_OK):
        yield Diagnosis("tables", "", BROKEN, f"{root} cannot be written", f"set {FOLDER_VARIABLE} to another folder")
    else:
        named = [f"{one.parent.name.partition('-')[0]} {one.name}" for one in sorted(root.glob("*/*")) if one.is_dir()]
        size = sum(one.stat().st_size for one in root.rglob("*") if one.is_file()) / (1 << 20)
        yield Diagnosis("tables", "", OK, f"{len(named)} in {root} ({size:.0f} MiB): {', '.join(named) or 'none'}")
    folder = shipped_folder("agents")
    ours = [game for game in GAMES if (folder.parent / "games" / game).exists() or (folder / game).exists()]
    missing = [game for game in ours if not any((folder / game).glob("*.py"))]
    if not folder.is_dir() or missing:
        words = f"{folder} lacks agents of {', '.join(missing) or 'all games'}"
        yield Diagnosis("agents", "", BROKEN, words, "install dicegym again")
    else:
        bots, models = (len(list(folder.glob(f"*/*.{kind}"))) for kind in ("py", "zip"))
        yield Diagnosis("agents", "", OK, f"{bots} bots and {models} models in {folder}")


EXAMINATIONS = (packages, machine, kernels, isolation, store, data)


def version_of(name: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _installed(extra: str) -> tuple[list[str], list[str]]:
    """Return the packages of an extra, of "" those of the core: missing names, and the others with their versions."""
    missing, found = [], []
    for line in metadata.requires(PACKAGE) or []:
        text, _, condition = line.partition(";")
        named = re.search(r"extra == ['\"]([^'\"]+)['\"]", condition)
        if (named[1] if named else "") != extra or not _applies(condition):
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


def _applies(condition: str) -> bool:
    """Return whether a requirement is one on this system and this Python; it reads conditions like ours alone."""
    system = re.search(r"sys_platform == ['\"](\w+)['\"]", condition)
    below = re.search(r"python_version < ['\"](\d+)\.(\d+)['\"]", condition)
    return (system is None or sys.platform == system[1]) and (
        below is None or sys.version_info[:2] < (int(below[1]), int(below[2]))
    )
