"""Contests that a server of pages holds: made, listed, closed, and how they came out."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Option

from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs, group
from dicegym.cli.console import out, print_table, write_new
from dicegym.cli.options import BotOptions
from dicegym.cli.web_tokens import WEB_FOLDER, WebFolder, open_desk

ContestName = Annotated[str, Argument(help="of the contest; `dicegym web contest list` has all")]


def add(
    name: Annotated[str, Argument(help="tells it apart")],
    game: options.GameName,
    until: Annotated[
        str | None, Option(metavar="DATE|PERIOD", help="open so long, UTC (default: until it is closed)")
    ] = None,
    agent: Annotated[list[str] | None, Option(metavar="AGENT", help="takes part besides; repeatable")] = None,
    format: Annotated[str | None, Option(help="who meets whom (default: the game's own)")] = None,
    games: Annotated[int | None, Option(help="games of a match (default: the contest's own)")] = None,
    seeds: Annotated[int, Option(help="how often each match is played")] = 1,
    rounds: Annotated[int | None, Option(help="of swiss")] = None,
    exact: Annotated[bool, Option("--exact", help="rank by exact values, where there are some")] = False,
    less_luck: options.LessLuck = False,
    limit: options.LimitsGiven = None,
    parameter: options.Parameters = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Open a contest that bots of the pages may enter.

    The server holds it, and anew whenever bots come or change; only matches that are missing are played.

    Examples: dicegym web contest add Autumn hog --until '14 days' --agent bacon --agent swap; dicegym web contest
    add 'Group 2' yatzy --until 2030-12-24 --format swiss --games 10
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.contests import WebContests
        from dicegym.web.enter.plans import ContestPlan

        parameters, limits = options.parameters_of(parameter), BotOptions(limit).limits(("seconds", "memory"))
        plan = ContestPlan(
            game,
            format,
            games,
            seeds,
            rounds,
            parameters.pop("players", None),
            exact,
            less_luck,
            parameters,
            tuple(agent or ()),
            limits.seconds,
            limits.memory >> 20,
        )
        made = WebContests(desk).add(name, plan, "", until)
    out.print(f"contest {made.id}: /enter/contests/{made.id}")


def list_contests(folder: WebFolder = WEB_FOLDER) -> None:
    """List the contests that the pages hold.

    Example: dicegym web contest list --folder dicegym-web
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.contests import WebContests

        found = WebContests(desk)
        rows = [
            [str(one.id), one.name, one.game, (one.end or "-")[:16], str(len(found.taking_part(one))), one.state]
            for one in found.all()
        ]
    if not rows:
        out.print("there are no contests: `dicegym web contest add NAME GAME` opens one")
        return
    print_table(["ID", "Name", "Game", "Closes", "Bots", ""], rows)


def close(name: ContestName, folder: WebFolder = WEB_FOLDER) -> None:
    """Close a contest.

    Nobody enters any more, and later versions do not count.

    Example: dicegym web contest close Autumn
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.contests import WebContests

        found = WebContests(desk)
        found.close(found.named(name).id)
    out.print(f"{name} is closed")


def grades(
    name: ContestName,
    written: Annotated[Outputs, ".csv"] = NO_FILES,
    store: options.StoreName = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Show what became of each bot of a contest.

    That is: its owner, version, place, games won and faults.

    Example: dicegym web contest grades Autumn -o grades.csv
    """
    with open_desk(folder) as desk:
        from dicegym.arena.storage import named_store
        from dicegym.web.context import read_store
        from dicegym.web.enter.contests import WebContests
        from dicegym.web.enter.grades import GradeRow, as_csv, grade_rows

        found = WebContests(desk)
        one = found.named(name)
        with read_store(named_store(store)) as reader:
            rows = grade_rows(one, found.taking_part(one), reader)
    if (sheet := written[".csv"]) is not None:
        write_new(sheet, as_csv(rows))
        return
    shown: list[list[Any]] = [["-" if value is None else str(value) for value in row] for row in rows]
    print_table([field.replace("_", " ").capitalize() for field in GradeRow._fields], shown)


contest = group("Hold contests in the pages.", add=add, list=list_contests, close=close, grades=grades)
