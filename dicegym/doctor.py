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
from importlib import metadata, util
from pathlib import Path
from typing import Any, NamedTuple

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
GIB = 1 << 30
LEAST_MEMORY = 2 * GIB
"""With less, the system may kill a training with PyTorch."""


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
    """Yield whether Python, the core's packages and those of each extra are installed, in versions that are allowed."""
    about = metadata.metadata(PACKAGE)
    words = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    if _is_allowed(about["Requires-Python"] or "", platform.python_version()):
        yield Diagnosis("Python", "", OK, words)
    else:
        needed = f"{words}: {about['Requires-Python']} is needed"
        yield Diagnosis("Python", "", BROKEN, needed, "make an environment with another Python")
    missing, wrong, right = _installed("")
    if missing or wrong:
        words = ", ".join([*(f"{name} is missing" for name in missing), *wrong])
        yield Diagnosis("packages", "core", BROKEN, words, f"pip install -U -e . in {PACKAGE}'s folder")
    else:
        unsure = "" if util.find_spec("packaging") else "; versions are not compared, as packaging is not installed"
        words = f"{PACKAGE} {metadata.version(PACKAGE)} with {', '.join(right)}{unsure}"
        yield Diagnosis("packages", "core", OK, words)
    for extra in sorted(about.get_all("Provides-Extra") or [], key=lambda name: [*PURPOSES, name].index(name)):
        missing, wrong, right = _installed(extra)
        purpose, command = PURPOSES.get(extra, extra), install_command(extra)
        if wrong:
            update = command.replace("install", "install -U")
            yield Diagnosis("extras", extra, BROKEN, f"{purpose}: {', '.join(wrong)}", update)
        elif missing:
            yield Diagnosis("extras", extra, LACKING, f"{purpose}: {', '.join(missing)} missing", command)
        else:
            yield Diagnosis("extras", extra, OK, f"{purpose}: {', '.join(right)}")


def machine() -> Iterator[Diagnosis]:
    """Yield the processors and the memory that may be used."""
    from dicegym.bench import processor_name
    from dicegym.engine.threads import cores

    words = f"{processor_name()}, {cores()} of {os.cpu_count() or 1} processors may be used"
    yield Diagnosis("machine", "processor", OK, words)
    memory = _memory()
    if memory is not None:
        words = f"{memory / GIB:.1f} GiB may be used"
        if memory < LEAST_MEMORY:
            advice = "train with fewer games at once: --set run.games=256"
            yield Diagnosis("machine", "memory", LACKING, f"{words}: little for a training", advice)
        else:
            yield Diagnosis("machine", "memory", OK, words)


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


def graphics() -> Iterator[Diagnosis]:
    """Yield whether trainings can use a graphics processor; PyTorch is examined by its files alone."""
    spec = util.find_spec("torch")
    here = any(Path(one).exists() for one in ("/dev/nvidia0", "/dev/kfd"))
    if spec is None or spec.origin is None:
        words = "PyTorch is not installed, which trainings need"
        yield Diagnosis("graphics", "", LACKING, words, install_command("train"))
        return
    text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    kinds = {"cuda": "CUDA", "hip": "ROCm", "xpu": "XPU"}
    builds = [
        f"{name} {found[1]}"
        for kind, name in kinds.items()
        if (found := re.search(rf"^{kind}\b[^=]*= '([^']+)'", text, re.MULTILINE))
    ]
    words = f"PyTorch {version_of('torch')}, built for {builds[0] if builds else 'the processor alone'}"
    if here and not builds:
        advice = "install a build for it: see pytorch.org"
        yield Diagnosis("graphics", "", LACKING, f"{words}, although a graphics processor is here", advice)
    else:
        device = "train with --set run.device=auto" if here else "no graphics processor is here"
        yield Diagnosis("graphics", "", OK, f"{words}; {device}")


def isolation() -> Iterator[Diagnosis]:
    """Yield what isolates strangers' bots here, layer by layer."""
    from dicegym.sandbox import jail, landlock, seccomp

    if why := jail.probe(jail.Isolation.JAIL):
        yield Diagnosis("isolation", "jail", LACKING, why, "strangers' bots have fewer walls around them until then")
    else:
        program = jail.bubblewrap()
        name = f"bubblewrap {program.version} ({program.path})" if program else "bubblewrap"
        yield Diagnosis("isolation", "jail", OK, f"{name}: own processes, network and files for each bot")
    layers = (
        (
            "Landlock",
            landlock.version(),
            f"version {landlock.version()}",
            "Linux 5.13 or newer with Landlock on has it",
        ),
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


EXAMINATIONS = (packages, machine, kernels, graphics, isolation, store, data)


def version_of(name: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _is_allowed(specifier: str, version: str) -> bool:
    """Return whether a version fits; always where packaging, which the core does not need, is not installed."""
    if util.find_spec("packaging") is None:
        return True
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(specifier).contains(version, prereleases=True)


def _installed(extra: str) -> tuple[list[str], list[str], list[str]]:
    """Return the packages of an extra, of "" those of the core: missing names, wrong versions, right versions."""
    missing, wrong, right = [], [], []
    for line in metadata.requires(PACKAGE) or []:
        text, _, condition = (part.strip() for part in line.partition(";"))
        named = re.search(r"extra == ['\"]([^'\"]+)['\"]", condition)
        if (named[1] if named else "") != extra or not _applies(condition, extra):
            continue
        name, inner = re.match(r"([\w.-]+)(?:\[([^\]]+)\])?", text).groups()  # type: ignore[union-attr]
        if name == PACKAGE:
            parts: list[Any] = [_installed(one.strip()) for one in inner.split(",")]
            missing += [one for part in parts for one in part[0]]
            wrong += [one for part in parts for one in part[1]]
        elif not (version := version_of(name)):
            missing.append(name)
        elif _is_allowed(text[len(name) + (len(inner) + 2 if inner else 0) :], version):
            right.append(f"{name} {version}")
        else:
            wrong.append(f"{name} {version} is installed, {text} is needed")
    return missing, wrong, right


def _applies(condition: str, extra: str) -> bool:
    if util.find_spec("packaging") is None or not condition:
        return True
    from packaging.markers import Marker

    return bool(Marker(condition).evaluate({"extra": extra}))


def _memory() -> int | None:
    """Return the bytes that this process may have: the machine's, or a container's limit."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return found
    return min(found, int(limit)) if limit.isdecimal() else found
