"""A test program that runs in a cage and writes its findings."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import dicegym
from dicegym.engine import jit
from zoo.cage import Caged, caged


class Visit(NamedTuple):
    """The result of an errand."""

    cage: Caged
    found: dict[str, Any]
    """The program's findings; empty if it did not finish."""


def send(module: str, request: dict[str, Any], seconds: float, needless: tuple[str, ...] = ()) -> Visit:
    """Run ``python -m module`` in a cage, with a request in JSON; it writes JSON to the file ``request["result"]``.

    The home of a cage is empty. Kernels that are compiled already go there as a copy, which bots may spoil:
    compiling them again took ten times as long as all that most errands do. Those of ``needless``, patterns of names,
    stay behind.
    """
    root = Path(dicegym.__file__).resolve().parents[1]
    kept = (str(root),) if Path(sys.prefix).is_relative_to(root) else (str(root), sys.prefix)
    with tempfile.TemporaryDirectory() as folder:
        result, kernels = Path(folder, "result.json"), Path(folder, "kernels")
        if jit.CACHE_FOLDER:
            written = shutil.ignore_patterns(
                "*.tmp", *needless
            )  # files that others are writing may be gone when they are copied
            shutil.copytree(jit.CACHE_FOLDER, kernels / Path(jit.CACHE_FOLDER).name, ignore=written)
        command = [sys.executable, "-m", module, json.dumps(request | {"result": str(result)})]
        seen = caged(command, Path(folder), seconds, kept, {"DICEGYM_CACHE": str(kernels)})
        return Visit(seen, json.loads(result.read_text()) if result.exists() else {})
