"""The trained models that come with dicegym: what tests of all of them are parametrised over."""

from __future__ import annotations

from pathlib import Path

import pytest

from dicegym.players.roster import agents_folder
from dicegym.registry import GAMES

MODELS = [path for name in GAMES for path in sorted(agents_folder(name).glob("*.zip"))]


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


each_model = pytest.mark.parametrize("path", MODELS, ids=_name)
each_ppo = pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=_name(path), marks=[] if path.stem == "ppo" else [pytest.mark.slow]) for path in MODELS],
)
"""The model ``ppo`` of each game, and all others marked slow: for what takes a second of each."""
