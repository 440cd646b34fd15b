"""What tests of trainings share."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_runs import Done, Train

from dicegym.learning.run_folder import CURVE_FILE, SETTINGS_FILE

RunFolder = Callable[..., Path]


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a function that writes the files of a training; facts of models are ``best.zip`` as JSON."""
    monkeypatch.setattr("dicegym.learning.curves.model_file.facts", lambda path: json.loads(path.read_text()))

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


@contextlib.contextmanager
def cards_against_one() -> Iterator[None]:
    """Let cards measure against one agent: all of them take longer than the rest of these runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dicegym.learning.card.agent_names", lambda game: [game.spec.baseline])
        yield


@pytest.fixture(scope="module")
def short_cards() -> Iterator[None]:
    """Shorten the cards of all trainings of a module."""
    with cards_against_one():
        yield


@pytest.fixture(scope="module")
def training(short_cards: None) -> Any:
    """Return the training functions, imported after the check for PyTorch."""
    from dicegym.learning.train import train
    from dicegym.learning.training_run import Run

    return SimpleNamespace(train=train, Run=Run)


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Return a function (game, overrides) that trains once for all modules; no test writes into the folder."""
    runs: dict[tuple[str, ...], Done] = {}

    def run(game: str, overrides: list[str]) -> Done:
        from dicegym.learning.train import train

        key = (game, *overrides)
        if key not in runs:
            folder = tmp_path_factory.mktemp(game) / "run"
            with cards_against_one():
                runs[key] = train(game, folder, overrides=overrides), folder
        return runs[key]

    return run
