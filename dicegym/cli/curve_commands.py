"""Learning curves: pictures of them, and two trainings side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli.console import NO_FILES, Outputs, check_writable, err, out, print_lines, print_table
from dicegym.cli.shared_options import decisions
from dicegym.columns import clock
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.learning.run_curves import RunsSide


def plot(
    run_dirs: Annotated[
        list[Path],
        Argument(metavar="RUN_DIR|MODEL.zip...", help="folders of trainings, or folders that hold some; or models"),
    ],
    written: Annotated[Outputs, ".png", ".svg"] = NO_FILES,
    band: Annotated[
        str,
        Option(
            metavar="auto|interval|quartiles|range",
            help="band of seeds: 95 % interval of the interquartile mean, quartiles, or lowest to highest; auto: the "
            "interval from four seeds on",
        ),
    ] = "auto",
) -> None:
    """Plot the learning curves of trainings, seeds as a band.

    Runs that differ only in their seed are one line with a band; a folder of such runs means all of them.

    For a model's file, the curve is that of all trainings that made it, one after the other.

    Without --output the picture is curve.png in the one folder, or here; or MODEL.curve.svg beside the model.

    Examples: dicegym runs plot runs/hog; dicegym runs plot runs/* -o curves.svg; dicegym runs plot best.zip
    """
    from dicegym.learning.curve_pictures import check_picture, draw_runs, write_curves

    if written[".png"] and written[".svg"]:
        raise ParameterError("the curves are one picture: give --output once, .png or .svg")
    output = next(iter(written), None)
    models = [one for one in run_dirs if one.suffix == ".zip" and not one.is_dir()]
    if models:
        _plot_models(models, [one for one in run_dirs if one not in models], output)
        return
    from dicegym.learning.run_curves import find_runs

    runs, others = find_runs(run_dirs)
    one = runs[0].folder if len(runs) == 1 else run_dirs[0] if len(run_dirs) == 1 else Path()
    target = output or one / "curve.png"
    check_writable(target)
    check_picture(target)
    pictures = draw_runs(runs, band)
    for folder in others:
        err.print(f"dicegym: {folder} is left out: it holds no training")
    write_curves(list(pictures.values()), target)
    for (game, _), picture in pictures.items():
        print_table(["game", *picture.titles], [[game, *row] for row in picture.rows])
    out.print(f"wrote {target}")


def _plot_models(models: Sequence[Path], others: Sequence[Path], output: Path | None) -> None:
    """Plot how each of some models was learned."""
    from dicegym.learning.curve_pictures import SUFFIX, check_learned, check_picture, write_picture

    if others or (output is not None and len(models) > 1):
        raise ParameterError(
            f"{', '.join(map(str, others or models))}: each model's curve is a picture of its own: name folders "
            "without models, and models without folders; with --output one model alone"
        )
    for model in models:
        target = output or model.with_suffix(SUFFIX)
        check_writable(target)
        check_picture(target)
        write_picture(check_learned(model).with_legend(), target)
        out.print(f"wrote {target}")


def compare_runs(
    first: Annotated[Path, Argument(metavar="A", help="the folder of a training, or of its seeds")],
    second: Annotated[Path, Argument(metavar="B", help="the candidate: is it better?")],
    steps: Annotated[
        int | None,
        Option(parser=decisions, metavar="N", help="compare after N steps (default: the steps that all runs have)"),
    ] = None,
    score: Annotated[
        float | None, Option(help="show when runs reach this score (default: the lower of the final scores)")
    ] = None,
    written: Annotated[Outputs, ".json", ".png", ".svg"] = NO_FILES,
) -> None:
    """Test whether training B is better than training A.

    Compares the curves of their seeds: the difference with its interval, the settings that differ, and the steps and
    seconds that each took to reach a score.

    Examples: dicegym runs compare runs/hog5 runs/wide5 -o both.png; dicegym runs compare runs/a runs/b
    --score 0.7
    """
    from dicegym.learning.curve_pictures import check_picture, draw_experiments, write_curves
    from dicegym.learning.run_curves import ENOUGH
    from dicegym.learning.run_curves import compare_runs as compare

    pictures = [path for path in (written[".png"], written[".svg"]) if path is not None]
    for picture in pictures:
        check_picture(picture)
    found = compare(first, second, steps, score)
    out.print(f"{found.game}: {found.measure}, after {found.steps:,} steps")
    rows = [_row(letter, side) for letter, side in zip("AB", (found.a, found.b), strict=True)]
    titles = ["", "training", "runs", "middle", "lowest", "highest", f"reached {found.score:.4f}", "steps", "seconds"]
    print_table(titles, rows)
    above = found.above
    interval = "" if isnan(above.low) else f" [{above.low:.0%}, {above.high:.0%}]"
    print_lines(
        [
            f"difference of means, B - A: {found.mean} (Welch's interval over seeds)",
            f"difference of interquartile means: {found.iqm} (bootstrap over seeds, from {ENOUGH} a side)",
            f"a seed of B ends above one of A: {above.value:.0%}{interval}",
            found.verdict,
        ]
    )
    if found.differing:
        print_table(["setting", "A", "B"], [[name, _said(a), _said(b)] for name, (a, b) in found.differing.items()])
    else:
        out.print("no setting differs but seeds")
    written.json(found.to_json())
    for picture in pictures:
        write_curves([draw_experiments(found.experiments())], picture)
        out.print(f"wrote {picture}")


def _row(letter: str, side: RunsSide) -> list[str]:
    reached, scores = side.reached, (side.middle, side.scores.min(), side.scores.max())
    return [
        letter,
        side.name,
        str(len(side.runs)),
        *(f"{score:.4f}" for score in scores),
        f"{reached.runs} of {reached.of}",
        "-" if isnan(reached.steps) else f"{reached.steps:,.0f}",
        "-" if isnan(reached.seconds) else clock(reached.seconds),
    ]


def _said(value: object) -> str:
    return "-" if value is None else json.dumps(value)
