"""Pictures of learning curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import check_writable, err, out, print_table


def plot(
    run_dirs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="folders of trainings, or folders that hold some")
    ],
    output: Annotated[
        Path | None, typer.Option(help="the picture, .png or .svg (default: curve.png in the one folder, or here)")
    ] = None,
) -> None:
    """Draw the curves of trainings, seeds as a band.

    Runs that differ in their seed alone are one line, with a band from the lowest to the highest of them.

    Examples: dicegym plot runs/hog; dicegym plot runs/* --output curves.svg
    """
    from dicegym.learning.curves import experiments, find_runs
    from dicegym.learning.pictures import check_picture
    from dicegym.learning.plot import PURPOSE, draw_curves

    runs, others = find_runs(run_dirs)
    target = output or (runs[0].folder if len(runs) == 1 else Path()) / "curve.png"
    check_writable(target)
    check_picture(target, PURPOSE)
    for folder in others:
        err.print(f"dicegym: {folder} is left out: it holds no training")
    draw_curves(runs, target)
    rows = []
    for game, players in dict.fromkeys((run.game, run.players) for run in runs):
        of_game = [run for run in runs if (run.game, run.players) == (game, players)]
        for group in experiments(of_game):
            steps, mean, low, high = group.band("score")
            best = int(mean.argmax())
            seeds = [game, group.label, str(len(group.runs))]
            rows.append([*seeds, f"{mean[best]:.4f}", f"{low[best]:.4f} - {high[best]:.4f}", f"{steps[best]:,}"])
    print_table(["game", "what", "runs", "best mean score", "lowest - highest", "at steps"], rows)
    out.print(f"wrote {target}")
