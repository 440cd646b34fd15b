"""Fields of agents as populations."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Annotated

import typer

import dicegym
from dicegym.cli.common import (
    GameName,
    JsonFile,
    Parameters,
    Trust,
    check_writable,
    chosen_game,
    complete_agent,
    out,
    progress_bar,
    tell_isolation,
    write_json,
)
from dicegym.cli.evaluation import ALL, counted_faults, tell_faults
from dicegym.cli.machines import RayAddress, chosen_executors
from dicegym.files import write_text


def alpharank(
    game: GameName,
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT...", help="two or more, or `all`", autocompletion=complete_agent),
    ],
    games: Annotated[int, typer.Option(min=1, help="games of each table, where there is no exact value")] = 1_000,
    sampled: Annotated[bool, typer.Option(help="play games even if there is an exact value")] = False,
    alpha: Annotated[
        float, typer.Option(help="how strongly who earns more is preferred; inf: only who beats whom counts")
    ] = 100.0,
    population: Annotated[int, typer.Option(metavar="N", help="how many there are in the population")] = 50,
    seed: Annotated[int, typer.Option(help="same seed, same games; 0 to 2 are those of trainings and cards")] = 3,
    trust: Trust = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="processes, the same figures with any number (default: this one)")
    ] = None,
    ray: RayAddress = None,
    json_file: JsonFile = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write a row for each table as CSV to this file too")
    ] = None,
    parameter: Parameters = None,
) -> None:
    """Rank agents by who lasts if whoever earns more spreads.

    Every two meet at tables of both: of n players one of a kind among n - 1 of the other, two among n - 2, and so on.
    Shares of the population are Alpha-Rank's; of two players Nash averaging stands beside them.

    Example: dicegym alpharank liarsdice ppo bayes even honest --games 2000

    Example: dicegym alpharank lucky ppo investor compound --json field.json
    """
    from dicegym.arena.report import show
    from dicegym.arena.sheets import csv_text
    from dicegym.learning.executed import is_strangers, kept_open
    from dicegym.learning.population import check, measure

    for path in (json_file, csv_file):
        check_writable(path)
    table = chosen_game(game, parameter)
    strength = None if math.isinf(alpha) and alpha > 0 else alpha
    check(strength, population, table.players)
    named = dicegym.agent_names(table) if agents == [ALL] else agents
    strangers = [one for one in named if is_strangers(table, one)]
    if strangers and ray is None:
        tell_isolation("auto", strangers)
    with contextlib.ExitStack() as stack:
        faults = stack.enter_context(counted_faults())
        progress = stack.enter_context(progress_bar("games"))
        apart = bool(strangers) or ray is not None or (workers or 1) > 1
        executors = stack.enter_context(kept_open(chosen_executors(workers, ray))) if apart else None
        found = measure(table, named, games, not sampled, seed, progress, trust, executors)
    tell_faults(faults)
    standings = found.standings(strength, population)
    show(found.report(standings), out)
    if csv_file is not None:
        write_text(csv_file, csv_text(list(found.rows())))
    write_json(
        json_file,
        {
            "game": table.name,
            "players": table.players,
            "parameters": dict(table.parameters),
            "fingerprint": table.fingerprint,
            "seed": seed,
            "alpha": strength,
            "population": population,
            "agents": [one._asdict() for one in standings],
            "tables": list(found.rows()),
        },
    )
