"""`dicegym values suite`: a grade of language models in all games."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_table
from dicegym.cli.progress import progress_bar


def suite(
    agents: Annotated[
        list[str], Argument(metavar="AGENT...", help="agents to grade, such as 'llm(MODEL, base_url=URL)'")
    ],
    situations: Annotated[
        int | None, Option(min=2, metavar="N", help="situations of each game (default: 100; 20 by rollouts)")
    ] = None,
    matches: Annotated[
        int | None, Option("--games", min=1, metavar="N", help="games of each game (default: 20; 4 by rollouts)")
    ] = None,
    seed: shared_options.Seed = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Grade language models by regret, in all games.

    A score of 100 is the best known play, 0 is random play. Any agent that plays every game can be graded.

    Example: dicegym values suite 'llm(qwen3:8b, base_url=http://localhost:11434/v1)' -o grade.json
    """
    from dicegym.analysis import model_suite

    with progress_bar("games") as progress:
        found = model_suite.suite(agents, situations=situations, matches=matches, seed=seed or 0, progress=progress)
    print_table(*model_suite.suite_table(found))
    for one in dict.fromkeys(f"{one.game}: values of source {one.values}" for one in found):
        out.print(one)
    written.json(model_suite.suite_facts(found, seed or 0))
