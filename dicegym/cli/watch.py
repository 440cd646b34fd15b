"""The command that shows a game, move by move in the terminal or as a film."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines
from dicegym.cli.evaluation import table_for
from dicegym.errors import ParameterError, one_line
from dicegym.play.seeds import draw_seed

if TYPE_CHECKING:
    from dicegym.pictures.watched import WatchedMove

Delay = Annotated[
    float | None, Option(min=0, max=3600, help="seconds for each move (default: 1 on a terminal, else 0)")
]
SHORTEST, LONGEST = 0.01, 160.0
"""Limits of the seconds for a picture of a film; the last picture stays four times as long."""


def watch(
    model: Annotated[str, Argument(help="a model's file, the folder of a training, or any agent")],
    against: shared_options.Against = None,
    game: shared_options.GameOption = None,
    written: Annotated[Outputs, ".gif"] = NO_FILES,
    seed: shared_options.Seed = None,
    seat: Annotated[int, Option(help="the model's seat, from 0")] = 0,
    delay: Delay = None,
    parameter: shared_options.Parameters = None,
) -> None:
    """Watch a model or an agent play, move by move or as a film.

    Example: dicegym watch runs/hog

    Example: dicegym watch ppo --game hog --against bacon -o hog.gif
    """
    from dicegym.pictures.watched import moments, names_of, seating

    film, pause = written[".gif"], pause_of(delay, bool(written))
    model = find_model(model)
    table = table_for(model, game, parameter, len(against or []))
    player = dicegym.agent(table, model)
    rivals = against or ([table.spec.baseline] if table.players > 1 else [])
    seated = seating(table, player, [dicegym.agent(table, name) for name in rivals], seat)
    number = draw_seed() if seed is None else seed
    out.print(f"{table.spec.title}: {', '.join(names_of(seated))}, in the order of their seats")
    every = moments(table, seated, number)
    if film is not None:
        record(every, film, pause)
    else:
        show(every, pause)
    chosen = {"against": against, "game": game, "parameter": parameter, "seat": seat, "seed": number}
    out.print(f"This game again: {shared_options.command_line('dicegym', 'watch', model, **chosen)}")


def find_model(model: str) -> str:
    """Return the best model of a training if its folder is named, otherwise ``model``.

    Raises ParameterError for a folder with several trainings, or a training without a model.
    """
    folder = Path(os.path.expanduser(model))
    if not os.path.isdir(folder):
        return model
    from dicegym.learning.runs import find_folders
    from dicegym.players.model_file import find_trained

    if found := find_trained(folder):
        return str(found)
    if trainings := [one for one in find_folders(folder) if one != folder]:
        raise ParameterError(
            f"{one_line(model)} contains {len(trainings)} trainings in subfolders: name one, such as "
            f"{one_line(str(trainings[0]))}"
        )
    if find_folders(folder):
        raise ParameterError(f"the training in {one_line(model)} has no model yet: wait for its first evaluation")
    return model


def pause_of(delay: float | None, film: bool) -> float:
    """Return the seconds for each move; for None, 1 in a film or on a terminal, otherwise 0.

    Raises ParameterError for a delay that no film can have.
    """
    if delay is None:
        return 1.0 if film or out.is_terminal else 0.0
    if film and not SHORTEST <= delay <= LONGEST:
        raise ParameterError(f"invalid --delay {delay:g} for a film: give {SHORTEST:g} to {LONGEST:g} seconds")
    return delay


def record(moves: Iterator[WatchedMove], path: Path, delay: float) -> None:
    """Write a game as a GIF, ``delay`` seconds a move."""
    from dicegym.envs.film import LAST, write_gif

    every = list(moves)
    write_gif(every, path, delay)
    out.print(f"wrote {path}: {len(every)} pictures, {delay * (len(every) - 1 + LAST):.0f} s")


def show(moves: Iterator[WatchedMove], delay: float) -> None:
    """Print a game move by move, ``delay`` seconds each."""
    for move in moves:
        print_lines([*move.done, f"{move.scene.text()}\n"])
        if not move.over:
            time.sleep(delay)
