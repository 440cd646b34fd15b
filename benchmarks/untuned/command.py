"""Curves of all environments, with nothing tuned."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.console import NO_FILES, Outputs, out, print_table
from dicegym.cli.progress import progress_bar
from dicegym.errors import unknown_name
from dicegym.files import write_text
from dicegym.signals import going_on


def curves(
    run_dir: Annotated[Path, typer.Option(help="the folder of the curves; what it holds is not learned again")] = Path(
        "runs/curves"
    ),
    minutes: Annotated[float, typer.Option(help="processor time of each curve")] = 5.0,
    seeds: Annotated[int, typer.Option(min=1, help="curves of each way in each environment")] = 5,
    environments: Annotated[str, typer.Option(metavar="ID,...", help="these alone, such as Hog-v0,Lucky-v0")] = "",
    ways: Annotated[
        str, typer.Option(metavar="WAY,...", help="single, batch, fast: who learns (default: all that there are)")
    ] = "",
    written: Annotated[Outputs, ".json", ".md", ".png", ".svg"] = NO_FILES,
    against: Annotated[
        str, typer.Option(metavar="MEASURE", help="minutes or steps: what the picture shows results over")
    ] = "minutes",
    only_draw: Annotated[bool, typer.Option("--only-draw", help="learn nothing: draw what is there")] = False,
) -> None:
    """Draw how every environment is learned with nothing tuned.

    Stable-Baselines3's MaskablePPO with its own settings, and the same in batches, learn each registered environment
    against a clock, by several seeds, on one thread. The same command goes on where it was stopped; two of them share
    the work by --environments and a --run-dir each. The picture is curves.png in the folder, unless --output names
    another one.

    Example: python -m benchmarks curves --minutes 5 --seeds 5

    Example: python -m benchmarks curves --only-draw --against steps -o docs/curves_steps.png
    """
    from benchmarks.chart import check_picture
    from benchmarks.untuned.folder import learn_all, read_all
    from benchmarks.untuned.page import MEASURES, PURPOSE, TITLES, draw, markdown, rows

    if against not in MEASURES:  # before hours of learning
        raise unknown_name("measure", against, list(MEASURES))
    target = written[".png"] or written[".svg"] or run_dir / "curves.png"
    check_picture(target, PURPOSE)
    if not only_draw:
        options = f"--run-dir {shlex.quote(str(run_dir))} --minutes {minutes:g} --seeds {seeds}"
        again = f"`python -m benchmarks curves {options}` goes on"
        with going_on(again), progress_bar("seconds") as progress:
            learn_all(run_dir, seeds, minutes, _several(environments), _several(ways), progress)
    found = read_all(run_dir)
    draw(found, target, against)
    measured = rows(found)
    print_table(TITLES, [row.cells() for row in measured])
    if (table := written[".md"]) is not None:
        write_text(table, markdown(found))
    written.json([row._asdict() for row in measured])
    out.print(f"wrote {target}")


def _several(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]
