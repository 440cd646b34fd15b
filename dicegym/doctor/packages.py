"""Python and the packages, against what dicegym allows, extra by extra."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any

from dicegym.doctor.diagnosis import BROKEN, LACKING, OK, Diagnosis
from dicegym.errors import install_command

PACKAGE = "dicegym"
FOR = {
    "train": "training, pictures of curves, searching for settings",
    "render": "pictures, films and windows",
    "arena": "contests that last, and solved tables",
    "server": "the server for bots over the network",
    "web": "pages in a browser",
    "jail": "bubblewrap, where the system has none",
    "postgres": "a store on a PostgreSQL server",
    "ray": "a cluster",
    "openspiel": "OpenSpiel's solvers",
}
"""What each extra is for; one that is not named here is told of by its name."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python() -> list[Diagnosis]:
    """Return whether this Python is one that dicegym runs on."""
    wanted = metadata.metadata(PACKAGE)["Requires-Python"]
    words = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    kit = _packaging()
    if kit is not None and wanted and not kit.specifiers.SpecifierSet(wanted).contains(platform.python_version(), True):
        return [
            Diagnosis("Python", "", BROKEN, f"{words}: {wanted} is needed", "make an environment of another Python")
        ]
    return [Diagnosis("Python", "", OK, words)]


def core() -> list[Diagnosis]:
    """Return whether what everything needs is installed, in versions that are allowed."""
    missing, wrong, right = _sorted(_requirements(""))
    if missing or wrong:
        words = ", ".join([*(f"{name} is missing" for name in missing), *wrong])
        return [Diagnosis("packages", "core", BROKEN, words, f"pip install -U -e . in {PACKAGE}'s folder")]
    unsure = "" if _packaging() else "; versions are not compared, as packaging is not installed"
    return [Diagnosis("packages", "core", OK, f"{PACKAGE} {metadata.version(PACKAGE)} with {', '.join(right)}{unsure}")]


def extras() -> list[Diagnosis]:
    """Return which extras are installed, and the command for each that is not."""
    known = metadata.metadata(PACKAGE).get_all("Provides-Extra") or []
    found = []
    for extra in sorted(known, key=lambda name: [*FOR, name].index(name)):
        missing, wrong, right = _sorted(_requirements(extra))
        purpose = FOR.get(extra, extra)
        command = install_command(extra)
        if wrong:
            found.append(
                Diagnosis(
                    "extras", extra, BROKEN, f"{purpose}: {', '.join(wrong)}", command.replace("install", "install -U")
                )
            )
        elif missing:
            found.append(Diagnosis("extras", extra, LACKING, f"{purpose}: {', '.join(missing)} missing", command))
        elif right:
            own = _sorted(_requirements(extra, follow=False))[2]
            found.append(Diagnosis("extras", extra, OK, f"{purpose}: {', '.join(own or right)}"))
    return found


def version_of(name: str) -> str:
    """Return the version of an installed package, or nothing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _packaging() -> Any:
    """Return the library that reads requirements, if it is here: most packages bring it, and the core does not."""
    try:
        import packaging.requirements
        import packaging.specifiers
    except ImportError:
        return None
    return packaging


def _requirements(extra: str, follow: bool = True) -> list[str]:
    """Return what an extra asks for; of the empty one, what everybody needs; ``follow``: extras of ours within too."""
    found: dict[str, None] = {}
    todo, seen = [extra], set()
    while todo:
        now = todo.pop()
        seen.add(now)
        for line in metadata.requires(PACKAGE) or []:
            text, _, condition = line.partition(";")
            if (re.search(rf"extra == ['\"]{re.escape(now)}['\"]", condition) is not None) != bool(now):
                continue
            if not now and "extra ==" in condition:
                continue
            inner = re.match(rf"\s*{PACKAGE}\[([^\]]+)\]", text)
            if inner:
                todo += [] if not follow else [one.strip() for one in inner[1].split(",") if one.strip() not in seen]
            elif _applies(condition, now):
                found[text.strip()] = None
    return [*found]


def _applies(condition: str, extra: str) -> bool:
    kit = _packaging()
    if kit is None or not condition.strip():
        return True
    import packaging.markers

    return bool(packaging.markers.Marker(condition.strip()).evaluate({"extra": extra}))


def _sorted(requirements: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return names that are missing, what is wrong with versions in words, and what is right with its version."""
    missing, wrong, right = [], [], []
    kit = _packaging()
    for text in requirements:
        name = next(_names(text), text)
        version = version_of(name)
        if not version:
            missing.append(name)
        elif kit is not None and not kit.requirements.Requirement(text).specifier.contains(version, prereleases=True):
            wrong.append(f"{name} {version} is installed, {text} is needed")
        else:
            right.append(f"{name} {version}")
    return missing, wrong, right


def _names(text: str) -> Iterator[str]:
    found = _NAME.match(text.strip())
    if found:
        yield found[0]
