"""Tables that are solved once, on the user's machine, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dicegym.cli.console import err, out, write_json
from dicegym.cli.options import Outputs, Parameters, chosen_game, complete_game, output
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError
from dicegym.games.solved import how_to_solve

if TYPE_CHECKING:
    from dicegym.analysis.solving import SolutionStatus


def solve(
    game: Annotated[
        str | None,
        typer.Argument(metavar="[GAME]", help="a game's name (with --list: default all)", autocompletion=complete_game),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="which of its solutions, if it has several")
    ] = None,
    parameter: Parameters = None,
    to: Annotated[
        float | None, typer.Option(metavar="QUALITY", help="go on until this is reached (default: the solution's own)")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="end after so many, whatever was reached")] = None,
    listing: Annotated[bool, typer.Option("--list", help="show what can be solved, and how far it is")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="remove its tables instead")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="start with less memory or disk than it takes, too")] = False,
    files: Annotated[list[Path] | None, output(".json")] = None,
) -> None:
    """Solve what can be solved in minutes, and keep the tables.

    Values, hints and analyses find them then. What was stopped goes on where it was.

    Examples: dicegym values solve --list; dicegym values solve hog --minutes 1
    """
    from dicegym.analysis import solving

    json_file = Outputs(files, ".json")[".json"]
    _check(game, name, parameter, listing, remove, {"--to": to, "--minutes": minutes})
    if listing:
        games = solving.solvable_games() if game is None else [chosen_game(game, parameter)]
        found = [solving.status(one, solution.name) for one in games for solution in solving.solutions(one)]
        if not found:
            solving.solution(games[0])  # says why
        _show(found)
        write_json(json_file, [one.as_json() for one in found])
        return

    chosen = chosen_game(str(game), parameter)
    if remove:
        size = solving.remove(chosen, name)
        out.print(f"removed {size:,} bytes" if size else "there was nothing to remove")
        return
    asked = solving.status(chosen, name)
    better = "; for a better one give --to" if asked.measure else ""
    takes = f"{asked.name} of {asked.game!r}: {asked.doc}; it takes {asked.needs}"
    err.print(f"dicegym: {f'solved already, nothing is computed{better}' if asked.reaches(to) else takes}")
    with progress_bar("steps") as progress:
        result = solving.solve(chosen, asked.name, goal=to, minutes=minutes, force=yes, progress=progress)
    out.print(f"{result.name} of {result.game!r}: {result.state}")
    out.print(f"kept in {result.folder}")
    write_json(json_file, result.as_json())


def _show(found: list[SolutionStatus]) -> None:
    """Print what can be solved: the command, what it is, what it takes and how far it is."""
    for number, one in enumerate(found):
        if number:
            out.print()
        out.print(how_to_solve(one.game, one.name))
        for line in (one.doc, one.needs, one.state):
            out.print(f"    {line}")


def _check(
    game: str | None,
    name: str | None,
    parameter: list[str] | None,
    listing: bool,
    remove: bool,
    work: dict[str, object],
) -> None:
    """Raise ParameterError if the arguments of `solve` ask two things at once, or miss one."""
    if game is None and (not listing or parameter):
        raise ParameterError("no game is named: `dicegym values solve --list` shows what can be solved")
    if listing and name is not None:
        raise ParameterError(f"--list shows all solutions of a game: leave out {name!r}")
    if listing and remove:
        raise ParameterError("--list and --remove are two things: do one at a time")
    if listing or remove:
        for option, value in work.items():
            if value is not None:
                raise ParameterError(
                    f"{option} {value} is for solving: leave it out, or --{'list' if listing else 'remove'}"
                )
