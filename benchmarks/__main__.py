"""Measure what `dicegym doctor --bench` does not: by `python -m benchmarks COMMAND`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.modes import listed
from benchmarks.untuned.command import curves
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, err, out
from dicegym.cli.ending import run_to_the_end
from dicegym.errors import ParameterError
from dicegym.files import write_text


def measure(
    modes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODE]...", help="what to measure, or `all` (default: all but the long ones)"),
    ] = None,
    games: Annotated[str, typer.Option(metavar="GAME,...", help="these games alone")] = "",
    seconds: Annotated[float, typer.Option(help="how long each loop runs")] = 0.5,
    repeats: Annotated[int, typer.Option(min=1, help="runs of each loop; the median is shown")] = 5,
    threads: Annotated[str, typer.Option(metavar="NUMBER,...", help="large batches on so many threads too")] = "1",
    written: Annotated[Outputs, ".json", ".md", ".png", ".svg"] = NO_FILES,
    from_file: Annotated[
        Path | None, typer.Option("--from", help="measure nothing: show the figures of a .json file")
    ] = None,
    beside: Annotated[
        Path | None, typer.Option(metavar="FILE", help="show the figures of another version, a .json file, beside")
    ] = None,
) -> None:
    """Measure everything on this machine, beside other libraries.

    Of these, whichever are installed; medians, with machine and versions. A .md file holds the tables, a picture the
    speeds.

    Example: python -m benchmarks measure --games hog

    Example: python -m benchmarks measure contest --games hog --beside before.json

    Example: python -m benchmarks measure training --games liarsdice --threads 1,2
    """
    from benchmarks.chart import check_chart, draw
    from benchmarks.options import Options
    from benchmarks.report import markdown, plain
    from benchmarks.result import BenchResult
    from benchmarks.run import run_bench

    numbers = threads.split(",")
    if not all(number.isdigit() for number in numbers):
        raise ParameterError(f"--threads {threads!r} cannot be read: give whole numbers, such as 1,2")
    named = tuple(name for name in games.split(",") if name)
    options = Options(tuple(modes or ()), named, seconds, repeats, tuple(map(int, numbers))).check()
    chart = written[".png"] or written[".svg"]
    if chart is not None:
        check_chart(chart)
    before = None if beside is None else BenchResult.read(beside)
    result = run_bench(options, progress=err.print) if from_file is None else BenchResult.read(from_file)
    out.print(plain(result, before))
    written.json(result.to_json())
    if (table := written[".md"]) is not None:
        write_text(table, markdown(result, before))
    if chart is not None:
        draw(result, chart)


def learners(
    seeds: Annotated[int, typer.Option(min=2, help="trainings of each learner on each environment")] = 5,
    written: Annotated[Outputs, ".json", ".md"] = NO_FILES,
) -> None:
    """Compare FastMaskablePPO with MaskablePPO on CartPole, connect four and all games: speed and learning curves.

    Speeds are steps a second of processor time, on one thread.

    Example: python -m benchmarks learners --seeds 5 -o learners.md
    """
    from benchmarks.learners import compare_all, table

    rows = compare_all(seeds, err.print)
    out.print(table(rows))
    written.json(rows)
    if (markdown := written[".md"]) is not None:
        write_text(markdown, table(rows) + "\n")


# For the help: a paragraph with a line for each mode, which must not be filled.
measure.__doc__ = f"{measure.__doc__}\n\n\b\nModes:\n{listed()}"

app = group("Measure what `dicegym doctor --bench` does not.", measure=measure, curves=curves, learners=learners)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; mistakes of the user end as one line on standard error and status 2."""
    run_to_the_end(lambda: app(arguments), "benchmarks")


if __name__ == "__main__":
    main()
