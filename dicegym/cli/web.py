"""Pages for people, served to browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import out
from dicegym.errors import DependencyError


def web(
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0: all of this machine's")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on")] = 8000,
    folder: Annotated[Path, typer.Option(help="what the pages keep: games, uploads, tokens")] = Path("dicegym-web"),
    store: Annotated[str, typer.Option(help="store of contests: a file or a PostgreSQL URL")] = "dicegym-arena.sqlite",
    runs: Annotated[list[Path] | None, typer.Option(help="folder with trainings; repeat it for more")] = None,
) -> None:
    """Watch, play, enter and learn in a browser.

    Example: dicegym web --port 8000
    """
    try:
        import uvicorn

        from dicegym.web.app import create_app
    except ImportError as error:
        raise DependencyError.for_extra(error.name or "starlette", "web", "dicegym web") from error
    from dicegym.web.settings import WebSettings

    settings = WebSettings(folder, store, tuple(runs or [Path("runs")]), host, port)
    out.print(f"http://{host}:{port}/")
    uvicorn.run(create_app(settings), host=host, port=port, log_level="warning", server_header=False)
