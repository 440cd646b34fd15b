"""Searching for settings of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import GameName, Trust, out, print_table, progress_bar
from dicegym.cli.numbers import decisions
from dicegym.errors import ParameterError


def tune(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the study's folder (default: runs/tune-GAME)")] = None,
    trials: Annotated[int, typer.Option(min=1, help="how many in all, of what is there already too")] = 20,
    steps: Annotated[
        int, typer.Option(parser=decisions, metavar="N", help="decisions of the learner in each")
    ] = 1_000_000,
    space: Annotated[Path | None, typer.Option(help="a TOML file that says what is searched")] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="SECTION.KEY={...}", help="search this setting, instead of the usual ones; repeatable"),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="settings (default: training/configs/GAME.toml)")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="a setting of all trials; repeatable")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="runs of each trial, whose mean counts")] = 1,
    seed: Annotated[int, typer.Option(help="of what is tried; runs have the seed that their settings say")] = 0,
    pruner: Annotated[
        str, typer.Option(metavar="median|halving|none", help="when a trial that goes badly is given up")
    ] = "median",
    storage: Annotated[
        str, typer.Option(metavar="URL", help="a database for several machines (default: a file in the folder)")
    ] = "",
    report: Annotated[bool, typer.Option("--report", help="try nothing: write the report of what is there")] = False,
    trust: Trust = False,
) -> None:
    """Search for settings with which a game is learned well.

    Each trial is a training; one that goes worse than half of those before it is given up. The same command goes on
    where it was stopped, several of them work on one study at once. tune.md, tune.json, tune.png and best.toml in
    the folder say what was found.

    Examples: dicegym tune hog --trials 20 --steps 1000000; dicegym tune hog --run-dir runs/rates
    --search 'algorithm.learning_rate={low=1e-4, high=1e-2, log=true}'
    """
    from dicegym.learning.tuning.space import given_space, read_space
    from dicegym.learning.tuning.study import read_study
    from dicegym.learning.tuning.study import tune as search_settings

    if space is not None and search:
        raise ParameterError("--space and --search both say what is searched: write all of it into the file")
    searched = read_space(space) if space is not None else given_space(search) if search else None
    folder = run_dir or Path("runs") / f"tune-{game}"
    if report:
        found = read_study(folder, storage, game)
    else:
        with progress_bar("trials") as progress:
            found = search_settings(
                game,
                folder,
                trials,
                steps,
                searched,
                config,
                set_ or [],
                seeds,
                seed,
                pruner,
                storage,
                trust,
                progress,
            )
    from dicegym.learning.tuning.report import best_settings, command, counts, importances, write_report

    written = write_report(found)
    ended = ", ".join(f"{count} {word}" for word, count in counts(found).items() if count)
    out.print(f"{len(found.trials)} trials: {ended or 'none is over'}")
    if importance := importances(found):
        print_table(["setting", "decided"], [[name, f"{share:.0%}"] for name, share in importance.items()])
    if found.best is not None:
        out.print(f"best: trial {found.best.number}, {found.best.value:.4f}, with {', '.join(best_settings(found))}")
        out.print("The best of many is partly lucky: train with its settings and other seeds before you believe it:")
        out.print(f"  {command(found)}")
    out.print(f"wrote {', '.join(map(str, written))}")
