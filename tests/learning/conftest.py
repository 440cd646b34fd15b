"""What tests of trainings share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dicegym.learning.files import CURVE_FILE, SETTINGS_FILE

RunFolder = Callable[..., Path]


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a function that writes what a training leaves; models say what ``best.zip`` holds as JSON."""
    monkeypatch.setattr("dicegym.learning.curves.models.facts", lambda path: json.loads(path.read_text()))

    from dicegym.learning.evaluate import Score

    def write(name: str, curve: str, game: str = "hog", players: int = 2, **settings: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        sections: dict[str, dict[str, Any]] = {}
        for key, value in settings.items():
            section, _, rest = key.partition("__")
            sections.setdefault(section, {})[rest] = value
        (folder / CURVE_FILE).write_text(curve)
        (folder / SETTINGS_FILE).write_text(json.dumps({"command": "", "settings": sections}))
        score = Score("win rate", "bacon" if players > 1 else "nobody", 0.5, 0.4, 0.6, 100)
        about = {"game": game, "players": players, "score": score.to_json()}
        (folder / "best.zip").write_text(json.dumps(about))
        return folder

    return write
