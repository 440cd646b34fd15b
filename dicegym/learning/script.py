"""The training script as a function: `train` is what ``dicegym train`` calls, for scripts of one's own."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.errors import DependencyError, ParameterError
from dicegym.learning.evaluate import Score
from dicegym.shipped import shipped_folder


def train(
    game: str,
    folder: str | Path,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    resume: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    evaluated: Callable[[int, Score], None] | None = None,
    trust: bool = False,
) -> Any:
    """Train an agent as ``dicegym train`` does, and return the finished run (``run.model``, ``run.score``).

    Settings and names are checked before PyTorch is imported.

    Args:
        game: a game's name.
        folder: the run's: models, cards, curve, logs and checkpoint.
        config: a file of settings, or the name of one that ships; None: those that ship for the game, or for any game.
        overrides: each ``section.key=value``, as after ``--set``.
        resume: go on with the run in ``folder``; of a finished one nothing is done and its end is returned.
        progress: told (steps done, steps in all, text).
        evaluated: told (steps, score) of every evaluation that the run keeps (not of that at Ctrl-C); what it raises
            ends the run.
        trust: let models and a folder to resume that came from others run what their authors wrote, where plain data
            does not do.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: settings or a folder cannot work, or another training
            writes there; nothing was written.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP has ended it, with model and checkpoint on disk.
    """
    from dicegym.learning.lock import alone_in
    from dicegym.learning.preparation import prepare  # checks settings, and so needs the extra

    target, file = Path(folder), None if config is None else Path(config)
    with alone_in(target):
        prepare(game, target, file, overrides, resume, trust)
        return _script().train(game, target, file, list(overrides), resume, progress, evaluated, trust)


def _script() -> Any:
    """Return the training script as a module: of the checkout, or as it ships in the wheel."""
    path = shipped_folder("training") / "train.py"
    spec = importlib.util.spec_from_file_location("dicegym_training", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ParameterError(f"the training script is missing from this installation: {path}")
    module = importlib.util.module_from_spec(spec)
    let_libraries_wait_idly()  # before PyTorch is loaded
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise DependencyError.for_extra(str(error.name), "train", "training") from error
    return module
