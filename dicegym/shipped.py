"""What ships beside the package: the folders ``agents``, ``training`` and ``docs/examples``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ELSEWHERE = {"examples": "docs/examples"}
"""Folders that do not stand at the top of a checkout."""


def shipped_folder(name: str) -> Path:
    """Return the folder ``name`` of a checkout, or ``dicegym/_name`` of an installed wheel; it need not exist."""
    checkout = _PACKAGE.parent
    place = checkout / _ELSEWHERE.get(name, name)
    if (checkout / "pyproject.toml").is_file() and place.is_dir():
        return place
    return _PACKAGE / f"_{name}"


def is_shipped(path: Path) -> bool:
    """Return whether ``path`` lies among the agents that ship with the package."""
    return path.resolve().is_relative_to(shipped_folder("agents").resolve())
