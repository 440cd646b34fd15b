"""Commands of the web server's operator: tokens of people who submit bots, and contests that bots may enter."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, err, out, print_table, write_new
from dicegym.cli.contest_commands import TOURNAMENT, TournamentOptions
from dicegym.cli.shared_options import PAIRS, BotOptions, Several
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.web.enter.course_contests import WebContests
    from dicegym.web.enter.tokens import Tokens

WEB_FOLDER = Path("dicegym-web")
WebFolder = Annotated[Path, Option(help="the folder of the web server, as given to `dicegym web`")]
ContestName = Annotated[str, Argument(help="the contest's name; `dicegym web contest list` shows all")]


MatchLimits = Annotated[
    Several,
    Option(
        "--limit",
        metavar=PAIRS,
        help="limit of a bot: seconds (processor time for a match: 10), memory (MiB beyond Python's own: 512); "
        "repeatable",
    ),
]


def refuse_file(folder: Path) -> None:
    """Raise ParameterError if the folder of a web server is a file, or in one."""
    for one in (folder, *folder.parents):
        if os.path.exists(one) and not os.path.isdir(one):
            raise ParameterError(f"--folder {folder} cannot be used, as {one} is a file: give a folder")


@contextlib.contextmanager
def open_submissions(
    folder: Path, new: str | None = None, end: str | None = None
) -> Iterator[tuple[Tokens, WebContests]]:
    """Yield the tokens and contests in a web server's folder.

    A missing folder is made for a ``new`` name, which is checked first with ``end``. Raises ParameterError if these are
    invalid, or the folder is a file or not a web server's.
    """
    with shared_options.needing("web", "dicegym web"):
        from dicegym.web.enter.course_contests import WebContests
        from dicegym.web.enter.submission_tables import NAME, SubmissionStore
        from dicegym.web.enter.tokens import Tokens, check_name, parse_end
    refuse_file(folder)
    if not os.path.isfile(folder / "entering" / NAME):
        serves = f"`dicegym web --folder {folder}`"
        if new is None:
            raise ParameterError(f"{folder} is not the folder of a web server: give its --folder; {serves} makes one")
        check_name(new, "the name")
        if end is not None:
            parse_end(end)
        err.print(f"dicegym: made the folder {folder} for a web server; {serves} starts the server")
    with SubmissionStore(folder / "entering") as store:
        yield Tokens(store), WebContests(store)


def add_token(
    name: Annotated[str, Argument(help="the owner's name; bots submitted with the token belong to it")],
    expires: Annotated[str | None, Option(help="such as 2030-12-24 or '90 days' (default: never)")] = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Make a token, and print it once.

    Its owner enters it in a browser, or sends it as `Authorization: Bearer TOKEN`.

    Examples: dicegym web token add ann; dicegym web token add bob --expires 2030-07-31
    """
    with open_submissions(folder, name, expires) as (tokens, _):
        made = tokens.add(name, expires)
    err.print(f"dicegym: the token of {name}, which is shown only once:")
    out.print(made)


def list_tokens(folder: WebFolder = WEB_FOLDER) -> None:
    """List the owners of tokens; the tokens themselves are not stored.

    Example: dicegym web token list --folder dicegym-web
    """
    with open_submissions(folder) as (tokens, _):
        known = tokens.list_known()
    if not known:
        out.print("no tokens yet: `dicegym web token add NAME` makes one")
        return
    rows = [[one.name, one.made[:10], (one.expires or "never")[:16], one.state] for one in known]
    print_table(["Name", "Made", "Expires", ""], rows)


def revoke(name: Annotated[str, Argument(help="the owner's name")], folder: WebFolder = WEB_FOLDER) -> None:
    """Revoke a token at once.

    Bots stay; a new token of the same name owns them.

    Example: dicegym web token revoke ann
    """
    with open_submissions(folder) as (tokens, _):
        tokens.revoke(name)
    out.print(f"the token of {name} is revoked")


def add_contest(
    name: Annotated[str, Argument(help="its name, which no other contest has")],
    game: shared_options.GameName,
    until: Annotated[str | None, Option(help="when it closes, UTC (default: when you close it)")] = None,
    agent: Annotated[list[str] | None, Option(metavar="AGENT", help="an agent that also plays; repeatable")] = None,
    contest: TournamentOptions = TOURNAMENT,
    limit: MatchLimits = None,
    parameter: shared_options.Parameters = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Open a contest that submitted bots may enter.

    The web server runs it again whenever bots are added or change; only missing matches are played.

    Examples: dicegym web contest add Autumn hog --until '14 days' --agent bacon --agent swap; dicegym web contest
    add 'Group 2' yatzy --until 2030-12-24 --format swiss --games 10
    """
    from dicegym.web.enter.plans import ContestPlan

    parameters, limits = shared_options.parameters_of(parameter), BotOptions(limit).limits(("seconds", "memory"))
    options = contest._asdict()
    form = options.pop("format")
    plan = ContestPlan(game, form, tuple(agent or ()), parameters, options, limits.seconds, limits.memory >> 20)
    with open_submissions(folder, name, until) as (_, contests):
        made = contests.add(name, plan, until)
    out.print(f"contest {made.id}: /enter/contests/{made.id}")


def list_contests(folder: WebFolder = WEB_FOLDER) -> None:
    """List the contests of the web server.

    Example: dicegym web contest list --folder dicegym-web
    """
    with open_submissions(folder) as (_, contests):
        rows = [
            [str(one.id), one.name, one.game, (one.end or "-")[:16], str(len(contests.taking_part(one))), one.state]
            for one in contests.all()
        ]
    print_table(["ID", "Name", "Game", "Closes", "Bots", ""], rows)


def close(name: ContestName, folder: WebFolder = WEB_FOLDER) -> None:
    """Close a contest.

    It then admits no entries, and later versions of bots do not count.

    Example: dicegym web contest close Autumn
    """
    with open_submissions(folder) as (_, contests):
        contests.close(contests.find_named(name).id)
    out.print(f"{name} is closed")


def grades(
    name: ContestName,
    written: Annotated[Outputs, ".csv"] = NO_FILES,
    store: shared_options.StoreName = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Show the results of each bot of a contest.

    Each with its owner, version, place, games won and faults.

    Example: dicegym web contest grades Autumn -o grades.csv
    """
    with open_submissions(folder) as (_, contests):
        from dicegym.arena.csv_tables import csv_text
        from dicegym.arena.storage import resolve_store
        from dicegym.web.context import read_store
        from dicegym.web.enter.course_contests import GradeRow

        found, where = contests.find_named(name), resolve_store(store)
        with read_store(where) as reader:
            if found.stored is None:
                err.print(f"dicegym: {found.name} has not run yet: no bot has a place")
            elif reader is None:
                raise ParameterError(f"there is no store {where}: give the --store of the web server")
            elif not any(one.id == found.stored and one.label == found.label for one in reader.contests()):
                raise ParameterError(f"{where} has no results of {found.name}: give the --store of the web server")
            rows = contests.grades(found, reader)
    if (sheet := written[".csv"]) is not None:
        write_new(sheet, csv_text([row.model_dump() for row in rows]))
        return
    shown = [["-" if value is None else str(value) for _, value in row] for row in rows]
    print_table([field.replace("_", " ").capitalize() for field in GradeRow.model_fields], shown)


token = group("Manage the tokens of people who submit bots.", add=add_token, list=list_tokens, revoke=revoke)
contest = group("Run contests on the web server.", add=add_contest, list=list_contests, close=close, grades=grades)
