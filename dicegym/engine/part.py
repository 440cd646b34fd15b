"""Parts of a game: modules beside its rules that other code looks for.

A game is a folder, in this package or anywhere on Python's path. Its rules do not import what builds on them. Other
code finds such modules by their names. `dicegym.games.parts` lists the parts; those that the engine uses are declared
in `dicegym.engine.scene` and `dicegym.engine.twin_kernels`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar, cast

from dicegym.errors import PartError

P = TypeVar("P")

Demand = Literal["all", "finished", "none"]
"""Games that must have a part: all, those of stage ``finished``, or none."""


def sibling_name(rules_module: str, name: str) -> str:
    """Return the dotted name of module ``name`` beside ``rules_module``, whether or not it exists."""
    package = rules_module.rpartition(".")[0]
    return f"{package}.{name}" if package else name


@functools.cache
def sibling(rules_module: str, name: str) -> ModuleType | None:
    """Return module ``name`` beside ``rules_module``, or None if it does not exist. Raises what loading it raises."""
    full = sibling_name(rules_module, name)
    found = find_spec(full)
    if found is None or ("." not in rules_module and _folder(found.origin) != folder_of(rules_module)):
        return None  # for a top-level module, the name may be that of another package
    return importlib.import_module(full)


def folder_of(rules_module: str) -> Path:
    """Return the folder of ``rules_module`` without loading it or its packages. Raises ModuleNotFoundError."""
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


F = TypeVar("F", bound=Callable[..., Any])


def optional(function: F) -> F:
    """Mark a protocol's function as optional: its body is the default."""
    vars(function)["optional"] = True
    return function


def _may_lack(protocol: Any, name: str) -> bool:
    """Return whether a name is optional: the protocol has a value, or an `optional` function."""
    value = vars(protocol).get(name, property())
    return bool(getattr(value, "optional", not callable(value) and not isinstance(value, property)))


class _WithDefaults:
    """A module with the protocol's defaults for names that it lacks."""

    def __init__(self, module: ModuleType, protocol: Any) -> None:
        self._module, self._protocol = module, protocol

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._module, name) or not hasattr(self._protocol, name):
            return getattr(self._module, name)
        default = getattr(self._protocol, name)
        return functools.partial(default, self) if callable(default) else default


@dataclass(frozen=True)
class Part(Generic[P]):
    """A kind of module beside a game's rules.

    Several parts may share a file if each game has at most one of them: the module's names tell them apart.
    """

    protocol: Any
    """The Protocol ``P`` with the names that the module offers; see `optional`."""
    file: str
    """The module's name, without ``.py``."""
    purpose: str
    """What it is for, in words that follow "nothing", for errors."""
    demanded: Demand = "none"
    place: str = "games"
    """Its place in the order of imports: it may import what this folder of the package may."""

    @property
    def name(self) -> str:
        """The name of the protocol."""
        return str(self.protocol.__name__)

    @property
    def offers(self) -> tuple[str, ...]:
        """The names that the module must have."""
        own = {**inspect.get_annotations(self.protocol), **vars(self.protocol)}
        return tuple(name for name in own if not name.startswith("_") and not _may_lack(self.protocol, name))

    def missing(self, module: ModuleType) -> list[str]:
        """Return the required names that a module lacks."""
        return [name for name in self.offers if not hasattr(module, name)]

    def beside(self, rules_module: str) -> P | None:
        """Return the part of the game with these rules if its module exists and has all required names."""
        module = sibling(rules_module, self.file)
        if module is None or self.missing(module):
            return None
        lacks = any(not hasattr(module, name) for name in vars(self.protocol) if not name.startswith("_"))
        return cast(P, _WithDefaults(module, self.protocol) if lacks else module)

    def demand(self, rules_module: str, title: str) -> P:
        """Return the part as `beside` does. Raises PartError, which says what to write, if the game lacks it."""
        found = self.beside(rules_module)
        if found is None:
            raise self.lack(rules_module, title)
        return found

    def lack(self, rules_module: str, title: str) -> PartError:
        """Return the error for a game without this part."""
        module = sibling(rules_module, self.file)
        names = ", ".join(self.offers if module is None else self.missing(module))
        name = sibling_name(rules_module, self.file)
        seen = f"there is no module {name}" if module is None else f"{name} does not define {names}"
        return PartError(
            f"{title} has nothing {self.purpose}: {seen}; write {self.file}.py with {names} beside its rules, "
            f"as the protocol {self.name} of dicegym.games.parts says"
        )
