"""Tables that are solved once, on the user's machine, and kept."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, err, out, print_lines
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError


def solve(
    game: Annotated[
        str | None,
        Argument(
            metavar="[GAME]",
            help="a game's name (with --list: default all)",
            autocompletion=shared_options.complete_game,
        ),
    ] = None,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="the solution, where a game has several")] = None,
    parameter: shared_options.Parameters = None,
    to: Annotated[
        float | None, Option(min=0, metavar="QUALITY", help="stop at this quality (default: the solution's own)")
    ] = None,
    minutes: Annotated[float | None, Option(help="stop after this time, at any quality")] = None,
    listing: Annotated[bool, Option("--list", help="list what can be solved, and its state")] = False,
    remove: Annotated[bool, Option("--remove", help="remove its tables instead")] = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Compute the tables that solve a game, and store them.

    Values, hints and analyses then use them. The same command continues an interrupted solution.

    Examples: dicegym values solve --list; dicegym values solve liarsdice --minutes 9
    """
    from dicegym.analysis import solving

    if game is None and (not listing or parameter):
        raise ParameterError("no game is named: `dicegym values solve --list` shows what can be solved")
    if listing and name is not None:
        raise ParameterError(f"--list shows all solutions of a game: leave out {name!r}")
    if listing and remove:
        raise ParameterError("--list and --remove are two things: do one at a time")
    for option, value in (("--to", to), ("--minutes", minutes)) if listing or remove else ():
        if value is not None:
            other = "--list" if listing else "--remove"
            raise ParameterError(f"{option} {value} is for solving: leave it out, or {other}")
    if listing:
        _list(game, parameter, written)
        return
    chosen = shared_options.make_game(str(game), parameter)
    if remove:
        size = solving.remove(chosen, name)
        out.print(f"removed {size:,} bytes" if size else "there was nothing to remove")
        return
    asked = solving.status(chosen, name)
    better = "; for a better one give --to" if asked.measure else ""
    takes = f"{asked.name} of {asked.game!r}: {asked.doc}; it takes {asked.needs}"
    err.print(f"dicegym: {f'solved already, nothing is computed{better}' if asked.reaches(to) else takes}")
    with progress_bar("steps") as progress:
        result = solving.solve(chosen, asked.name, goal=to, minutes=minutes, progress=progress)
    print_lines([f"{result.name} of {result.game!r}: {result.state}", f"kept in {result.folder}"])
    written.json(result.as_json())


def _list(game: str | None, parameter: list[str] | None, written: Outputs) -> None:
    """Print what can be solved: the command, what it is, what it takes and how far it is."""
    from dicegym.analysis import solving
    from dicegym.games.solved import how_to_solve

    games = solving.solvable_games() if game is None else [shared_options.make_game(game, parameter)]
    found = [solving.status(one, solution.name) for one in games for solution in solving.solutions(one)]
    if not found:
        solving.solution(games[0])  # says why
    for number, one in enumerate(found):
        print_lines([""] * bool(number) + [how_to_solve(one.game, one.name)])
        print_lines(f"    {line}" for line in (one.doc, one.needs, one.state))
    written.json([one.as_json() for one in found])
