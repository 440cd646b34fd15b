"""Trainings that ran: their settings, curves, cards and leagues; and searches for settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dicegym.cli import options
from dicegym.cli.card import card
from dicegym.cli.command import group
from dicegym.cli.compare_runs import compare_runs
from dicegym.cli.console import out
from dicegym.cli.options import MACHINES, MachineOptions
from dicegym.cli.plot import plot
from dicegym.cli.progress import progress_bar
from dicegym.cli.tune import tune
from dicegym.errors import ParameterError


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
    run_dir: Annotated[Path, Argument(metavar="RUN_DIR", help="the folder of a training")],
    games: Annotated[int | None, Option(min=1, help="play N new games between each two members")] = None,
    machines: MachineOptions = MACHINES,
    trust: options.Trust = False,
) -> None:
    """Show who beat whom in a training's league.

    Its members are the past selves, agents and exploiters that the training played against. A training has them play
    few games: --games N lets those who are in its newest checkpoint play N new ones, each against each.

    Examples: dicegym runs league runs/liarsdice; dicegym runs league runs/liarsdice --games 10000 --workers 2
    """
    from dicegym.arena.report import show
    from dicegym.learning.league import read_league

    if games is None:
        if machines != MACHINES:
            raise ParameterError("--workers and --ray are about new games: give --games with them")
        if not (run_dir / "league.csv").is_file():
            raise ParameterError(f'{run_dir} has no league.csv: only a training against "self" writes it')
        table, shares = read_league(run_dir / "league.csv")
    else:
        from dicegym.learning.run_state import league_of

        executors = None if machines.ray is None and (machines.workers or 1) == 1 else machines.executors()
        found = league_of(run_dir, trust)
        with progress_bar("games") as progress:
            table, shares = found.measured_anew(games, executors, progress), found.shares()
    show(table.report(shares), out)


runs = group(
    "Plot, compare, rate and tune trainings.",
    plot=plot,
    card=card,
    league=league,
    tune=tune,
    settings=settings,
    compare=compare_runs,
)
