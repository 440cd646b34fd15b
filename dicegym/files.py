"""Files that people and other programs give and get: read up to a limit, and written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from dicegym.errors import DamagedFileError, DependencyError, ParameterError

DATABASE_HEADER = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""
LARGEST_TEXT = 16 << 20
"""Bytes of a configuration, of figures, of a curve: larger files are not ours."""


def read_bytes(path: str | os.PathLike[str], instead: str, largest: int = LARGEST_TEXT) -> bytes:
    """Return what a file holds.

    Args:
        path: a regular file; a pipe or a device might never end.
        instead: what to do if it cannot be used.
        largest: bytes that are read at most.

    Raises:
        DamagedFileError: the file is missing, is not a regular file, may not be read, or is too large.
    """
    try:
        # A pipe without a writer would be waited for without O_NONBLOCK; what was opened is what is looked at.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode):
            os.close(opened)
            _refuse(path, f"is {'a folder' if stat.S_ISDIR(about.st_mode) else 'no regular file'}", instead)
        with open(opened, "rb") as file:
            found = file.read(largest + 1) if about.st_size <= largest else None
    except DamagedFileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: of a name with NUL in it
        _refuse(path, f"cannot be read ({getattr(error, 'strerror', None) or error})", instead)
    if found is None or len(found) > largest:
        _refuse(path, f"is larger than {largest:,} bytes", instead)
    return found


def read_text(path: str | os.PathLike[str], instead: str, largest: int = LARGEST_TEXT) -> str:
    """Return what a file of UTF-8 text holds; arguments and errors as of `read_bytes`."""
    try:
        text = read_bytes(path, instead, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(path, f"is no UTF-8 text (byte {error.start})", instead)
    if "\0" in text:
        _refuse(path, "is no text, as it holds NUL bytes", instead)
    return text.replace("\r\n", "\n")


def _refuse(path: object, reason: str, instead: str) -> NoReturn:
    raise DamagedFileError(path, reason, instead) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file of UTF-8 text whole or not at all; see `writing`."""
    with writing(path) as unfinished:
        unfinished.write_bytes(text.encode("utf-8", "backslashreplace"))


def is_database(path: Path) -> bool:
    """Return whether ``path`` is a file of SQLite."""
    try:
        with path.open("rb") if path.is_file() else contextlib.nullcontext(io.BytesIO()) as file:
            return file.read(len(DATABASE_HEADER)) == DATABASE_HEADER
    except OSError:
        return False


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield where to write, and put it in the place of ``path`` at the end: readers see the old file or the new.

    Two who write at once do not mix: the last one's stays. If anything goes wrong or the process is killed, the old
    file stays as it was. What is no regular file, such as ``/dev/stdout``, is written as it is.

    Raises:
        OSError: as `open` does, with the name ``path``, also where the disk is full.
        ParameterError: the file is a SQLite database, which nobody means to replace.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if is_database(target):
        raise ParameterError(f"{path} is a database, with all that is stored in it: give another path")
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        try:
            yield target
        except OSError as error:
            raise _of_file(error, path, target) from None
        return
    unfinished = target.with_name(f".{target.stem[:40]}-{secrets.token_hex(8)}{target.suffix}")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # nobody else's, links included
        yield unfinished
        if target.exists():
            os.chmod(unfinished, stat.S_IMODE(target.stat().st_mode))
        os.replace(unfinished, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise _of_file(error, path, unfinished) from None
        raise


def _of_file(error: OSError, path: str | os.PathLike[str], written: Path) -> OSError:
    """Return an error with the name of the file that was asked for, where it has none, or that of ``written``."""
    if error.errno is None or error.filename not in (None, str(written), written):
        return error
    return OSError(error.errno, error.strerror, os.fspath(path))


@contextlib.contextmanager
def locked_folder(
    folder: Path,
    name: str,
    extra: tuple[str, str],
    busy: Callable[[], str],
    instead: str,
    wait: float = 0.0,
) -> Iterator[None]:
    """Let one process at a time work in a folder. It is made if it is missing, and removed at the end if it is empty.

    The system releases the lock when its process ends, however that happens: a killed process blocks nobody.

    Args:
        folder: where to work.
        name: of the file in it that is locked, and removed at the end.
        extra: which of the package's extras installs ``filelock`` for this purpose: (extra, purpose).
        busy: returns the message of the error if another process works there.
        instead: what to do if the folder cannot be made or written in.
        wait: seconds to wait for the other process.

    Raises:
        DependencyError: that extra is not installed.
        ParameterError: another process, or another thread of this one, holds the lock, or the folder cannot be used.
            Nothing was changed.
    """
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), *extra) from error
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    lock = FileLock(folder / name, timeout=wait)
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise ParameterError(busy()) from None
        except OSError as error:
            raise ParameterError(f"cannot use the folder {folder} ({error.strerror or error}): {instead}") from None
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # where an open file cannot be removed, it stays
                (folder / name).unlink()
            lock.release()
    finally:
        for one in missing:
            with contextlib.suppress(OSError):  # something is in it
                one.rmdir()
