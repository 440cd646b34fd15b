"""The game of most bots in these tests, and how their files are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hog_bots import Write

import dicegym
from dicegym.engine.game import Game


@pytest.fixture(scope="module")
def game() -> Game:
    return dicegym.game("hog")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a bot's file."""

    def bot(source: str, name: str = "bot.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    return bot
