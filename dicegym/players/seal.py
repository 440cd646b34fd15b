"""Seals tell the files that this user wrote from those that came from elsewhere.

A model may hold classes of one's own, a checkpoint also records of games that compiled loops take as they are. Whoever
goes on with work of their own need not say that they trust it: beside such files lies a code that only who knows the
user's key can make (HMAC with SHA-256, RFC 2104). It says who wrote them, and nothing of what they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from dicegym.engine.cache_folder import is_ours

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
