"""Find trainings below the folders of the settings, and the models in them that visitors may play against."""

from __future__ import annotations

import functools
import threading
import time
from pathlib import Path

from dicegym.errors import ParameterError, UnknownNameError
from dicegym.escape import one_line
from dicegym.learning.run_folder import CHECKPOINTS
from dicegym.learning.runs import PREPARING, RUNNING, WatchedRun, inspect_run, name_runs, signature
from dicegym.players.model_file import MODELS
from dicegym.web.context import Web

SEARCH_SECONDS = 2.0
"""Least seconds between two searches of the folders."""
MODEL_SUFFIX = ".zip"
_PLAYABLE = (*(f"{folder}/model.zip" for folder in CHECKPOINTS), *MODELS)
CACHED_RUNS = 500


class Trainings:
    """All trainings below the folders of the settings; one is read again after its files have changed."""

    def __init__(self, web: Web) -> None:
        self.roots = web.settings.runs
        self._lock = threading.Lock()
        self._names: dict[str, Path] = {}
        self._found = -SEARCH_SECONDS

    def names(self) -> dict[str, Path]:
        """Return the folders of trainings by name."""
        with self._lock:
            if time.monotonic() - self._found >= SEARCH_SECONDS:
                self._names, self._found = name_runs(self.roots), time.monotonic()
            return self._names

    def all(self) -> list[WatchedRun]:
        """Return all trainings: running ones first, then the latest changed."""
        found = [_read_run(folder, name) for name, folder in self.names().items()]
        return sorted(found, key=lambda run: (run.state not in (PREPARING, RUNNING), -run.changed))

    def one(self, name: str) -> WatchedRun:
        """Return the training of a name. Raises UnknownNameError."""
        folder = self.names().get(name)
        if folder is None:
            raise UnknownNameError(
                f"unknown training {one_line(name, 80)!r} in {', '.join(map(str, self.roots))}: /learn lists all"
            )
        return _read_run(folder, name)


def _read_run(folder: Path, name: str) -> WatchedRun:
    # The moment is a key, too: a killed training stops without writing a file.
    return _inspect(folder, name, signature(folder), int(time.monotonic() / SEARCH_SECONDS))


@functools.lru_cache(CACHED_RUNS)
def _inspect(folder: Path, name: str, sign: object, moment: int) -> WatchedRun:
    return inspect_run(folder, name)


def name_model(run: WatchedRun, model: Path) -> str:
    """Return the name of a training's model, which `model_of` takes."""
    return "/".join((run.name, *model.relative_to(run.folder).parts))


def model_of(web: Web, text: str) -> Path:
    """Return the model with a name of `name_model`, such as ``runs/hog/best.zip``.

    Raises ParameterError unless it is a model of a training below the folders of the settings.
    """
    names = web.get(Trainings).names()
    for model in _PLAYABLE:
        folder = names.get(text.removesuffix(f"/{model}")) if text.endswith(f"/{model}") else None
        if folder is not None and (folder / model).is_file() and not (folder / model).is_symlink():
            return folder / model
    raise ParameterError(
        f"{one_line(text, 120)!r} is not a model of a training here: give a name from /learn, and /{MODELS[0]}"
    )
