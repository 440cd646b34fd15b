"""A real child that confines itself and then tries things, for tests: at any level of isolation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
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
PATCH
confinement.prepare()
LAYERS = confinement.confine(
    confinement.Bounds(**given["bounds"]),
    given["read"], [given["folder"], "/dev/null"], keep=given["keep"],
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
    read: Sequence[Path] = (),
    patch: str = "",
    keep: Sequence[int] = (),
    closed: Sequence[int] = (),
    **bounds: int,
) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a child that confines itself and runs ``code``; ``patch`` runs before."""
    own = jail.TEMPORARY if level == "jail" else str(folder)
    given = {
        "read": [*jail.readable(), *map(str, read)],
        "folder": own,
        "bounds": {"memory": 512 << 20, "cpu": 60} | bounds,
        "keep": keep,
        "closed": closed,
    }
    package = os.path.dirname(dicegym.__file__)
    program = PREAMBLE.replace("PATCH", patch) + code
    argv = [sys.executable, "-P", "-s", "-c", program, package, json.dumps(given)]
    return jail.command(level, argv, read), jail.environment(own)


def run(
    level: str,
    code: str,
    folder: Path,
    read: Sequence[Path] = (),
    patch: str = "",
    keep: Sequence[int] = (),
    closed: Sequence[int] = (),
    **bounds: int,
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a child that has confined itself; ``tried(do)`` there says what came of ``do()``.

    Descriptors in ``keep`` and ``closed`` are passed on to it; it keeps the former.
    """
    argv, environment = command(level, code, folder, read, patch, keep, closed, **bounds)
    return subprocess.run(
        argv,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        pass_fds=[*keep, *closed],
    )
