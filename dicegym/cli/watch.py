"""A game to be seen: move by move in the terminal, or as a film."""

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

Delay = Annotated[float | None, Option(min=0, help="seconds for each move (default: 1 on a terminal, else 0)")]
DELAY = 1.0
"""Seconds for each move in a terminal and in films by default."""


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

    model = find_model(model)
    table = table_for(model, game, parameter, len(against or []))
    player = dicegym.agent(table, model)
    rivals = against or ([table.spec.baseline] if table.players > 1 else [])
    seated = seating(table, player, [dicegym.agent(table, name) for name in rivals], seat)
    number = draw_seed() if seed is None else seed
    out.print(f"{table.spec.title}: {', '.join(names_of(seated))}, in the order of their seats")
    every = moments(table, seated, number)
    if film := written[".gif"]:
        record(every, film, delay)
    else:
        show(every, delay)
    chosen = {"against": against, "game": game, "parameter": parameter, "seat": seat, "seed": number}
    out.print(f"This game again: {shared_options.command_line('dicegym', 'watch', model, **chosen)}")


def find_model(model: str) -> str:
    """Return the best model of a training whose folder is named; anything else as it is.

    Raises ParameterError for a folder without a model of its own.
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
            f"{one_line(model)} holds {len(trainings)} trainings in folders of their own: name one, such as "
            f"{one_line(str(trainings[0]))}"
        )
    if find_folders(folder):
        raise ParameterError(f"the training in {one_line(model)} has no model yet: wait for its first evaluation")
    return model


def record(moves: Iterator[WatchedMove], path: Path, delay: float | None) -> None:
    """Write a game as a GIF, ``delay`` seconds a move. Raises ParameterError for none."""
    from dicegym.envs.film import LAST, write_gif

    delay = DELAY if delay is None else delay
    if not delay:
        raise ParameterError("a film whose pictures last no time cannot be seen: give --delay more than 0")
    every = list(moves)
    write_gif(every, path, delay)
    out.print(f"wrote {path}: {len(every)} pictures, {delay * (len(every) - 1 + LAST):.0f} s")


def show(moves: Iterator[WatchedMove], delay: float | None) -> None:
    """Print a game move by move, ``delay`` seconds each; None: `DELAY` on a terminal, else 0."""
    if delay is None:
        delay = DELAY if out.is_terminal else 0.0
    for move in moves:
        print_lines([*move.done, f"{move.scene.text()}\n"])
        if not move.over:
            time.sleep(delay)
