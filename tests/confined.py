"""A real child that confines itself and then tries things, for tests: at any level of isolation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dicegym
from dicegym.sandbox import jail

PREAMBLE = """
import json, os, sys, types
package = types.ModuleType("dicegym")  # the real one imports Gymnasium, which takes longer than all that is tried
package.__path__ = [sys.argv[1]]
sys.modules["dicegym"] = package
from dicegym.sandbox import confinement
given = json.loads(sys.argv[2])
confinement.prepare()
LAYERS = confinement.confine(
    confinement.Bounds(**given["bounds"]),
    [*given["read"], "/dev/urandom"], [given["folder"], "/dev/null"], given["names"],
)
FOLDER = given["folder"]

def tried(do):
    try:
        got = do()
        return "done" if got is None else f"done: {got}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
"""


def command(
    level: str,
    code: str,
    folder: Path,
    read: list[Path] | None = None,
    names: list[Path] | None = None,
    **bounds: int,
) -> tuple[list[str], dict[str, str], str]:
    """Return command, environment and folder of a child that confines itself and runs ``code``."""
    own = jail.TEMPORARY if level == "jail" else str(folder)
    given = {
        "read": [*jail.readable(), *map(str, read or ())],
        "names": [*map(str, names or ())],
        "folder": own,
        "bounds": bounds,
    }
    package = os.path.dirname(dicegym.__file__)
    argv = [sys.executable, "-P", "-s", "-c", PREAMBLE + code, package, json.dumps(given)]
    return jail.command(level, argv, read or (), scratch=8 << 20), jail.environment(own), str(folder)


def run(
    level: str,
    code: str,
    folder: Path,
    read: list[Path] | None = None,
    names: list[Path] | None = None,
    **bounds: int,
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a child that has confined itself; ``tried(do)`` there says what came of ``do()``."""
    argv, environment, place = command(level, code, folder, read, names, **bounds)
    return subprocess.run(
        argv,
        env=environment,
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
