"""The folders ``agents`` and ``training`` that ship with the package.

A checkout's folder ``agents`` may contain any file, so shipped agents are recognised by their hashes in `MANIFEST`.
``make manifest`` renews it after a change to ``agents``.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
CHECKOUT = (_PACKAGE.parent / "pyproject.toml").is_file()
"""Whether the package runs in a checkout of the project, not from an installed wheel."""
MANIFEST = _PACKAGE / "agents.sha256"
"""Shipped programs and models as ``sha256sum`` prints them in the folder ``agents``."""
_PLAYING = (".py", ".zip")
"""Suffixes of the files in the manifest."""


def shipped_folder(name: str) -> Path:
    """Return the folder ``name`` of a checkout, or ``dicegym/_name`` of an installed wheel; it need not exist."""
    place = _PACKAGE.parent / name
    if CHECKOUT and place.is_dir():
        return place
    return _PACKAGE / f"_{name}"


def is_shipped(path: Path, digest: str | None = None) -> bool:
    """Return whether ``path`` is an unchanged shipped program or model.

    Args:
        path: a file.
        digest: the hexadecimal SHA-256 of its bytes; default: computed from the file.
    """
    path, folder = Path(os.path.realpath(path)), _agents()
    if not path.is_relative_to(folder):
        return False
    known = _hashes().get(path.relative_to(folder).as_posix())
    return known is not None and known == (_digest_of(path) if digest is None else digest)


def manifest_text() -> str:
    """Return the text of `MANIFEST` for the present folder ``agents``."""
    folder = _agents()
    found = sorted(path for path in folder.rglob("*") if path.suffix in _PLAYING and path.is_file())
    return "".join(f"{_digest_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in found)


def _agents() -> Path:
    return shipped_folder("agents").resolve()


@functools.cache
def _hashes() -> dict[str, str]:
    """Return file -> SHA-256 of the shipped files."""
    lines = MANIFEST.read_text(encoding="utf-8").splitlines() if MANIFEST.is_file() else []
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
