"""Tables that are solved once, on the user's machine, and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import err, out, write_json
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.analysis.solving import SolutionStatus


def solve(
    game: Annotated[
        str | None,
        Argument(
            metavar="[GAME]", help="a game's name (with --list: default all)", autocompletion=options.complete_game
        ),
    ] = None,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="which of its solutions, if it has several")] = None,
    parameter: options.Parameters = None,
    to: Annotated[
        float | None, Option(metavar="QUALITY", help="go on until this is reached (default: the solution's own)")
    ] = None,
    minutes: Annotated[float | None, Option(help="end after so many, whatever was reached")] = None,
    listing: Annotated[bool, Option("--list", help="show what can be solved, and how far it is")] = False,
    remove: Annotated[bool, Option("--remove", help="remove its tables instead")] = False,
    yes: Annotated[bool, Option("--yes", help="start with less memory or disk than it takes, too")] = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Solve what can be solved in minutes, and keep the tables.

    Values, hints and analyses find them then. What was stopped goes on where it was.

    Examples: dicegym values solve --list; dicegym values solve hog --minutes 1
    """
    from dicegym.analysis import solving

    _check(game, name, parameter, listing, remove, {"--to": to, "--minutes": minutes})
    if listing:
        games = solving.solvable_games() if game is None else [options.chosen_game(game, parameter)]
        found = [solving.status(one, solution.name) for one in games for solution in solving.solutions(one)]
        if not found:
            solving.solution(games[0])  # says why
        _show(found)
        write_json(written[".json"], [one.as_json() for one in found])
        return

    chosen = options.chosen_game(str(game), parameter)
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
    write_json(written[".json"], result.as_json())


def _show(found: list[SolutionStatus]) -> None:
    """Print what can be solved: the command, what it is, what it takes and how far it is."""
    from dicegym.games.solved import how_to_solve

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
