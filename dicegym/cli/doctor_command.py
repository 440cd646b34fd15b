"""The command that checks the installation and measures its speed."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from dicegym.cli.console import NO_FILES, Outputs, err, out, print_table
from dicegym.errors import ParameterError

FORMS = "batch, make_vec, sb3, make, state, aec or parallel"
"""Written out so that the help loads no NumPy; a test compares it with `dicegym.bench.FORMS`."""


def doctor(
    forms: Annotated[list[str] | None, Argument(metavar="[FORM]...", help=f"with --bench: {FORMS}")] = None,
    bench: Annotated[bool, Option("--bench", help="measure the steps per second of the environments")] = False,
    games: Annotated[str, Option(metavar="GAME,...", help="with --bench: only these games")] = "",
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Check the installation, or measure its speed.

    Shows what works, what is missing, and what to do about it. Nothing is changed. The exit status is 0 unless an
    installed part does not work. --bench plays random legal actions on one thread, and shows the median of five rounds.

    Examples: dicegym doctor; dicegym doctor --bench make aec --games hog
    """
    if not bench:
        if forms or games:
            raise ParameterError("forms and --games need --bench: add it")
        _examine(written)
        return
    from dicegym.bench import run_bench

    named = [name for name in games.split(",") if name]
    result = run_bench(forms or (), named, progress=err.print)
    out.print(" | ".join(f"{name} {value}" for name, value in result.machine.items()))
    print_table(*result.table())
    for form, why in result.skipped.items():
        err.print(f"not measured: {form}: {why}")
    written.json(result.to_json())


def _examine(written: Outputs) -> None:
    """Print the state of the installation. Raises Exit(1) if an installed part does not work."""
    from dicegym.doctor import BROKEN, LACKING, OK, examine

    found = examine()
    written.json([one._asdict() for one in found])
    for one in sorted(found, key=lambda one: one.state == OK):
        out.print(f"{one.state:<8} {f'{one.topic} {one.name}'.strip()}: {one.words}")
        if one.advice:
            out.print(f"{'':<8}   {one.advice}")
    broken, lacking = (sum(one.state == state for one in found) for state in (BROKEN, LACKING))
    out.print(f"{len(found) - broken - lacking} in order, {lacking} missing, {broken} broken")
    if broken:
        err.print("dicegym: an installed part does not work, see above")
        raise typer.Exit(1)
