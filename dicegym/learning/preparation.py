"""What can be known to be wrong with a training before its libraries are imported, which takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.configuration import settings_of
from dicegym.learning.league import SELF
from dicegym.learning.run_folder import SETTINGS_FILE, is_empty
from dicegym.learning.teacher import parse_reply
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import model_file
from dicegym.players.pool import is_program
from dicegym.players.roster import find_model_file, resolve


class Prepared(NamedTuple):
    """What a training begins with; see `prepare`."""

    game: Game
    settings: TrainingSettings
    command: str
    folder: Path
    resume: bool
    finished: bool
    """Whether the run to resume has nothing left to do."""


def prepare(
    game: str, folder: Path, config: Path | None, overrides: Sequence[str], resume: bool, trust: bool = False
) -> Prepared:
    """Return what a training begins with, checked where that is quick.

    Args:
        game: a game's name.
        folder: the run's.
        config: as for `dicegym.learning.configuration.read_config`.
        overrides: as for `dicegym.learning.configuration.override`.
        resume: continue the run in ``folder``.
        trust: run the programs that the settings of a run to resume name, as `check_programs` says.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was written.
    """
    settings, command, finished = settings_of(game, folder, config, overrides, resume)
    if not resume and not is_empty(folder):
        raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
    table = games.game(game, **settings.game)
    if resume and not trust:
        check_programs(table, settings, folder / SETTINGS_FILE)
    for name in agents_in(settings):
        resolve(table, name)
    if settings.algorithm.name not in model_file.ALGORITHMS:
        raise unknown_name("algorithm", settings.algorithm.name, list(model_file.ALGORITHMS))
    if settings.run.start_from and not resume:
        model_file.read_game(find_model_file(table, settings.run.start_from, "run.start_from"))
    return Prepared(table, settings, command, folder, resume, finished)


def check_programs(game: Game, settings: TrainingSettings, path: Path) -> None:
    """Raise ParameterError if the settings in a run's folder name a program, which may be a stranger's."""
    if (name := find_program(game, settings)) is not None:
        raise ParameterError(
            f"{path} names the program {one_line(name, 200)}, which resuming would run in this process: if you trust "
            f"its author, add --trust (in Python trust=True); or begin a new run with other opponents and --set "
            f"run.start_from={path.with_name('best.zip')}"
        )


def find_program(game: Game, settings: TrainingSettings) -> str | None:
    """Return the first bot's file of a user that the settings name; None if they name none."""
    return next((name for name in agents_in(settings) if is_program(game, name)), None)


def agents_in(settings: TrainingSettings) -> Iterator[str]:
    """Yield every agent that the settings name."""
    yield from (name for name in settings.opponents if name != SELF)
    for table in settings.run.evaluate_against:
        yield from [table] if isinstance(table, str) else table
    teacher = vars(settings.algorithm).get("teacher", "")  # an argument of DAgger's
    if (agent := parse_reply(teacher)) is not None:
        yield agent
