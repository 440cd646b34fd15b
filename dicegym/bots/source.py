"""Where a bot's program is: its file, and what in it is the bot."""

from __future__ import annotations

import functools
import re
import types
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """Where a bot is: its file, and what in it is the bot."""

    file: Path
    attribute: str | None = None
    """Function or class that is the bot; None: the one the original interface asks for."""
    arguments: tuple[int, ...] | None = None
    """Integers to call ``attribute`` with, to get the bot; None: ``attribute`` is the bot itself."""


def locate(text: str | Path, entry_files: Iterable[str]) -> Source | None:
    """Return the bot that ``text`` names: ``file.py``, ``folder``, ``folder:file`` or ``folder:file:function``.

    A folder is searched for ``entry_files`` in order. ``file.py:function`` names a function too, and
    ``name:folder:file:function`` is what players of the original Liar's Dice are called. Returns None if there is no
    such file.
    """
    return split(text, entry_files)[1]


def split(text: str | Path, entry_files: Iterable[str]) -> tuple[list[str], Source | None]:
    """Return the words that ``text`` has beside the path, a name in front first, and what `locate` returns."""
    whole = str(text)
    for parts in (0, 1, 2):  # a path may hold colons itself, so whatever exists with fewer of them is meant
        path, *rest = whole.rsplit(":", parts) if parts else [whole]
        base = Path(path)
        if base.is_file() and len(rest) <= 1:
            return rest, Source(base, rest[0] if rest else None)
        if base.is_dir():
            names = [rest[0], f"{rest[0]}.py"] if rest else list(entry_files)
            for name in names:
                if (base / name).is_file():
                    return rest, Source(base / name, rest[1] if len(rest) > 1 else None)
    name, mark, path = whole.partition(":")
    if mark and name and path.count(":") >= 2:
        rest, source = split(path, entry_files)
        return [name, *rest], source
    return [], None


def defines(text: str, name: str, arguments: int | None = None, method: str = "") -> bool:
    """Return whether a bot's text defines what an original interface asks for; nothing is run.

    Args:
        text: of the file. Of one that is not Python, the words are looked for.
        name: a function; with ``method``, a class that others derive from.
        arguments: how many the interface calls the function with, and how many it has: a game's own ``play`` with
            five of them is no bot's with three. None, and a function that takes any number: that does not matter.
        method: that a class which derives from ``name`` has.
    """
    import ast  # not in the process of a bot, which would wait for it

    try:
        with warnings.catch_warnings(action="ignore"):
            body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return re.search(rf"\bdef {re.escape(method or name)}\b", text) is not None and (not method or name in text)
    nodes = [node for top in body for node in (ast.walk(top) if isinstance(top, ast.If | ast.Try) else (top,))]
    if method:
        return any(
            isinstance(node, ast.ClassDef) and any(ast.unparse(base).split(".")[-1] == name for base in node.bases)
            for node in nodes
        ) and any(isinstance(node, ast.FunctionDef) and node.name == method for top in nodes for node in ast.walk(top))
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            takes = len(node.args.posonlyargs) + len(node.args.args)
            return arguments in (None, takes) or node.args.vararg is not None
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            return True
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return True
    return False


def files_of(file: Path) -> tuple[Path, ...]:
    """Return a bot's file and the helper files of its own folder that it imports, they in turn, without running it.

    The file itself comes first, the others by name. What a program puts together while it runs is not seen.
    """
    found, waiting = {file}, [file]
    while waiting:
        current = waiting.pop()
        status = current.stat()
        new = set(_imported(current, status.st_mtime_ns, status.st_size)) - found
        waiting += new
        found |= new
    return (file, *sorted(found - {file}))


@functools.lru_cache(maxsize=512)
def _imported(file: Path, modified: int, size: int) -> tuple[Path, ...]:
    """Return the modules of its own folder that a file imports."""
    import ast  # not in the process of a bot, which would wait for it

    names = set()
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # whoever loads it will say so
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names |= {module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)}
    bases = [file.parent.joinpath(*name.split(".")) for name in sorted(names - {""})]
    paths = [path for base in bases for path in (base.with_name(f"{base.name}.py"), base / "__init__.py")]
    return tuple(path for path in paths if path.is_file() and path != file)


@functools.lru_cache(maxsize=512)
def _compiled(path: str, modified: int, size: int) -> types.CodeType:
    source = Path(path).read_bytes()
    source.decode("utf-8-sig")  # a file in another encoding is refused even if it declares one
    with warnings.catch_warnings(action="ignore"):  # an odd escape in somebody's docstring is not our business
        return compile(source, path, "exec", dont_inherit=True)


def code_of(file: Path) -> types.CodeType:
    """Return what ``file`` compiles to, compiled once for each of its versions. Raises what compiling raises."""
    status = file.stat()
    return _compiled(str(file), status.st_mtime_ns, status.st_size)
