"""Searching for settings of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from dicegym.cli import options
from dicegym.cli.console import out
from dicegym.cli.numbers import decisions
from dicegym.cli.progress import progress_bar


def tune(
    game: options.GameName,
    run_dir: options.RunFolder = None,
    trials: Annotated[int, Option(min=1, help="trials in all, earlier ones included")] = 20,
    steps: Annotated[int, Option(parser=decisions, metavar="N", help="decisions of the learner in each")] = 1_000_000,
    search: Annotated[
        list[str] | None,
        Option(metavar="SECTION.KEY={...}", help="search this setting, instead of the usual ones; repeatable"),
    ] = None,
    config: options.ConfigName = None,
    set_: options.Overrides = None,
    seed: options.Seed = None,
    storage: Annotated[
        str, Option(metavar="URL", help="a database for several machines (default: a file in the folder)")
    ] = "",
    trust: options.Trust = False,
) -> None:
    """Search for settings with which a game is learned well.

    Each trial is a training; one that goes worse than half of those before it is given up. The same command goes on
    where it was stopped. Several commands can work on one study at once. tune.md and best.toml in the folder say what
    was found.

    Examples: dicegym runs tune hog --trials 20 --steps 1000000; dicegym runs tune hog --run-dir runs/rates
    --search 'algorithm.learning_rate={low=1e-4, high=1e-2, log=true}'
    """
    from dicegym.learning.tune import BELIEVE, USUAL, command, ended, write_report
    from dicegym.learning.tune import tune as search_settings

    folder, settings = run_dir or Path("runs") / f"tune-{game}", set_ or []
    with progress_bar("trials") as progress:
        found = search_settings(
            game,
            folder,
            trials,
            steps,
            search or USUAL,
            config,
            settings,
            seed or 0,
            storage=storage,
            trust=trust,
            progress=progress,
        )
    written = write_report(found)
    out.print(f"{len(found.trials())} trials: {ended(found)}")
    if (best := found.best) is not None:
        out.print(f"best: trial {best.number}, {best.value:.4f}, with {', '.join(found.plan.settings(best))}")
        out.print(BELIEVE)
        out.print(f"  {command(found)}")
    out.print(f"wrote {', '.join(map(str, written))}")
