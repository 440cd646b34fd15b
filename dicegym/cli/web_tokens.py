"""Tokens of a server of pages: who may hand bots in, and who may hold contests there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli.command import group
from dicegym.cli.console import err, out, print_table
from dicegym.errors import DependencyError

if TYPE_CHECKING:
    from dicegym.web.enter.tables import Desk

WebFolder = Annotated[Path, Option(help="of the server of pages, as `dicegym web` was given it")]
WEB_FOLDER = Path("dicegym-web")


def open_desk(folder: Path) -> Desk:
    """Return what is kept of tokens, bots and contests in a server's folder."""
    try:
        from dicegym.web.enter.tables import Desk
    except ImportError as error:
        raise DependencyError.for_extra(error.name or "sqlalchemy", "web", "dicegym web") from error
    return Desk(folder / "entering")


def add(
    name: Annotated[str, Argument(help="whose it is; it owns the bots that are handed in with it")],
    operator: Annotated[bool, Option("--operator", help="may hold contests and see everybody's bots")] = False,
    expires: Annotated[
        str | None, Option(metavar="DATE|PERIOD", help="such as 2030-12-24 or '90 days' (default: never)")
    ] = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Make a token, and print it this once.

    Whoever has it enters it in a browser, or sends it as `Authorization: Bearer TOKEN`.

    Examples: dicegym web token add ann; dicegym web token add teacher --operator --expires 2030-07-31
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        made = Tokens(desk).add(name, operator, expires)
    err.print(f"dicegym: the token of {name}, which is shown this once:")
    out.print(made)


def list_tokens(folder: WebFolder = WEB_FOLDER) -> None:
    """List whose tokens there are; what they are is kept nowhere.

    Example: dicegym web token list --folder dicegym-web
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        found = Tokens(desk).known()
    if not found:
        out.print("there are no tokens: `dicegym web token add NAME` makes one")
        return
    titles = ["Name", "May", "Made", "Expires", ""]
    rows = [
        [
            one.name,
            "hold contests" if one.operator else "enter",
            one.made[:10],
            (one.expires or "never")[:16],
            one.state,
        ]
        for one in found
    ]
    print_table(titles, rows)


def revoke(name: Annotated[str, Argument(help="whose")], folder: WebFolder = WEB_FOLDER) -> None:
    """Make a token worth nothing, at once.

    Bots stay; a new token of the same name owns them.

    Example: dicegym web token revoke ann
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        Tokens(desk).revoke(name)
    out.print(f"the token of {name} is worth nothing now")


token = group("Say who may hand bots in.", add=add, list=list_tokens, revoke=revoke)
