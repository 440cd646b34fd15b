"""Pages for people, served to browsers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import add, group
from dicegym.cli.console import err, out, print_table

if TYPE_CHECKING:
    from dicegym.arena.store.stored_rows import StoredContest
    from dicegym.web.enter.submission_tables import SubmissionStore

WEB_FOLDER = Path("dicegym-web")
WebFolder = Annotated[Path, Option(help="the folder of the web server, as given to `dicegym web`")]


def serve_pages(
    context: typer.Context,
    host: shared_options.HostAddress = "127.0.0.1",
    port: Annotated[int, Option(help="port to listen on; 0: any free port")] = 8000,
    folder: Annotated[Path, Option(help="folder for the server's data: games, uploads, tokens")] = WEB_FOLDER,
    store: shared_options.StoreName = None,
    runs: Annotated[list[Path] | None, Option(help="a folder of trainings; repeatable")] = None,
    allow_host: shared_options.AllowHost = None,
    proxy: Annotated[
        list[str] | None, Option(metavar="ADDRESS", help="a proxy whose X-Forwarded-* headers are trusted; repeatable")
    ] = None,
    connections: shared_options.Connections = 1500,
    log: Annotated[str, Option(metavar="FILE", help="write a line of JSON for each request; -: on stderr")] = "",
    export: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="write the store's contests to this folder as pages, instead of serving"),
    ] = None,
    open_: Annotated[bool, Option("--open", help="open the first page in a browser")] = False,
    isolation: Annotated[
        str,
        Option(metavar="jail|process|none", help="how uploaded bots are isolated; all but jail are at your own risk"),
    ] = "jail",
) -> None:
    """Serve web pages to watch, play, enter contests and learn.

    Example: dicegym web --open

    Example: dicegym web --export pages --store contests.sqlite
    """
    if context.invoked_subcommand is not None:
        return
    if export is not None:
        write_pages(export, store, folder)
        return
    from dicegym.web.address import compose_address, listen, new_token

    names, proxies = tuple(allow_host or ()), tuple(proxy or ())
    listener, secret = listen(host, port), new_token()
    address = compose_address(host, listener.getsockname()[1], names, proxies, secret)
    _tell(address)  # before what takes seconds to load: requests wait
    with shared_options.needing("web", "dicegym web"):
        from dicegym.web.serving import serve
    import logging

    from dicegym.arena.storage import resolve_store
    from dicegym.signals import SignalInterrupt
    from dicegym.web.web_settings import WebSettings

    settings = WebSettings(
        folder,
        resolve_store(store),
        tuple(runs or [Path("runs")]),
        host,
        port,
        hosts=names,
        proxies=proxies,
        connections=connections,
        log=log,
        compile=True,
        isolation=isolation,
    )
    tell_of_uploads(isolation)
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")  # on standard error
    if open_:
        folder.mkdir(parents=True, exist_ok=True)
        open_page(folder, address)
    with contextlib.closing(listener):
        number = serve(settings, listener, _tell, secret)
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
    with shared_options.needing("web", "dicegym web --export"):
        from dicegym.web.enter.course_contests import WebContests
        from dicegym.web.static_pages import export, never_open
    from dicegym.arena.storage import resolve_store

    with contextlib.ExitStack() as stack:
        is_open: Callable[[StoredContest], bool] = never_open
        if folder.is_dir():
            is_open = WebContests(stack.enter_context(contextlib.closing(open_desk(folder)))).is_open
        written = export(target, resolve_store(store), is_open=is_open, tell=err.print)
    for line in written.left_out:
        err.print(line)
    out.print(f"wrote {written.files} files, {written.size / 1e6:.1f} MB: open {written.folder / 'index.html'}")


def _tell(line: str) -> None:
    """Print the address on standard output, all else on standard error."""
    (out if line.startswith("http") else err).print(line)


def tell_of_uploads(isolation: str) -> None:
    """Say what isolates uploaded bots, if that is less than a jail. Raises UnknownNameError for an unknown one."""
    from dicegym.sandbox import jail

    if jail.probe(isolation):
        err.print(
            f"dicegym: bots cannot be uploaded, as nothing would isolate them: {jail.probe(isolation)}; "
            "--isolation process accepts them all the same, and lets them see more of this machine"
        )
    elif jail.choose(isolation).level != jail.Isolation.JAIL:
        err.print(
            f"dicegym: uploaded bots are isolated by {jail.choose(isolation).description}: take them from friends"
        )


def backup(
    target: Annotated[Path, Argument(help="a new folder")],
    folder: WebFolder = WEB_FOLDER,
    store: shared_options.StoreName = None,
) -> None:
    """Back up the web server's data while it runs.

    To restore a copy, stop the server and put the copy's folder `pages` and the file in `store` in their places.

    Example: dicegym web backup backups/monday --folder course --store course.sqlite
    """
    from dicegym.arena.storage import resolve_store
    from dicegym.web.backup import back_up

    made = back_up(folder, resolve_store(store), target)
    out.print(f"{target}: {made.files} files, {made.databases} of them databases, {made.size / 1e6:.1f} MB")


def open_desk(folder: Path) -> SubmissionStore:
    """Return what is kept of tokens, bots and contests in a server's folder."""
    with shared_options.needing("web", "dicegym web"):
        from dicegym.web.enter.submission_tables import SubmissionStore
    return SubmissionStore(folder / "entering")


def add_token(
    name: Annotated[str, Argument(help="the owner's name; bots submitted with the token belong to it")],
    operator: Annotated[bool, Option("--operator", help="may run contests and see all bots")] = False,
    expires: Annotated[
        str | None, Option(metavar="DATE|PERIOD", help="such as 2030-12-24 or '90 days' (default: never)")
    ] = None,
    folder: WebFolder = WEB_FOLDER,
) -> None:
    """Make a token, and print it this once.

    Its owner enters it in a browser, or sends it as `Authorization: Bearer TOKEN`.

    Examples: dicegym web token add ann; dicegym web token add teacher --operator --expires 2030-07-31
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        made = Tokens(desk).add(name, operator, expires)
    err.print(f"dicegym: the token of {name}, which is shown this once:")
    out.print(made)


def list_tokens(folder: WebFolder = WEB_FOLDER) -> None:
    """List the owners of tokens; the tokens themselves are not stored.

    Example: dicegym web token list --folder dicegym-web
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        found = Tokens(desk).list_known()
    if not found:
        out.print("no tokens yet: `dicegym web token add NAME` makes one")
        return
    rows = []
    for one in found:
        may = "run contests" if one.operator else "enter"
        rows.append([one.name, may, one.made[:10], (one.expires or "never")[:16], one.state])
    print_table(["Name", "May", "Made", "Expires", ""], rows)


def revoke(name: Annotated[str, Argument(help="the owner's name")], folder: WebFolder = WEB_FOLDER) -> None:
    """Revoke a token at once.

    Bots stay; a new token of the same name owns them.

    Example: dicegym web token revoke ann
    """
    with open_desk(folder) as desk:
        from dicegym.web.enter.tokens import Tokens

        Tokens(desk).revoke(name)
    out.print(f"the token of {name} is revoked")


token = group("Manage the tokens of those who submit bots.", add=add_token, list=list_tokens, revoke=revoke)


web = typer.Typer(callback=serve_pages, invoke_without_command=True, rich_markup_mode=None)
add(web, token=token, backup=backup)
