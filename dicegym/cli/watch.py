"""A game of models and agents, to be seen: move by move in the terminal, or as a recording."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import dicegym
from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out
from dicegym.cli.evaluation import table_for
from dicegym.cli.viewer import show
from dicegym.errors import ParameterError, one_line
from dicegym.play.seeds import drawn_seed

if TYPE_CHECKING:
    from dicegym.pictures.watched import WatchedMove

DELAY = 1.0
"""Seconds from move to move, where nothing else is asked for."""


def watch(
    model: Annotated[str, Argument(help="a model's file, the folder of a training, or any agent")],
    against: options.Against = None,
    game: options.GameOption = None,
    written: Annotated[Outputs, ".gif", ".mp4"] = NO_FILES,
    seed: options.Seed = None,
    seat: Annotated[int, Option(help="the model's seat, from 0")] = 0,
    delay: Annotated[
        float | None, Option(min=0, help="seconds from move to move (default: 1; none where the output is no terminal)")
    ] = None,
    trust: options.Trust = False,
    parameter: options.Parameters = None,
) -> None:
    """Watch a model or an agent play, move by move or as a film.

    In a terminal the table changes in its place: space pauses, n is the next move, + and - change the speed, q leaves.

    Example: dicegym watch runs/hog

    Example: dicegym watch ppo --game hog --against bacon -o hog.gif
    """
    from dicegym.pictures.watched import moments, names_of, seating

    model = of_training(model)
    table = table_for(model, game, parameter, len(against or []))
    player = dicegym.agent(table, model, trust=trust)
    rivals = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in rivals]
    seated = seating(table, player, others, seat)
    number = drawn_seed() if seed is None else seed
    out.print(f"{table.spec.title}: {', '.join(names_of(seated))}, in the order of their seats")
    every = moments(table, seated, number)
    if written:
        record(every, list(written), DELAY if delay is None else delay)
    elif not show(every, (DELAY if out.is_terminal else 0.0) if delay is None else delay):
        out.print("left before the end")
    words = ["dicegym", "watch", model, *_options("--against", against), *_options("--game", [game] if game else None)]
    words += [*_options("--parameter", parameter), "--seat", str(seat), "--seed", str(number)]
    words += ["--trust"] if trust else []
    out.print(f"This game again: {shlex.join(words)}")


def of_training(model: str) -> str:
    """Return the best model of a training whose folder is named; anything else as it is.

    Raises ParameterError for a folder of trainings, such as those of several seeds, and for one without a model yet.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return model
    from dicegym.learning.runs import MODELS, find_folders

    found = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if found is None and (trainings := find_folders(folder)):
        if trainings == [folder]:
            raise ParameterError(f"the training in {one_line(model)} has no model yet: wait for its first evaluation")
        raise ParameterError(
            f"{one_line(model)} holds {len(trainings)} training{'s' if len(trainings) > 1 else ''} in folders of their "
            f"own: name one, such as {one_line(str(trainings[0]))}"
        )
    return model if found is None else str(found)


def _options(name: str, values: Sequence[str] | None) -> list[str]:
    return [word for value in values or [] for word in (name, value)]


def record(every: Iterator[WatchedMove], films: Sequence[Path], delay: float) -> None:
    """Write the game as films."""
    from dicegym.envs.film import LAST, film_of, write_film

    if not delay:
        raise ParameterError("a film whose pictures last no time cannot be seen: give --delay more than 0")
    frames = film_of(every)
    for path in films:
        write_film(frames, path, delay)
        out.print(f"wrote {path}: {len(frames)} pictures, {delay * (len(frames) - 1 + LAST):.0f} s")
