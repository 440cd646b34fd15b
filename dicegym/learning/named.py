"""Functions and classes that settings name: ``file.py:name``, or ``package.module:name`` of what can be imported."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from dicegym.engine.dice import named_seed
from dicegym.errors import ParameterError, unknown_name


def split(setting: str, text: str) -> tuple[str, str]:
    """Return (file or module, name) of what ``text`` says; nothing is loaded.

    Args:
        setting: which says so, for errors.
        text: ``file.py:name`` or ``package.module:name``.

    Raises:
        ParameterError: it is neither, or there is no such file.
    """
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise ParameterError(f"{setting}={text!r} names nothing: write 'file.py:name' or 'package.module:name'")
    if place.endswith(".py") and not Path(place).expanduser().is_file():
        raise ParameterError(f"{setting}={text!r}: there is no file {place} in {Path.cwd()}: give its path from there")
    return place, name


def named(setting: str, text: str) -> Any:
    """Return the function or class that ``text`` names.

    A file is run once, and again when it has changed. What it defines is written into model files by value, so that
    these can be played without it.

    Raises:
        ParameterError: as `split` does, or the file or module cannot be loaded.
        UnknownNameError: it holds nothing of that name.
    """
    place, name = split(setting, text)
    try:
        if place.endswith(".py"):
            path = Path(place).expanduser().resolve()
            module = _module(path, path.stat().st_mtime_ns)
        else:
            module = importlib.import_module(place)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        line = f", {Path(where.filename).name} line {where.lineno}" if Path(where.filename).suffix == ".py" else ""
        raise ParameterError(
            f"{setting}={text!r}: {place} cannot be loaded: {type(error).__name__}: {error}{line}"
        ) from error
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise unknown_name(f"function or class in {place}", name, known)
    found = getattr(module, name)
    if not callable(found):
        raise ParameterError(f"{setting}={text!r} is {found!r}: name a function or a class")
    return found


def names_something(setting: str, value: object) -> bool:
    """Return whether ``value`` names a function or class: any text with a colon, and whatever a class is set to."""
    return isinstance(value, str) and (":" in value or (setting.endswith("_class") and value != ""))


def names_programs(settings: object) -> bool:
    """Return whether settings of networks (``[network]``) name functions or classes."""
    return any(names_something(f"network.{key}", value) for key, value in vars(settings).items())


def resolved(setting: str, value: Any) -> Any:
    """Return ``value``, or what it names."""
    return named(setting, value) if names_something(setting, value) else value


@functools.cache
def _module(path: Path, changed: int) -> ModuleType:
    """Return what a file defines, as a module of its own; ``changed``, when it was written, tells versions apart."""
    import cloudpickle

    name = f"{path.stem}_{named_seed(str(path), changed) % (1 << 32):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no Python file: {path}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look themselves up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    cloudpickle.register_pickle_by_value(module)
    return module
