"""What can be known to be wrong with a training before its libraries are imported, which takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, unknown_name
from dicegym.learning.configuration import settings_of
from dicegym.learning.league import SELF
from dicegym.learning.run_folder import SETTINGS_FILE, is_empty
from dicegym.learning.teacher import parse_reply
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import model as models
from dicegym.players.roster import model_file, resolve
from dicegym.players.trust import TRUST, is_sealed


class Prepared(NamedTuple):
    """What a training begins with; see `prepare`."""

    game: Game
    settings: TrainingSettings
    command: str
    folder: Path
    resume: bool
    trust: bool
    finished: bool
    """Whether the run to resume has nothing left to do."""


def prepare(
    game: str, folder: Path, config: Path | None, overrides: Sequence[str], resume: bool, trust: bool = False
) -> Prepared:
    """Return what a training begins with, checked as far as that is quick.

    Args:
        game: a game's name.
        folder: the run's.
        config: as for `dicegym.learning.configuration.read_config`.
        overrides: as for `dicegym.learning.configuration.override`.
        resume: continue the run in ``folder``.
        trust: continue a run that came from elsewhere: what it holds may run programs.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was written.
    """
    settings, command, finished = settings_of(game, folder, config, overrides, resume)
    if not resume and not is_empty(folder):
        raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
    if resume:
        check_own(folder / SETTINGS_FILE, trust)
    table = games.game(game, **settings.game)
    for name in agents_in(settings):
        resolve(table, name)
    if settings.algorithm.name not in models.ALGORITHMS:
        raise unknown_name("algorithm", settings.algorithm.name, list(models.ALGORITHMS))
    if settings.run.start_from and not resume:
        models.read_game(model_file(table, settings.run.start_from, "run.start_from"))
    return Prepared(table, settings, command, folder, resume, trust, finished)


def check_own(path: Path, trust: bool) -> None:
    """Raise ParameterError unless this user's trainings wrote a file of settings, or its author is trusted."""
    if not trust and not is_sealed(path):
        raise ParameterError(
            f"{path} was not written by your own trainings here, and a run may hold programs. If you trust its author, "
            f"say so by {TRUST}; or begin a new run with --set run.start_from={path.with_name('best.zip')}"
        )


def agents_in(settings: TrainingSettings) -> Iterator[str]:
    """Yield every agent that the settings name."""
    yield from (name for name in settings.opponents if name != SELF)
    for table in settings.run.evaluate_against:
        yield from [table] if isinstance(table, str) else table
    teacher = vars(settings.algorithm).get("teacher", "")  # an argument of DAgger's
    if (agent := parse_reply(teacher)) is not None:
        yield agent
