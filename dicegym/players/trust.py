"""Which checkpoints may run code when they are read: those that somebody trusts, or that were made here.

A pickle is a program: reading one does whatever its author wrote. `load_object` is the only door to that; everything
else in `dicegym.players` and `dicegym.learning` reads plain data, and a test walks the sources and finds no other
place. The door opens where a user says so (`TRUST`), and for files that this user wrote: beside them lies a seal, a
code that only who knows the user's key can make (HMAC with SHA-256, RFC 2104). It says who wrote them, and nothing of
what they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import pickle
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from dicegym.engine.cache_folder import is_ours
from dicegym.errors import ModelError, one_line
from dicegym.play.player import Player

TRUST = "--trust (in Python trust=True)"
"""How somebody says so."""


def trust_error(called: object, reason: str) -> ModelError:
    """Return the error for what may run programs when it is read; ``reason``: why it is not read."""
    return ModelError(
        f"{called} cannot be read: {reason}, and reading it runs whatever its author wrote: if you trust its author, "
        f"say so by {TRUST}"
    )


def load_object(path: Path, fixed: Sequence[Player]) -> Any:
    """Return what is pickled in a file, which runs what the file says.

    Args:
        path: the file.
        fixed: the players that it holds by their number, as a bot's program cannot be written.

    Raises:
        ModelError: it is damaged, or another version of dicegym wrote it, whose classes are not these.
    """
    try:
        with path.open("rb") as file:
            return _Unpickler(file, fixed).load()
    except Exception as error:  # whatever unpickling somebody's classes may raise
        raise ModelError(
            f"{path} cannot be loaded: it is damaged, or of another version of dicegym ({type(error).__name__}: "
            f"{one_line(error)})"
        ) from error


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._fixed = fixed

    def persistent_load(self, number: int) -> Player:
        return self._fixed[number]


KEY_FILE = "seal.key"
"""In the user's data folder."""
SEAL = "seal"
"""What the seal of a folder is called in it; that of a file has its name with this ending."""
_KEY_BYTES = 32


def write_seal(target: Path) -> None:
    """Seal a file, or the files of a folder; where no key can be kept, nothing is written."""
    key = _key(make=True)
    if key is not None:
        _place(target).write_text(_code(target, key))


def is_sealed(target: Path) -> bool:
    """Return whether a file, or all files of a folder, are as this user sealed them."""
    key = _key(make=False)
    if key is None:
        return False
    try:
        return hmac.compare_digest(_place(target).read_bytes(), _code(target, key).encode())
    except OSError:
        return False


def _place(target: Path) -> Path:
    return target / SEAL if target.is_dir() else target.with_name(f"{target.name}.{SEAL}")


def _code(target: Path, key: bytes) -> str:
    """Return the seal of a file, or of the files of a folder."""
    files = sorted(one for one in target.iterdir() if one.name != SEAL) if target.is_dir() else [target]
    code = hmac.new(key, digestmod=hashlib.sha256)
    for file in files:
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").digest()
        code.update(hashlib.sha256(os.fsencode(file.name)).digest() + digest)
    return code.hexdigest()


def _key(make: bool) -> bytes | None:
    """Return the user's key, which nobody else can read; None if there is none."""
    from platformdirs import user_data_path

    path = user_data_path("dicegym", appauthor=False) / KEY_FILE
    with contextlib.suppress(OSError):
        if make and not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished = path.with_name(f"{KEY_FILE}.{os.getpid()}")
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            with contextlib.suppress(FileExistsError):  # another process was faster: its key stays
                os.link(unfinished, path)
            unfinished.unlink()
        facts = path.lstat()
        if is_ours(facts) and stat.S_ISREG(facts.st_mode) and facts.st_size == _KEY_BYTES:
            return path.read_bytes()
    return None
