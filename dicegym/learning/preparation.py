"""What can be known to be wrong with a training before its libraries are imported, which takes seconds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.envs.table_sizes import tables_of
from dicegym.errors import AgentError, ParameterError, UnknownNameError, unknown_name
from dicegym.escape import one_line
from dicegym.learning.configuration import names_something, read_config, settings_of, split_name
from dicegym.learning.evaluator import BY_EXPLOITER
from dicegym.learning.league import SELF
from dicegym.learning.run_folder import SETTINGS_FILE, is_empty
from dicegym.learning.teacher import parse_reply
from dicegym.learning.training_settings import RunSettings, TrainingSettings
from dicegym.players import model as models
from dicegym.players.model_file import ModelFile
from dicegym.players.roster import Origin, agent_names, model_file, resolve
from dicegym.players.trust import TRUST, is_sealed
from dicegym.sandbox.jobs import Entry


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
    notes: tuple[str, ...]
    """What users should know before it begins, a line each."""


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
        trust: run the programs that the settings of a run name which came from elsewhere.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was written.
    """
    settings, command, finished = settings_of(game, folder, config, overrides, resume)
    if not resume and not is_empty(folder):
        raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
    table = games.game(game, **settings.game)
    tables = tables_of(table, settings.run.tables)
    if tables and table not in tables:
        raise ParameterError(
            f"run.tables={settings.run.tables} leaves out the table of {table.players} that [game] names, at which the "
            f"model is measured first and plays by default: add {table.players}, or set game.players to one of them"
        )
    found: dict[str, Origin] = {}
    for name in _agents(settings):
        try:
            found[name] = resolve(table, name)
        except UnknownNameError as error:
            by = "" if resume else _named_by(name, table, config, overrides)
            raise UnknownNameError(f"{by}{error}") from error
        except AgentError as error:
            if not resume:
                raise
            raise AgentError(error.agent, f"{error.reason}{_why_now(name, table, folder)}") from error
    if resume and not trust and not is_sealed(folder / SETTINGS_FILE):
        programs = [
            name for name, origin in found.items() if isinstance(origin, Source) and not Entry(name, origin).trusted
        ]
        programs += [text for _, text in _named(settings, networks=True)]
        if programs:
            raise ParameterError(
                f"{folder / SETTINGS_FILE} was not written by your own trainings here, and names programs: "
                f"{', '.join(one_line(name, 80) for name in programs)}. If you trust its author, say so "
                f"by {TRUST}"
            )
    if settings.algorithm.name not in models.ALGORITHMS:
        raise unknown_name("algorithm", settings.algorithm.name, list(models.ALGORITHMS))
    if not resume:
        _check_anchor(table, settings)
        _check_exploiter(settings, overrides)
    if settings.run.start_from and not resume:
        models.read_game(model_file(table, settings.run.start_from, "run.start_from"))
    for setting, text in _named(settings, networks=not resume or settings.self_play.exploiter_every > 0):
        split_name(setting, text)
    return Prepared(table, settings, command, folder, resume, trust, finished, tuple(_notes(table, settings, resume)))


def _notes(table: Game, settings: TrainingSettings, resume: bool) -> Iterator[str]:
    """Yield what users should know: that a critic begins anew, and that a game of several is trained for one player."""
    start = settings.run.start_from
    if start and not resume and not ModelFile(model_file(table, start, "run.start_from")).has_critic:
        yield (
            f"the file of {start} holds its policy alone, as those of models that ship do: the training continues with "
            "that, and its value network starts fresh."
        )
    most = table.spec.players[1]
    if settings.game.get("players") == 1 and most > 1:
        yield (
            "this trains for the most points of a player alone. The model plays at tables of up to "
            f"{most} too; --set game.players=2 trains at one."
        )


def _why_now(name: str, table: Game, folder: Path) -> str:
    """Return, as the end of an error, why an agent of a training cannot play when that is resumed."""
    if name in agent_names(table):  # found, and found wanting: the reason says all
        return ""
    path, settings = Path(name).expanduser(), folder / SETTINGS_FILE
    file = Path(str(path).partition(".py:")[0] + ".py") if ".py:" in str(path) else path
    if file.is_absolute() or os.path.lexists(file):
        return f": {settings} names it so: put it back as it was, or begin a new run with another --run-dir"
    seen = f"{settings} names it as seen from where the training began, so resume it from there"
    return f" in {one_line(Path.cwd())}: {seen}"


def _named_by(name: str, table: Game, config: Path | None, overrides: Sequence[str]) -> str:
    """Return, as the beginning of an error, what names an agent that ``table`` does not have; or nothing."""
    if name in _agents(read_config(table.name, config)):
        return "" if config is None else f"the settings of --config {one_line(config)} do not fit {table!r}: "
    said = [text for text in overrides if name in text]
    return f"--set {said[-1]!r}: " if said else ""


def _check_anchor(table: Game, settings: TrainingSettings) -> None:
    """Raise ParameterError where a training would be pulled for good to networks that know nothing."""
    given = vars(settings.algorithm)
    if given.get("kl_coef", 0) and not given.get("kl_anchor_rate", 1) and not settings.run.start_from:
        raise ParameterError(
            f"algorithm.kl_coef={given['kl_coef']} with algorithm.kl_anchor_rate=0 pulls every choice to those of the "
            "networks that the training begins with, and without run.start_from these are drawn at random: name a "
            "model, such as run.start_from=taught where the game has that agent, or give a kl_anchor_rate above 0"
        )


def _check_exploiter(settings: TrainingSettings, overrides: Sequence[str]) -> None:
    """Raise ParameterError for the length of the exploiters' training where no evaluation trains exploiters."""
    run = settings.run
    said = run.exploiter_steps != RunSettings().exploiter_steps
    said = said or any(text.startswith("run.exploiter_steps=") for text in overrides)
    if said and BY_EXPLOITER not in (run.best_by, *run.best_floor):
        raise ParameterError(
            f"run.exploiter_steps={run.exploiter_steps} says how long the exploiter of an evaluation is trained, and "
            "no evaluation has one: ask for it by run.best_by=exploiter or by a floor, such as "
            "run.best_floor={exploiter=0.4}, or leave it out (self_play.exploiter_steps is for those of a league)"
        )


def _agents(settings: TrainingSettings) -> Iterator[str]:
    """Yield every agent that the settings name."""
    yield from (name for name in settings.opponents if name != SELF)
    for table in settings.run.evaluate_against:
        yield from [table] if isinstance(table, str) else table
    teacher = vars(settings.algorithm).get("teacher", "")  # an argument of DAgger's
    if (agent := parse_reply(teacher)) is not None:
        yield agent


def _named(settings: TrainingSettings, networks: bool) -> Iterator[tuple[str, str]]:
    """Yield (setting, text) of all that names a function or class, unless no ``networks`` are to be made anew."""
    if settings.environment.wrap:
        yield "environment.wrap", settings.environment.wrap
    for key, value in vars(settings.network).items() if networks else ():
        if names_something(f"network.{key}", value):
            yield f"network.{key}", value
