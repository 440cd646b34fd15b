"""Train an agent, from ``dicegym train`` or from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dicegym.engine.game import Game
from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.errors import DependencyError
from dicegym.learning.evaluate import Score
from dicegym.signals import going_on

if TYPE_CHECKING:
    from dicegym.learning.training_run import Run


def train(
    game: Game | str,
    folder: str | Path,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    resume: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    evaluated: Callable[[int, Score], None] | None = None,
    trust: bool = False,
) -> Run:
    """Train an agent as ``dicegym train`` does, and return the finished run (``run.model``, ``run.score``).

    Settings and names are checked before PyTorch is imported.

    Args:
        game: a game's name, or a `dicegym.Game`, which sets players and parameters.
        folder: where models, cards, curve, logs and checkpoint are written.
        config: a file of settings, or the name of one that ships; None: the game's own, or the one for any game.
        overrides: each ``section.key=value``, as for ``--set``.
        resume: continue the run in ``folder``; a finished run is returned as it is.
        progress: called with (steps done, total steps, text).
        evaluated: called with (steps, score) after every evaluation; an exception from it ends the run.
        trust: allow programs, such as bots' files, and language models in the settings of a run to resume.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: the settings or the folder are invalid, or another
            training writes there; nothing was written.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it; model and checkpoint are on disk.

    Example:
        >>> from dicegym.training import train
        >>> small = ["run.steps=1024", "run.games=64", "algorithm.n_steps=16", "run.card_games=0"]
        >>> run = train("hog", "runs/small", overrides=small)
        >>> run.model.num_timesteps, run.score.opponent
        (1024, 'always_roll(5)')
    """
    from dicegym.learning.configuration import as_toml  # checks settings, and so needs the extra
    from dicegym.learning.preparation import prepare
    from dicegym.learning.run_folder import alone_in

    if isinstance(game, Game):
        overrides = [f"game={as_toml({'players': game.players, **game.parameters})}", *overrides]
        game = game.name
    target = Path(folder)
    with alone_in(target):
        prepared = prepare(game, target, None if config is None else Path(config), overrides, resume, trust)
        let_libraries_wait_idly()  # before PyTorch is loaded
        try:
            from dicegym.learning.training_run import Run
        except ModuleNotFoundError as error:
            raise DependencyError.for_extra(str(error.name), "train", "training") from error
        run = Run(prepared, progress, evaluated)
        if run.finished:
            return run
        with going_on(f"the work so far is in {target}: {run.again()}"):
            run.learn()
            run.write_cards()
            run.note(finished=True)
        return run
