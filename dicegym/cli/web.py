"""The command that serves web pages."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from dicegym.cli import shared_options
from dicegym.cli.command import add
from dicegym.cli.console import err, out
from dicegym.cli.entering import WEB_FOLDER, contest, refuse_file, token
from dicegym.errors import ParameterError


def serve_pages(
    context: typer.Context,
    host: shared_options.HostAddress = "127.0.0.1",
    port: Annotated[int, Option(help="port to listen on; 0: any free port")] = 8000,
    folder: Annotated[Path, Option(help="folder for the server's data: games, uploads, tokens")] = WEB_FOLDER,
    store: shared_options.StoreName = None,
    runs: Annotated[list[Path] | None, Option(help="a folder of trainings; repeatable")] = None,
    allow_host: shared_options.AllowHost = None,
    proxy: Annotated[
        list[str] | None, Option(help="a proxy whose X-Forwarded-* headers are trusted; repeatable")
    ] = None,
    connections: shared_options.Connections = 1500,
    open_: Annotated[bool, Option("--open", help="open the first page in a browser")] = False,
    isolation: Annotated[
        str,
        Option(
            metavar="jail|auto|process|none", help="how uploaded bots are isolated; all but jail are at your own risk"
        ),
    ] = "jail",
) -> None:
    """Serve web pages to watch, play, enter contests and learn.

    Example: dicegym web --open
    """
    if context.invoked_subcommand is not None:
        return
    from dicegym.web.address import address_of, listen
    from dicegym.web.web_settings import WebSettings

    where = check_places(folder, store, runs or [])
    settings = WebSettings(
        folder,
        where,
        tuple(runs or [Path("runs")]),
        host,
        port,
        hosts=tuple(allow_host or ()),
        proxies=tuple(proxy or ()),
        connections=connections,
        compile=True,
        isolation=isolation,
    )
    print_isolation(isolation)
    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1])
    _print_line(address)  # before the slow imports: the listener queues requests
    with shared_options.needing("web", "dicegym web"):
        from dicegym.web.serving import serve
    import logging

    from dicegym.signals import SignalInterrupt

    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")  # on standard error
    if open_:
        typer.launch(address)
    with contextlib.closing(listener):
        number = serve(settings, listener, _print_line)
    if number:
        raise SignalInterrupt(number)


def check_places(folder: Path, store: str | None, runs: Sequence[Path]) -> str:
    """Return the store to read, and make the folder. Raises ParameterError for a place that cannot be used."""
    where = shared_options.store_name(store, "web")
    path = Path(os.path.expanduser(where))
    if "://" in where or path.exists():
        shared_options.read_store(where).close()
    elif store is not None and not path.parent.is_dir():
        raise ParameterError(f"--store {store} cannot be used: the folder {path.parent} does not exist. Make it first")
    for one in runs:
        if not one.is_dir():
            raise ParameterError(f"--runs {one} is not a folder: give the folder of a training, or one with trainings")
    refuse_file(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"--folder {folder} cannot be used ({error.strerror}): give another one") from None
    return where


def _print_line(line: str) -> None:
    """Print the address on standard output, other lines on standard error."""
    (out if line.startswith("http") else err).print(line)


def print_isolation(isolation: str) -> None:
    """Print how uploaded bots are isolated, if less than by a jail. Raises UnknownNameError for an unknown level."""
    from dicegym.sandbox import jail

    if jail.probe(isolation):
        err.print(
            f"dicegym: bots cannot be uploaded, because nothing would isolate them: {jail.probe(isolation)}; "
            "--isolation process accepts them, but lets them see more of this machine"
        )
    elif jail.choose(isolation).level != jail.Isolation.JAIL:
        err.print(
            f"dicegym: uploaded bots are isolated by {jail.choose(isolation).description}: only accept bots of friends"
        )


web = typer.Typer(callback=serve_pages, invoke_without_command=True, rich_markup_mode=None)
add(web, token=token, contest=contest)
