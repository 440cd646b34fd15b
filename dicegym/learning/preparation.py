"""Prepare a training: read and check its settings without PyTorch, whose import takes seconds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line, unknown_name
from dicegym.learning.configuration import about_run, from_plain, override, read_config, to_plain
from dicegym.learning.league import SELF
from dicegym.learning.run_folder import SETTINGS_FILE, is_empty
from dicegym.learning.teacher import parse_reply
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import model_file
from dicegym.players.pool import is_program, needs_trust
from dicegym.players.roster import find_model_file, resolve

CHANGEABLE = tuple(
    f"run.{name}"
    for name in ("steps", "torch_threads", "device", "evaluate_every", "checkpoint_every", "card_games", "log")
)
"""Settings that a resumed run may change: the others are built into its networks, games and league."""


class Prepared(NamedTuple):
    """The checked start of a training; see `prepare`."""

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
    """Return the settings of a training, with all checks that are quick.

    Args:
        game: a game's name.
        folder: the run's folder.
        config: as for `dicegym.learning.configuration.read_config`.
        overrides: as for `dicegym.learning.configuration.override`.
        resume: continue the run in ``folder`` with its settings and its command; overrides may change the settings in
            `CHANGEABLE`, and repeat the others.
        trust: allow programs and language models in the settings of a run to resume; see `check_programs`.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: the settings or the folder are invalid; nothing was
            written.
    """
    if resume:
        settings, command, finished = _resume(game, folder, overrides)
    else:
        settings, finished = override(read_config(game, config), overrides), False
        options = [word for text in overrides for word in ("--set", text)]
        command = shlex.join(["dicegym", "train", game, *(["--config", str(config)] if config else []), *options])
    if not resume and not is_empty(folder):
        raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
    try:
        table = games.game(game, **settings.game)
    except DicegymError as error:
        if config is None or resume:
            raise
        raise ParameterError(f"--config {config} is not for {game} ({error}): name another, or leave it out") from None
    if resume and not trust:
        check_programs(table, settings, folder / SETTINGS_FILE)
    for name in _agents_in(settings):
        resolve(table, name)
    if settings.algorithm.name not in model_file.ALGORITHMS:
        raise unknown_name("algorithm", settings.algorithm.name, list(model_file.ALGORITHMS))
    if settings.run.start_from and not resume:
        model_file.read_game(find_model_file(table, settings.run.start_from, "run.start_from"))
    return Prepared(table, settings, command, folder, resume, finished)


def _resume(game: str, folder: Path, overrides: Sequence[str]) -> tuple[TrainingSettings, str, bool]:
    """Return the settings of the run in a folder, its command, and whether it is finished."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        raise ParameterError(f"{folder} holds no run to resume: start without --resume")
    about = about_run(folder)
    if (of := about.command[2:3]) not in ([], [game]):
        raise ParameterError(f"{folder} holds a run of {of[0]}, not of {game}: name that game, or another --run-dir")
    begun = from_plain(about.settings, f"{path}: ")
    settings = override(begun, overrides)
    changes = []
    for text in overrides:
        name = text.partition("=")[0]
        section, _, key = name.partition(".")
        was, is_now = (to_plain(one)[section] for one in (begun, settings))
        if (was.get(key) == is_now.get(key)) if key else (was == is_now):
            continue
        if name not in CHANGEABLE:
            raise ParameterError(
                f"--set {text!r} cannot change what a run began with: a resumed run may change "
                f"{', '.join(CHANGEABLE)}; otherwise begin a new run with --set run.start_from=MODEL"
            )
        changes += ["--set", text]
    before, now = begun.run, settings.run
    more = now.steps > before.steps or now.card_games != before.card_games
    return settings, shlex.join([*about.command, *changes]), about.finished and not more


def check_programs(game: Game, settings: TrainingSettings, path: Path) -> None:
    """Raise ParameterError if the settings in ``path``, which may be untrusted, name something for `find_program`."""
    if (name := find_program(game, settings)) is None:
        return
    what, how = "language model", "send your key and the games to its address"
    if is_program(game, name):
        what, how = "program", "run it in this process"
    raise ParameterError(
        f"{path} names the {what} {one_line(name, 200)}, and resuming would {how}: if you trust its author, add "
        f"--trust (in Python trust=True); or begin a new run with other opponents and --set "
        f"run.start_from={path.with_name('best.zip')}"
    )


def find_program(game: Game, settings: TrainingSettings) -> str | None:
    """Return the first user's program or language model that the settings name, or None."""
    return next((name for name in _agents_in(settings) if needs_trust(game, name)), None)


def _agents_in(settings: TrainingSettings) -> Iterator[str]:
    """Yield the name of every agent in the settings."""
    yield from (name for name in settings.opponents if name != SELF)
    for table in settings.run.evaluate_against:
        yield from [table] if isinstance(table, str) else table
    if (agent := parse_reply(settings.algorithm.teacher or "")) is not None:
        yield agent
