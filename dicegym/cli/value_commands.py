"""Commands about values: grades of language models, solutions, published values, exploitability."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, err, out, print_lines, print_table
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import decisions
from dicegym.cli.state_commands import analyse, grade, hint
from dicegym.errors import ParameterError
from dicegym.escape import one_line

SELF = "self"
"""The value of ``--from`` for the agent's own networks."""

SUITE_HEADING = (
    "A score of 100 is the best known play, 0 is random play. Intervals are 95 %. Regret counts legal answers only; "
    "unreadable and illegal answers are counted separately."
)


def suite(
    agents: shared_options.Agents,
    situations: Annotated[int | None, Option(min=2, metavar="N", help="situations of each game")] = None,
    matches: Annotated[int | None, Option("--games", min=1, metavar="N", help="games of each game")] = None,
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
    titles, rows = grades.suite_table(found)
    sources = list(dict.fromkeys((one.game, f"values of source {one.values}") for one in found))
    print_table(titles, rows)
    print_lines(": ".join(one) for one in sources)
    written.json(grades.suite_facts(found, seed or 0))
    if written[".html"]:
        from dicegym.arena.pages.contest_page import ContestPage, write_page
        from dicegym.arena.report import Report

        report = Report(SUITE_HEADING, [("Grades", titles, rows)], facts=sources)
        written.html(lambda path: write_page(ContestPage("Language models, graded", report), path))


def solve(
    game: shared_options.SomeGame = None,
    parameter: shared_options.Parameters = None,
    to: Annotated[float | None, Option(min=0, metavar="QUALITY", help="stop at this quality")] = None,
    minutes: Annotated[float | None, Option(help="stop after this time, at any quality")] = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute the tables that solve a game, and store them.

    Values, hints and analyses then use them. An interrupted solution keeps its best tables so far. Without a game, the
    command lists what can be solved, and its state.

    Examples: dicegym values solve; dicegym values solve liarsdice -p dice=2 --minutes 9
    """
    from dicegym.analysis import solving
    from dicegym.games.solved import how_to_solve

    if game is None:
        if parameter or to is not None or minutes is not None:
            raise ParameterError("the options need a game: `dicegym values solve` lists what can be solved")
        states = [solving.status(one) for one in solving.solvable_games()]
        for one in states:
            print_lines([how_to_solve(one.game), *(f"    {line}" for line in (one.doc, one.needs, one.state))])
        written.json([one.as_json() for one in states])
        return
    asked = solving.status(shared_options.make_game(game, parameter))
    again = "solved already, nothing is computed; give --to for a better solution"
    err.print(f"dicegym: {again if asked.reaches(to) else f'{asked.game!r}: {asked.doc}; it needs {asked.needs}'}")
    with progress_bar("steps") as progress:
        result = solving.solve(asked.game, goal=to, minutes=minutes, progress=progress)
    print_lines([f"{result.game!r}: {result.state}", f"kept in {result.folder}"])
    written.json(result.as_json())


def verify(
    games: Annotated[list[str] | None, Argument(metavar="[GAME]...", help="only these games")] = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute every published value again, and compare.

    Values that need missing tables of `dicegym values solve` are skipped. The status is 1 if a value is wrong.

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


def exploitability(
    game: shared_options.GameName,
    agents: shared_options.Agents,
    seconds: Annotated[float, Option(metavar="N", help="search time for each agent")] = 60.0,
    steps: Annotated[int | None, Option(parser=decisions, metavar="N", help="train a response for N decisions")] = None,
    start: Annotated[str, Option("--from", metavar="MODEL", help="start from a model's networks, or `self`")] = "",
    seed: shared_options.Seed = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Compute how often a best response to an agent wins.

    0.5 is optimal: no response beats an equilibrium. The result is exact where the game is solved. Elsewhere it is two
    bounds from a search, or the win rate of a trained response (--steps) at a table with copies of the agent.

    Examples: dicegym values exploitability hog swap best_by_scores; dicegym values exploitability lucky ppo
    --steps 1000000 --from self
    """
    table = shared_options.make_game(game, parameter)
    players = [dicegym.agent(table, name) for name in agents]
    names = [player.name for player in players]
    if len(set(names)) < len(names):
        names = [one_line(agent) for agent in agents]
    if steps is None:
        if start:
            raise ParameterError("--from needs a trained best response: add --steps N")
        facts = _search(table, dict(zip(names, players, strict=True)), seconds)
    else:
        how = {"steps": steps, "seed": seed or 0}
        facts = _train(table, dict(zip(names, agents, strict=True)), start, how)
    written.json(shared_options.about(table) | {"exploitability": facts})


def _search(table: dicegym.Game, players: dict[str, dicegym.Player], seconds: float) -> dict[str, Any]:
    """Search for responses to each agent, and print the bounds."""
    from dicegym.analysis.exploitability import exploitability as bracket

    with progress_bar("steps") as progress:
        found = {name: bracket(one, table, seconds=seconds, progress=progress) for name, one in players.items()}
    out.print(f"{table.spec.title}: how often the best response wins, at least and at most (0.5: not exploitable)")
    print_table(["agent", "low", "high"], [[name, f"{one.low:.4f}", f"{one.high:.4f}"] for name, one in found.items()])
    for how in dict.fromkeys(one.how for one in found.values()):
        out.print(f"{', '.join(name for name, one in found.items() if one.how == how)}: {how}.")
    return {name: one._asdict() for name, one in found.items()}


def _train(table: dicegym.Game, agents: dict[str, str], start: str, how: dict[str, Any]) -> dict[str, Any]:
    """Train a response to each agent, and print its win rate."""
    from dicegym.learning.approximate_best_response import best_response
    from dicegym.players.roster import resolve

    origins = {name: resolve(table, agent) for name, agent in agents.items()}
    if start == SELF and not all(isinstance(one, Path) for one in origins.values()):
        raise ParameterError("--from self starts from the agent's own networks, and a bot has none: leave it out")
    facts: dict[str, Any] = {}
    for name, origin in origins.items():
        target = str(origin) if isinstance(origin, Path) else agents[name]
        with progress_bar("steps") as progress:
            begin = target if start == SELF else start
            found = best_response(table, target, start=begin, progress=progress, **how)
        out.print(f"{name}: {found.words()}")
        facts[name] = {"trained": found.to_json()}
    return facts


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
