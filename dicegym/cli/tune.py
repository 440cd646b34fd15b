"""Searching for settings of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.console import out
from dicegym.cli.numbers import decisions
from dicegym.cli.options import ConfigName, GameName, Overrides, RunFolder, Seed, Trust
from dicegym.cli.progress import progress_bar


def tune(
    game: GameName,
    run_dir: RunFolder = None,
    trials: Annotated[int, typer.Option(min=1, help="trials in all, earlier ones included")] = 20,
    steps: Annotated[
        int, typer.Option(parser=decisions, metavar="N", help="decisions of the learner in each")
    ] = 1_000_000,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="SECTION.KEY={...}", help="search this setting, instead of the usual ones; repeatable"),
    ] = None,
    config: ConfigName = None,
    set_: Overrides = None,
    seed: Seed = None,
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
    where it was stopped. Several commands can work on one study at once. tune.md, best.toml and pictures in the folder
    say what was found.

    Examples: dicegym runs tune hog --trials 20 --steps 1000000; dicegym runs tune hog --run-dir runs/rates
    --search 'algorithm.learning_rate={low=1e-4, high=1e-2, log=true}'
    """
    from dicegym.learning.tune import BELIEVE, USUAL, command, ended, read_space, read_study, write_report
    from dicegym.learning.tune import tune as search_settings

    space = read_space(search) if search else USUAL
    folder = run_dir or Path("runs") / f"tune-{game}"
    if report:
        found = read_study(folder, storage, game)
    else:
        with progress_bar("trials") as progress:
            found = search_settings(
                game, folder, trials, steps, space, config, set_ or [], seed or 0, pruner, storage, trust, progress
            )
    written = write_report(found)
    out.print(f"{len(found.trials())} trials: {ended(found)}")
    if (best := found.best) is not None:
        out.print(f"best: trial {best.number}, {best.value:.4f}, with {', '.join(found.plan.settings(best))}")
        out.print(BELIEVE)
        out.print(f"  {command(found)}")
    out.print(f"wrote {', '.join(map(str, written))}")
