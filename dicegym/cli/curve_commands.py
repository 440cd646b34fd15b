"""Pictures of learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument

from dicegym.cli.console import NO_FILES, Outputs, check_writable, err, out, print_table
from dicegym.errors import ParameterError


def plot(
    run_dirs: Annotated[
        list[Path],
        Argument(metavar="RUN_DIR|MODEL.zip...", help="folders of trainings, or folders that hold some; or models"),
    ],
    written: Annotated[Outputs, ".png", ".svg"] = NO_FILES,
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
    pictures = draw_runs(runs)
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
