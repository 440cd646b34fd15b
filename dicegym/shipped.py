"""What ships beside the package: the folders ``agents`` and ``training``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped_folder(name: str) -> Path:
    """Return the folder ``name`` of a checkout, or ``dicegym/_name`` of an installed wheel; it need not exist."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / f"_{name}"


def is_shipped(path: Path) -> bool:
    """Return whether ``path`` lies among the agents that ship with the package."""
    return path.resolve().is_relative_to(shipped_folder("agents").resolve())
