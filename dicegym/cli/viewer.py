"""A game seen in a terminal, move by move, and games as films."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from dicegym.cli.console import out, print_lines
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.pictures.watched import WatchedMove

Delay = Annotated[
    float | None, Option(min=0, help="seconds for each move (default: 1; 0 if the output is not a terminal)")
]
DELAY = 1.0
"""Seconds for each move in a terminal and in films by default."""


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
