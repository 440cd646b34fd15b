"""Reading files up to a size limit, and writing them whole or not at all."""

from __future__ import annotations

import contextlib
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
"""Bytes; larger text files are refused."""


def read_bytes(path: str | os.PathLike[str], instead: str, largest: int = LARGEST_TEXT) -> bytes:
    """Return what a file holds.

    Args:
        path: a regular file; a pipe or a device might never end.
        instead: what to do if it cannot be used, for the error.
        largest: the largest size in bytes.

    Raises:
        DamagedFileError: the file is missing, is not a regular file, may not be read, or is too large.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for its writer. Checks are of what was opened.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode):
            os.close(opened)
            _refuse(path, "is a folder" if stat.S_ISDIR(about.st_mode) else "is not a regular file", instead)
        with open(opened, "rb") as file:
            found = file.read(largest + 1) if about.st_size <= largest else None
    except DamagedFileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        _refuse(path, f"cannot be read ({getattr(error, 'strerror', None) or error})", instead)
    if found is None or len(found) > largest:
        _refuse(path, f"is larger than {largest:,} bytes", instead)
    return found


def read_text(path: str | os.PathLike[str], instead: str, largest: int = LARGEST_TEXT) -> str:
    """Return the text of a UTF-8 file; arguments and errors are those of `read_bytes`."""
    try:
        text = read_bytes(path, instead, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(path, f"is not UTF-8 text (byte {error.start})", instead)
    if "\0" in text:
        _refuse(path, "is not text, as it holds NUL bytes", instead)
    return text.replace("\r\n", "\n")


def _refuse(path: object, reason: str, instead: str) -> NoReturn:
    raise DamagedFileError(path, reason, instead) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file of UTF-8 text whole or not at all; see `writing`."""
    with writing(path) as unfinished:
        unfinished.write_bytes(text.encode("utf-8", "backslashreplace"))


def refuse_database(path: Path) -> None:
    """Raise ParameterError if ``path`` is a SQLite file, which nothing overwrites."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                if file.read(len(DATABASE_HEADER)) == DATABASE_HEADER:
                    raise ParameterError(f"{path} is a database and is not overwritten: give another path")


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, and move it to ``path`` at the end: readers see the old file or the new one.

    Of two writers, the last one's file stays. After an error, or if the process is killed, the old file is unchanged.
    Anything but a regular file, such as ``/dev/stdout``, is written directly.

    Raises:
        OSError: as `open` raises it, with the name ``path``; also if the disk is full.
        ParameterError: the file is a SQLite database, which is never replaced.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    refuse_database(Path(path))
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        try:
            yield target
        except OSError as error:
            raise _of_file(error, path, target) from None
        return
    unfinished = target.with_name(f".{target.stem[:40]}-{secrets.token_hex(8)}{target.suffix}")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # not an existing file or link
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
    """Return ``error`` with the name ``path`` if it names ``written`` or no file."""
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
    """Lock a folder for one process. A missing folder is made, and removed at the end if it is empty.

    The system releases the lock when its process ends, even if it is killed.

    Args:
        folder: the folder.
        name: the lock file's name; it is removed at the end.
        extra: (the extra that installs ``filelock``, the purpose), for the error.
        busy: returns the error's message if another process has the lock.
        instead: what to do if the folder cannot be used, for the error.
        wait: seconds to wait for the other process.

    Raises:
        DependencyError: that extra is not installed.
        ParameterError: another process or thread has the lock, or the folder cannot be used. Nothing was changed.
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
            with contextlib.suppress(OSError):  # some systems cannot remove an open file
                (folder / name).unlink()
            lock.release()
    finally:
        for one in missing:
            with contextlib.suppress(OSError):  # it is not empty
                one.rmdir()
