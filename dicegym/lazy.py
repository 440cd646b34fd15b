"""Modules whose public names are loaded on first use, so that importing them is quick.

The stub beside such a module (``contest.pyi`` beside ``contest.py``) is the only list of its names. Type checkers and
editors read it, and `attach` makes the module's names from it, as ``lazy_loader.attach_stub`` does
(https://scientific-python.org/specs/spec-0001).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as \2\b", re.MULTILINE)


def attach(module: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a module.

    Args:
        module: its ``__name__``.
        file: its ``__file__``; the stub is beside it. Each of the stub's lines ``from HOME import NAME as NAME``
            makes one name; ``from . import NAME as NAME`` makes a submodule one.
    """
    homes = {name: home for home, name in _IMPORT.findall(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if homes[name] == ".":
            return importlib.import_module(f"{module}.{name}")
        return getattr(importlib.import_module(homes[name]), name)

    names = sorted(homes)
    return load, lambda: sorted(names), names
