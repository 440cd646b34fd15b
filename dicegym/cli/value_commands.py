"""Commands about what states, actions and agents are worth."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, err, out, print_lines, print_table
from dicegym.cli.exploitability_command import exploitability
from dicegym.cli.progress import progress_bar
from dicegym.cli.state_commands import analyse, grade, hint
from dicegym.errors import ParameterError


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
    written: Annotated[Outputs, ".json", ".html"] = NO_FILES,
) -> None:
    """Grade language models by regret, in all games.

    A score of 100 is the best known play, 0 is random play. Any agent that plays every game can be graded.

    Example: dicegym values suite 'llm(qwen3:8b, base_url=http://localhost:11434/v1)' -o grade.html
    """
    from dicegym.analysis import grades

    with progress_bar("games") as progress:
        found = grades.suite(agents, situations=situations, matches=matches, seed=seed or 0, progress=progress)
    print_table(*grades.suite_table(found))
    print_lines(dict.fromkeys(f"{one.game}: values of source {one.values}" for one in found))
    written.json(grades.suite_facts(found, seed or 0))
    if written[".html"]:
        from dicegym.arena.pages.suite_page import write_page

        written.html(lambda page: write_page(found, page))


def solve(
    game: Annotated[
        str | None,
        Argument(
            metavar="[GAME]",
            help="a game (default: list what can be solved)",
            autocompletion=shared_options.complete_game,
        ),
    ] = None,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="the solution, where a game has several")] = None,
    parameter: shared_options.Parameters = None,
    to: Annotated[
        float | None, Option(min=0, metavar="QUALITY", help="stop at this quality (default: the solution's own)")
    ] = None,
    minutes: Annotated[float | None, Option(help="stop after this time, at any quality")] = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute the tables that solve a game, and store them.

    Values, hints and analyses then use them. The same command continues an interrupted solution. Without a game it
    lists what can be solved, and how far that is.

    Examples: dicegym values solve; dicegym values solve liarsdice -p dice=2 --minutes 9
    """
    from dicegym.analysis import solving
    from dicegym.games.solved import how_to_solve

    if game is None:
        if parameter or to is not None or minutes is not None:
            raise ParameterError("no game is named: `dicegym values solve` lists what can be solved")
        games = solving.solvable_games()
        states = [solving.status(one, solution.name) for one in games for solution in solving.solutions(one)]
        for one in states:
            print_lines(
                [how_to_solve(one.game, one.name), *(f"    {line}" for line in (one.doc, one.needs, one.state))]
            )
        written.json([one.as_json() for one in states])
        return
    asked = solving.status(shared_options.make_game(game, parameter), name)
    better = "; for a better one give --to" if asked.measure else ""
    takes = f"{asked.name} of {asked.game!r}: {asked.doc}; it takes {asked.needs}"
    err.print(f"dicegym: {f'solved already, nothing is computed{better}' if asked.reaches(to) else takes}")
    with progress_bar("steps") as progress:
        result = solving.solve(asked.game, asked.name, goal=to, minutes=minutes, progress=progress)
    print_lines([f"{result.name} of {result.game!r}: {result.state}", f"kept in {result.folder}"])
    written.json(result.as_json())


def verify(
    games: Annotated[list[str] | None, Argument(metavar="[GAME]...", help="these games alone")] = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute every published value anew, and compare.

    Values that rest on tables of `dicegym values solve` are skipped where these are not on this machine. The status is
    1 if a value is wrong.

    Example: dicegym values verify
    """
    from dicegym.learning.published_values import verify as verdicts

    found = list(verdicts(games or (), err.print))
    rows = [
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
    ]
    print_table(["Game", "Value", "Published", "Found", "+-", "Verdict", "Seconds", "Source"], rows)
    print_lines(f"{one.word}: {one.game}, {one.claim.what}: {one.remark}" for one in found if one.remark)
    wrong = sum(not one.holds for one in found)
    out.print(f"{len(found)} values, {sum(one.found is not None for one in found)} computed, {wrong} wrong")
    written.json([one.to_json() for one in found])
    if wrong:
        raise typer.Exit(1)


values = group(
    "Compute hints, regret and exploitability, and solve games.",
    hint=hint,
    analyse=analyse,
    grade=grade,
    suite=suite,
    exploitability=exploitability,
    solve=solve,
    verify=verify,
)
