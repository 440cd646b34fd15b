"""The files of a bot, read safely: regular files only, within limits, and inside the bot's folder.

The referee reads a stranger's files to record them and to send them to the process that runs the bot. A pipe, a
device, a link out of the folder or a huge file is refused, and costs neither time nor memory.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from dicegym.bots.scan import BadFileError, imports
from dicegym.errors import one_line

LARGEST = 4 << 20
"""Bytes of one source file. An exported network of half a million weights takes half of it."""
LARGEST_BOT = 12 << 20
"""Bytes of all files of a bot, which a host gets in one message."""
MOST_FILES = 200
MOST_PLACES = 50_000
"""Paths that are tried for the modules that a bot imports."""
DEEPEST = 20
"""Nested folders of a bot's modules."""

_KINDS = {"d": "a folder", "p": "a pipe", "s": "a socket", "c": "a device", "b": "a device"}
_OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK"))
_held: dict[str, bytes] = {}


def lacking(path: str | Path) -> str:
    """Return why there is no regular file at ``path``, or an empty text. Nothing is opened."""
    shown = one_line(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return f"{shown} is a link that leads nowhere" if os.path.islink(path) else f"there is no file {shown}"
    except OSError as error:
        in_circles = error.errno == errno.ELOOP
        return f"{shown} is a link that leads in circles" if in_circles else f"{shown}: {error.strerror}"
    except ValueError:  # a path with a NUL
        return f"there is no file {shown}"
    return "" if stat.S_ISREG(mode) else f"{shown} is {_kind(mode)}, not a file"


def _kind(mode: int) -> str:
    return _KINDS.get(stat.filemode(mode)[0], "something else")


def read(path: str | Path, most: int = LARGEST) -> bytes:
    """Return the bytes of a regular file or a link to one, or what `hold` was given for it.

    Raises BadFileError for anything else, and for more than ``most`` bytes.
    """
    if _held and (held := _held.get(os.path.realpath(path))) is not None:
        return held
    if reason := lacking(path):
        raise BadFileError(reason)
    try:
        descriptor = os.open(path, _OPEN)  # not blocking, as the file may have become a pipe by now
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise BadFileError(f"{one_line(path)} is {_kind(mode)}, not a file")
            data = file.read(most + 1)
    except OSError as error:
        raise BadFileError(f"{one_line(path)} cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise BadFileError(f"{one_line(os.path.basename(path))} is larger than {most >> 20} MiB, the limit of a file")
    return data


def hold(texts: dict[str, bytes]) -> None:
    """Make `read` return these bytes from now on (real path -> bytes), so that the checked files are what plays."""
    _held.update(texts)


def version(path: str | Path) -> tuple[int, ...]:
    """Return a value that changes with the content of a file. Raises BadFileError if it is missing."""
    if _held and os.path.realpath(path) in _held:
        return ()
    if reason := lacking(path):
        raise BadFileError(reason)
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size, found.st_ino


def leads_out(path: str | Path, folder: str | Path) -> bool:
    """Return whether ``path`` is, or leads through, a link to something outside ``folder``."""
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([real, root]) != root


@functools.lru_cache(maxsize=4096)
def is_installed(name: str) -> bool:
    """Return whether a standard or installed module has this name, without loading it."""
    if name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
        return True
    places = [
        path
        for path in sys.path
        if os.path.basename(path) in ("site-packages", "dist-packages")
        and path.startswith((sys.prefix, sys.base_prefix))
    ]
    found = PathFinder.find_spec(name, places) if name.isidentifier() else None
    return found is not None and found.origin is not None


def gather(file: Path, shared: bool = False, hidden: Collection[str] = ()) -> dict[Path, bytes]:
    """Return the bytes of a bot's file and of the helper files that it imports, directly or indirectly.

    The file comes first, the others by name. It may be a link; its folder is then that of the target, and no helper may
    be outside. Nothing is run or parsed, so dynamic imports are not seen. ``shared`` and ``hidden`` are those of
    `dicegym.bots.source.Source`.

    Raises BadFileError if a file cannot be read, is too large, or leads out of the folder, or there are too many.
    """
    folder = os.path.dirname(os.path.realpath(file))
    beside = os.path.dirname(os.path.abspath(file))
    if folder == os.path.realpath(beside):  # keep the folder as named, with its links
        folder = beside
    found = {file: read(file)}
    waiting, seen, size = [file], {os.path.realpath(file)}, len(found[file])
    tried: dict[str, bool] = {}
    while waiting:
        current = waiting.pop()
        try:
            names = imports(found[current])
        except BadFileError as error:
            raise BadFileError(f"{one_line(current.name)} {error}") from None
        for name, path in _modules(names, _folders(folder, current), tried):
            if (real := os.path.realpath(path)) in seen or os.path.relpath(path, folder) in hidden:
                continue
            top = os.path.join(folder, name)
            if shared and path in (f"{top}.py", os.path.join(top, "__init__.py")) and is_installed(name):
                continue
            if leads_out(path, folder):
                raise BadFileError(
                    f"{one_line(os.path.relpath(path, folder))} is a link that leads out of the bot's folder: copy the "
                    "file there"
                )
            seen.add(real)
            helper = Path(path)
            found[helper] = read(helper)
            waiting.append(helper)
            size += len(found[helper])
            if len(found) > MOST_FILES or size > LARGEST_BOT:
                raise BadFileError(
                    f"has more than {MOST_FILES} files or {LARGEST_BOT >> 20} MiB of source, the limits of a bot"
                )
    return {file: found[file]} | {path: found[path] for path in sorted(found.keys() - {file})}


def _folders(folder: str, file: Path) -> list[str]:
    """Return where a file's imports may be: the bot's folder, and those between it and the file."""
    inside = os.path.relpath(file.parent, folder).split(os.sep)
    if inside[0] in (os.curdir, os.pardir):
        return [folder]
    return [os.path.join(folder, *inside[:end]) for end in range(len(inside) + 1)]


def _modules(names: Iterable[str], folders: list[str], tried: dict[str, bool]) -> Iterator[tuple[str, str]]:
    """Yield (first part of the name, path) of the files in ``folders`` for these modules and the packages around them.

    ``tried`` maps the paths tried so far, and extended here, to whether they are folders. Raises BadFileError for too
    many.
    """
    for name in names:
        parts = name.split(".")[:DEEPEST]
        for base in folders:
            for part in parts:
                base = os.path.join(base, part)  # noqa: PLW2901 - the way down
                if base not in tried:
                    tried[base] = os.path.isdir(base)
                    for path in (f"{base}.py", os.path.join(base, "__init__.py")):
                        if os.path.isfile(path):
                            yield parts[0], path
                if not tried[base]:  # nothing is below
                    break
        if len(tried) > MOST_PLACES:
            raise BadFileError(f"imports modules with more than {MOST_PLACES:,} possible paths")
