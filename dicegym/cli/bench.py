"""Speed on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.common import JsonFile, check_writable, err, out, print_table, write_json

FORMS = "batch, make_vec, sb3, make, state, aec or parallel"
"""Told by the help, which loads no NumPy; a test compares it with `dicegym.bench.FORMS`."""


def bench(
    forms: Annotated[list[str] | None, typer.Argument(metavar="[FORM]...", help=f"{FORMS} (default: all)")] = None,
    games: Annotated[str, typer.Option(metavar="GAME,...", help="these games alone")] = "",
    seconds: Annotated[float, typer.Option(help="how long each loop runs in a round")] = 0.5,
    repeats: Annotated[int, typer.Option(min=1, help="rounds; the median is shown")] = 5,
    json_file: JsonFile = None,
) -> None:
    """Measure steps a second of every form of the environments.

    Loops play random legal actions on one thread, one after the other in each round.

    Example: dicegym bench make aec --games hog
    """
    from dicegym.bench import run_bench

    check_writable(json_file)
    named = [name for name in games.split(",") if name]
    result = run_bench(forms or (), named, seconds, repeats, err.print)
    out.print(" | ".join(f"{name} {value}" for name, value in result.machine.items()))
    print_table(*result.table())
    for form, why in result.skipped.items():
        err.print(f"not measured: {form}: {why}")
    write_json(json_file, result.to_json())
