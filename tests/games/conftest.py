"""What tests of the games share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a bot's file and returns its path."""

    def bot(source: str, name: str = "") -> Path:
        path = tmp_path / (name or f"bot{len([*tmp_path.iterdir()])}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    return bot
