"""Two trainings side by side."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out, print_table, write_json
from dicegym.cli.numbers import decisions
from dicegym.columns import clock

if TYPE_CHECKING:
    from dicegym.learning.comparing_runs import RunsSide


def compare_runs(
    first: Annotated[Path, Argument(metavar="A", help="the folder of a training, or of its seeds")],
    second: Annotated[Path, Argument(metavar="B", help="the other one: is it better?")],
    steps: Annotated[
        int | None,
        Option(parser=decisions, metavar="N", help="compare after so many (default: as far as every run came)"),
    ] = None,
    score: Annotated[
        float | None, Option(help="tell when this was reached (default: the lower of what both ended with)")
    ] = None,
    written: Annotated[Outputs, ".json", ".png", ".svg"] = NO_FILES,
) -> None:
    """Say whether training B came further than training A.

    By the curves of their seeds: the difference with its interval, the settings that differ, and how many steps and
    seconds each took to reach a score.

    Examples: dicegym runs compare runs/hog5 runs/wide5 -o both.png; dicegym runs compare runs/a runs/b
    --score 0.7
    """
    from dicegym.learning.comparing_runs import compare_runs as compare
    from dicegym.learning.curve_pictures import check_picture, draw_experiments, write_curves
    from dicegym.learning.curves import ENOUGH

    pictures = [path for path in (written[".png"], written[".svg"]) if path is not None]
    for picture in pictures:
        check_picture(picture)
    found = compare(first, second, steps, score)
    out.print(f"{found.game}: {found.measure}, after {found.steps:,} steps")
    rows = [_row(letter, side) for letter, side in zip("AB", (found.a, found.b), strict=True)]
    titles = ["", "training", "runs", "middle", "lowest", "highest", f"reached {found.score:.4f}", "steps", "seconds"]
    print_table(titles, rows)
    out.print(f"difference of means, B - A: {found.mean} (Welch's interval over seeds)")
    out.print(f"difference of interquartile means: {found.iqm} (bootstrap over seeds, from {ENOUGH} a side)")
    above = found.above
    interval = "" if isnan(above.low) else f" [{above.low:.0%}, {above.high:.0%}]"
    out.print(f"a seed of B ends above one of A: {above.value:.0%}{interval}")
    out.print(found.verdict)
    if found.differing:
        print_table(["setting", "A", "B"], [[name, _said(a), _said(b)] for name, (a, b) in found.differing.items()])
    else:
        out.print("no setting differs but seeds")
    write_json(written[".json"], found.to_json())
    for picture in pictures:
        write_curves([draw_experiments(found.experiments())], picture)
        out.print(f"wrote {picture}")


def _row(letter: str, side: RunsSide) -> list[str]:
    reached = side.reached
    return [
        letter,
        side.name,
        str(len(side.runs)),
        f"{side.middle:.4f}",
        f"{side.scores.min():.4f}",
        f"{side.scores.max():.4f}",
        f"{reached.runs} of {reached.of}",
        "-" if isnan(reached.steps) else f"{reached.steps:,.0f}",
        "-" if isnan(reached.seconds) else clock(reached.seconds),
    ]


def _said(value: object) -> str:
    return "-" if value is None else json.dumps(value)
