"""Pages for people, served to browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import err, out
from dicegym.errors import DependencyError

FOLDER = Path("dicegym-web")


def web(
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0: all of this machine's")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on; 0: any free one")] = 8000,
    folder: Annotated[Path, typer.Option(help="what the pages keep: games, uploads, tokens")] = FOLDER,
    store: Annotated[str, typer.Option(help="store of contests: a file or a PostgreSQL URL")] = "dicegym-arena.sqlite",
    runs: Annotated[list[Path] | None, typer.Option(help="folder with trainings; repeat it for more")] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="a name that browsers know it by, such as games.example.org (repeatable)"),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="a proxy before it, whose X-Forwarded-* headers are believed (repeatable)"
        ),
    ] = None,
    connections: Annotated[int, typer.Option(min=10, help="at once")] = 1500,
    log: Annotated[str, typer.Option(metavar="FILE", help="write a line of JSON for each request; -: on stderr")] = "",
    open_: Annotated[bool, typer.Option("--open", help="open the first page in a browser")] = False,
) -> None:
    """Watch, play, enter and learn in a browser.

    Example: dicegym web --open
    """
    try:
        from dicegym.web.serving import serve
    except ImportError as error:
        raise DependencyError.for_extra(error.name or "starlette", "web", "dicegym web") from error
    import logging

    from dicegym.signals import SignalInterrupt
    from dicegym.web.settings import WebSettings

    settings = WebSettings(
        folder,
        store,
        tuple(runs or [Path("runs")]),
        host,
        port,
        hosts=tuple(allow_host or ()),
        proxies=tuple(proxy or ()),
        connections=connections,
        log=log,
    )
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")  # on standard error
    number = serve(settings, _tell, typer.launch if open_ else None)
    if number:
        raise SignalInterrupt(number)


def _tell(line: str) -> None:
    """Print the address for whoever reads it, and all else beside."""
    (out if line.startswith("http") else err).print(line)
