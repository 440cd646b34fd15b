"""Trainings that ran: their settings, curves, cards and leagues; and searches for settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.bare import Command
from dicegym.cli.card import card
from dicegym.cli.compare_runs import compare_runs
from dicegym.cli.console import out
from dicegym.cli.machines import chosen_executors
from dicegym.cli.options import RayAddress, Trust, Workers
from dicegym.cli.plot import plot
from dicegym.cli.progress import progress_bar
from dicegym.cli.tune import tune
from dicegym.errors import ParameterError

runs = typer.Typer(help="Plot, compare, rate and tune trainings.", no_args_is_help=True)


def settings() -> None:
    """Print all settings of a training: values, default, meaning.

    Example: dicegym runs settings
    """
    from dicegym.learning.configuration import described

    section = ""
    for setting in described():
        if setting.section != section:
            section = setting.section
            out.print(f"[{section}]")
        default = f" (default: {setting.default})" if setting.default else ""
        out.print(f"  {setting.key or 'KEY'}: {setting.takes}{default}\n      {setting.meaning}")
    out.print("What a game's training takes, with reasons: training/configs/GAME.toml.")


def league(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="the folder of a training")],
    games: Annotated[int | None, typer.Option(min=1, help="play N new games between each two members")] = None,
    workers: Workers = None,
    ray: RayAddress = None,
    trust: Trust = False,
) -> None:
    """Show who beat whom in a training's league.

    Its members are the past selves, agents and exploiters that the training played against. A training has them play
    few games: --games N lets those who are in its newest checkpoint play N new ones, each against each.

    Examples: dicegym runs league runs/liarsdice; dicegym runs league runs/liarsdice --games 10000 --workers 2
    """
    from dicegym.arena.report import show
    from dicegym.learning.league import read_league

    if games is None:
        if workers is not None or ray is not None:
            raise ParameterError("--workers and --ray are about new games: give --games with them")
        if not (run_dir / "league.csv").is_file():
            raise ParameterError(f'{run_dir} has no league.csv: only a training against "self" writes it')
        table, shares = read_league(run_dir / "league.csv")
    else:
        from dicegym.learning.run_state import league_of

        executors = None if ray is None and (workers or 1) == 1 else chosen_executors(workers, ray)
        found = league_of(run_dir, trust)
        with progress_bar("games") as progress:
            table, shares = found.measured_anew(games, executors, progress), found.shares()
    show(table.report(shares), out)


for command in (plot, card, league, tune, settings):
    runs.command(cls=Command)(command)
runs.command("compare", cls=Command)(compare_runs)
