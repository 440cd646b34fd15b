"""What stands beside a game's rules: the other modules of its folder, found by name.

A game is a folder, in this package or anywhere else where Python finds modules. Its rules name nothing that builds on
them, so whoever wants another part looks beside the rules' module.
"""

from __future__ import annotations

import functools
import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def sibling_name(rules_module: str, name: str) -> str:
    """Return the dotted name that module ``name`` beside ``rules_module`` has, whether or not it exists."""
    package = rules_module.rpartition(".")[0]
    return f"{package}.{name}" if package else name


@functools.cache
def sibling(rules_module: str, name: str) -> ModuleType | None:
    """Return module ``name`` of the folder that holds ``rules_module``, or None if there is no such file.

    It is loaded when it is first asked for. What it raises while it is loaded is raised here.
    """
    full = sibling_name(rules_module, name)
    found = find_spec(full)
    if found is None or ("." not in rules_module and _folder(found.origin) != folder_of(rules_module)):
        return None  # a folder that is on the path itself shares its names with everybody else's
    return importlib.import_module(full)


def folder_of(rules_module: str) -> Path:
    """Return the folder that holds ``rules_module``, without loading it or the packages that it is in.

    Raises ModuleNotFoundError if there is none.
    """
    if (loaded := sys.modules.get(rules_module)) is not None:
        return _folder(loaded.__file__ or sys.path[0])
    top, *inside = rules_module.split(".")
    found = find_spec(top)
    if found is None:
        raise ModuleNotFoundError(f"No module named {top!r}", name=top)
    if not inside:
        return _folder(found.origin)
    folders = [Path(place, *inside[:-1]).resolve() for place in found.submodule_search_locations or ()]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise ModuleNotFoundError(f"No module named {rules_module!r}", name=rules_module)


def _folder(file: str | None) -> Path:
    return Path(file or "").resolve().parent
