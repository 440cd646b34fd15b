"""Where a bot's program is: its file, and what in it is the bot."""

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
    """Where a bot is: its file, and what in it is the bot."""

    file: Path
    attribute: str | None = None
    """Function or class that is the bot; None: the one the original interface asks for."""
    arguments: tuple[int, ...] | None = None
    """Integers to call ``attribute`` with, to get the bot; None: ``attribute`` is the bot itself."""
    shared: bool = False
    """Whether its folder may hold other people's files: modules of Python and installed ones then come before those of
    the folder, so that nobody's ``numpy.py`` is taken for NumPy."""
    hidden: tuple[str, ...] = ()
    """Files of other entries, by their paths from its folder, which it does not see."""


def locate(text: str | Path, entry_files: Iterable[str]) -> Source | None:
    """Return the bot that ``text`` names: ``file.py``, ``folder``, ``folder:file`` or ``folder:file:function``.

    A folder is searched for ``entry_files`` in order. A file that is called otherwise may share its folder.
    ``file.py:function`` names a function too, and ``name:folder:file:function`` is what players of the original Liar's
    Dice are called. Returns None if there is no such file.
    """
    return split(text, entry_files)[1]


def split(text: str | Path, entry_files: Iterable[str]) -> tuple[list[str], Source | None]:
    """Return the words that ``text`` has beside the path, a name in front first, and what `locate` returns."""
    whole, called = str(text), list(entry_files)
    for parts in (0, 1, 2):  # a path may hold colons itself, so whatever exists with fewer of them is meant
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
    name, mark, path = whole.partition(":")
    if mark and name and path.count(":") >= 2:
        rest, source = split(path, called)
        return [name, *rest], source
    return [], None


def defines(text: str, name: str, arguments: int | None = None, method: str = "", needed: int = 0) -> bool:
    """Return whether a bot's text defines what an original interface asks for; nothing is run.

    Args:
        text: of the file, which need not be Python to the end.
        name: a function; with ``method``, a class that others derive from.
        arguments: how many the interface calls the function with, so that a game's own ``play`` with five of them is
            no bot's with three; those with defaults may be left out. None: that does not matter.
        method: that a class which derives from ``name`` has.
        needed: how many of the arguments must have no default, where other programs use the name for something else.
    """
    derives = has_method = False
    for word, inside, rest in scan.statements(text, "class", "def", "from", name):
        if method:
            if word == "class" and not inside and (bases := re.match(r"[ \t]*\w+[ \t]*\(([^()]*)", rest)):
                derives |= name in [base.split(".")[-1].strip() for base in bases[1].split(",")]
            has_method |= word == "def" and re.match(rf"[ \t]+{re.escape(method)}\b", rest) is not None
        elif not inside:
            if word == "def" and (match := re.match(rf"[ \t]+{re.escape(name)}\b[ \t]*(\[[^]]*\])?", rest)):
                return arguments is None or scan.takes(rest[match.end() :], arguments, needed) is not False
            if word == name and re.match(r"[ \t]*=(?!=)", rest):
                return True
            if word == "from" and name in scan.list_imported_names(rest):
                return True
    return derives and has_method


@functools.lru_cache(maxsize=512)
def _compiled(path: str, version: tuple[int, ...]) -> types.CodeType:
    source = bot_files.read(path)
    source.decode("utf-8-sig")  # a file in another encoding is refused even if it declares one
    # An odd escape in somebody's docstring is not our business. Two threads at once would leave all warnings ignored.
    with _ALONE, warnings.catch_warnings(action="ignore"):
        return compile(source, path, "exec", dont_inherit=True)


def code_of(file: Path) -> types.CodeType:
    """Return what ``file`` compiles to, compiled once for each of its versions.

    Raises BadFileError for a file that a bot may not have, and what compiling raises.
    """
    return _compiled(str(file), bot_files.version(file))
