"""Where the data folders are that ship beside the package: ``agents`` and ``training``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped_folder(name: str) -> Path:
    """Return the folder ``name`` of a checkout, or ``dicegym/_name`` of an installed wheel; it need not exist."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / f"_{name}"
