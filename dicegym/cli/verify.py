"""The command that computes every published value anew."""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.console import NO_FILES, Outputs, err, out, print_table


def verify(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="these games alone")] = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute every published value anew, and compare.

    Values that rest on tables of `dicegym values solve` are skipped where these are not on this machine. The status is
    1 if a value is wrong.

    Example: dicegym values verify
    """
    from dicegym.learning.published_values import verify as verdicts

    found = list(verdicts(games or (), err.print))
    titles = ["Game", "Value", "Published", "Found", "+-", "Verdict", "Seconds", "Source"]
    print_table(
        titles,
        [
            [
                one.game,
                one.claim.what,
                f"{one.claim.value:.12g}",
                "-" if one.found is None else f"{one.found:.12g}",
                f"{one.claim.tolerance:.1g}",
                one.word,
                f"{one.seconds:.1f}",
                one.claim.source,
            ]
            for one in found
        ],
    )
    for one in found:
        if one.remark:
            out.print(f"{one.word}: {one.game}, {one.claim.what}: {one.remark}")
    wrong = sum(not one.holds for one in found)
    out.print(f"{len(found)} values, {sum(one.found is not None for one in found)} computed, {wrong} wrong")
    written.json([one.to_json() for one in found])
    if wrong:
        raise typer.Exit(1)
