"""Pages for people, served to browsers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dicegym.cli import options
from dicegym.cli.command import add
from dicegym.cli.console import err, out
from dicegym.cli.web_contests import contest
from dicegym.cli.web_tokens import open_desk, token
from dicegym.errors import DependencyError

if TYPE_CHECKING:
    from dicegym.arena.store.reading import StoredContest

FOLDER = Path("dicegym-web")


def web(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0: all of this machine's")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on; 0: any free one")] = 8000,
    folder: Annotated[Path, typer.Option(help="what the pages keep: games, uploads, tokens")] = FOLDER,
    store: options.StoreName = None,
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
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="write the store's contests as pages to this folder, and start no server"),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="open the first page in a browser")] = False,
    isolation: Annotated[
        str,
        typer.Option(
            metavar="jail|process|none", help="how uploaded bots are isolated; anything but jail is at your risk"
        ),
    ] = "jail",
) -> None:
    """Watch, play, enter and learn in a browser.

    Example: dicegym web --open

    Example: dicegym web --export pages --store contests.sqlite
    """
    if context.invoked_subcommand is not None:
        return
    if export is not None:
        write_pages(export, store, folder)
        return
    try:
        from dicegym.web.serving import serve
    except ImportError as error:
        raise DependencyError.for_extra(error.name or "starlette", "web", "dicegym web") from error
    import logging

    from dicegym.arena.storage import named_store
    from dicegym.signals import SignalInterrupt
    from dicegym.web.settings import WebSettings

    settings = WebSettings(
        folder,
        named_store(store),
        tuple(runs or [Path("runs")]),
        host,
        port,
        hosts=tuple(allow_host or ()),
        proxies=tuple(proxy or ()),
        connections=connections,
        log=log,
        isolation=isolation,
    )
    tell_of_uploads(isolation)
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")  # on standard error
    number = serve(settings, _tell, (lambda address: open_page(folder, address)) if open_ else None)
    if number:
        raise SignalInterrupt(number)


def open_page(folder: Path, address: str) -> None:
    """Open an address in a browser, by a file: others on the machine see the words of every command."""
    page = folder / "open.html"
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n', encoding="utf-8")
    typer.launch(str(page.absolute()))


def write_pages(target: Path, store: str | None, folder: Path) -> None:
    """Write the closed contests of a store as static pages to ``target``; ``folder`` is that of the server of pages."""
    try:
        from dicegym.web.enter.contests import WebContests
        from dicegym.web.static_pages import export, never_open
    except ImportError as error:
        raise DependencyError.for_extra(error.name or "jinja2", "web", "dicegym web --export") from error
    from dicegym.arena.storage import named_store

    with contextlib.ExitStack() as stack:
        is_open: Callable[[StoredContest], bool] = never_open
        if folder.is_dir():
            is_open = WebContests(stack.enter_context(contextlib.closing(open_desk(folder)))).is_open
        written = export(target, named_store(store), is_open=is_open, tell=err.print)
    for line in written.left_out:
        err.print(line)
    out.print(f"wrote {written.files} files, {written.size / 1e6:.1f} MB: open {written.folder / 'index.html'}")


def _tell(line: str) -> None:
    """Print the address for whoever reads it, and all else beside."""
    (out if line.startswith("http") else err).print(line)


def tell_of_uploads(isolation: str) -> None:
    """Say what holds uploaded bots, if that is less than a jail. Raises UnknownNameError for no such isolation."""
    from dicegym.sandbox import jail

    if jail.probe(isolation):
        err.print(
            f"dicegym: no bots can be handed in, as nothing would hold them: {jail.probe(isolation)}; "
            "--isolation process takes them all the same, and lets them see more of this machine"
        )
    elif jail.chosen(isolation).level != jail.Isolation.JAIL:
        err.print(f"dicegym: uploaded bots are held by {jail.chosen(isolation).description}: take them from friends")


def backup(
    target: Annotated[Path, typer.Argument(help="a folder that is not there yet")],
    folder: Annotated[Path, typer.Option(help="what the pages keep, as `dicegym web` was given it")] = FOLDER,
    store: options.StoreName = None,
) -> None:
    """Copy what the pages keep, while they run.

    To go back to a copy, stop the server and put the copy's folder `pages` and the file in `store` in their places.

    Example: dicegym web backup backups/monday --folder course --store course.sqlite
    """
    from dicegym.arena.storage import named_store
    from dicegym.web.backup import back_up

    made = back_up(folder, named_store(store), target)
    out.print(f"{target}: {made.files} files, {made.databases} of them databases, {made.size / 1e6:.1f} MB")


pages = typer.Typer(name="web", callback=web, invoke_without_command=True, rich_markup_mode=None)
for name, command in (("token", token), ("contest", contest), ("backup", backup)):
    add(pages, name, command)
