"""Contests between agents."""

from __future__ import annotations

from typing import Annotated

import typer

import dicegym
from dicegym.cli.common import (
    GameName,
    JsonFile,
    Parameters,
    Seed,
    check_writable,
    chosen_game,
    out,
    progress_bar,
    write_json,
)


def tournament(
    game: GameName,
    entries: Annotated[list[str] | None, typer.Argument(help="agents' names or paths (default: all agents)")] = None,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(help="processes (default: the processor's cores)")] = None,
    json_file: JsonFile = None,
    parameter: Parameters = None,
) -> None:
    """Run a game's contest and print its report."""
    from dicegym.arena import contest
    from dicegym.arena.report import show

    check_writable(json_file)
    table = chosen_game(game, parameter)
    with progress_bar("checks and matches") as progress:
        result = contest(table, entries or dicegym.agent_names(table), seed, workers, progress)
    show(result.report(), out)
    write_json(json_file, result.to_json())
