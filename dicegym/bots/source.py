"""The source of a bot: its file, and the function or class in it that plays."""

from __future__ import annotations

import functools
import os
import re
import threading
import types
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dicegym.bots import bot_files, scan

_ALONE = threading.Lock()


class Source(NamedTuple):
    """A bot's file, and what in it is the bot."""

    file: Path
    attribute: str | None = None
    """The function or class that is the bot; None: the one of the original interface."""
    arguments: tuple[int, ...] | None = None
    """Integers with which ``attribute`` returns the bot; None: ``attribute`` is the bot."""
    shared: bool = False
    """Whether its folder may contain other people's files. Installed modules then come before those of the folder, so
    that a stray ``numpy.py`` does not replace NumPy."""
    hidden: tuple[str, ...] = ()
    """Files and folders of other entries, as paths in its folder, which it cannot import or read."""


def locate(text: str | Path, entry_files: Iterable[str]) -> Source | None:
    """Return the bot that ``text`` names: ``file.py``, ``folder``, ``folder:file`` or ``folder:file:function``.

    A folder is searched for ``entry_files`` in order. A file of another name may share its folder. A further form is
    ``file.py:function``. Returns None if the file does not exist.
    """
    return split(text, entry_files)[1]


def split(text: str | Path, entry_files: Iterable[str]) -> tuple[list[str], Source | None]:
    """Return the words in ``text`` after the path, and the result of `locate`."""
    whole, called = str(text), list(entry_files)
    for parts in (0, 1, 2):  # a path may contain colons, so the longest one that exists wins
        path, *rest = whole.rsplit(":", parts) if parts else [whole]
        base = Path(path)
        if os.path.isfile(base) and len(rest) <= 1:
            return rest, Source(base, rest[0] if rest else None, shared=base.name not in called)
        if os.path.isdir(base):
            names = [rest[0], f"{rest[0]}.py"] if rest else called
            for name in names:
                if os.path.isfile(base / name):
                    attribute = rest[1] if len(rest) > 1 else None
                    return rest, Source(base / name, attribute, shared=name not in called)
    return [], None


def defines(text: str, name: str, arguments: int | None = None, method: str = "", needed: int = 0) -> bool:
    """Return whether a bot's text defines the entry point of an original interface, without running it.

    Args:
        text: of the file; it may be invalid Python.
        name: a function, or with ``method`` the base class of bots.
        arguments: how many arguments the interface passes; further ones need defaults. None: any number. So a game's
            own ``play`` with five arguments is not a bot with three.
        method: a method that a class derived from ``name`` must have.
        needed: how many of the arguments must have no default, if other programs use the name for something else.
    """
    derives = has_method = False
    for word, inside, rest in scan.statements(text, "class", "def", "from", name):
        if method:
            if word == "class" and not inside and (bases := re.match(r"[ \t]*\w+[ \t]*\(([^()]*)", rest)):
                derives |= name in [base.split(".")[-1].strip() for base in bases[1].split(",")]
            has_method |= word == "def" and re.match(rf"[ \t]+{re.escape(method)}\b", rest) is not None
        elif not inside:
            if word == "def" and (match := re.match(rf"[ \t]+{re.escape(name)}\b[ \t]*(\[[^]]*\])?", rest)):
                return arguments is None or scan.takes(rest[match.end() :], arguments, needed)
            if word == name and re.match(r"[ \t]*=(?!=)", rest):
                return True
            if word == "from" and name in scan.list_imported_names(rest):
                return True
    return derives and has_method


@functools.lru_cache(maxsize=512)
def _compiled(path: str, version: tuple[int, ...]) -> types.CodeType:
    source = bot_files.read(path)
    source.decode("utf-8-sig")  # a file in another encoding is refused even if it declares one
    # Invalid escapes in a docstring are harmless. The lock: two threads at once would leave all warnings ignored.
    with _ALONE, warnings.catch_warnings(action="ignore"):
        return compile(source, path, "exec", dont_inherit=True)


def code_of(file: Path) -> types.CodeType:
    """Return the code of ``file``, compiled once for each version. Raises BadFileError, and what compiling raises."""
    return _compiled(str(file), bot_files.version(file))
