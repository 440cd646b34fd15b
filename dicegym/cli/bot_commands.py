"""Commands that write a first bot, and test bots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import BOTS, BotOptions
from dicegym.errors import ParameterError
from dicegym.signals import going_on


def bot(
    game: shared_options.GameName,
    path: Annotated[Path, Argument(help="a .py file, or a folder for it; missing folders are made")],
    force: Annotated[bool, Option("--force", help="replace existing files")] = False,
) -> None:
    """Write a first bot in a game's original interface.

    It passes the contest's test.

    Example: dicegym new bot hog my/hog.py
    """
    from dicegym.bots.new import new_bot

    file = new_bot(game, path, force)
    out.print(f"wrote {file}")
    out.print(f"test it: dicegym check {file} --show; read the rules and interface: dicegym games {game} --rules")


new = group("Write a first bot.", bot=bot)


def check(
    file: Annotated[str, Argument(help="a bot's file, folder or name")],
    game: shared_options.GameOption = None,
    bots: BotOptions = BOTS,
    show: Annotated[bool, Option("--show", help="show its first and last calls, answers and prints")] = False,
    debug: Annotated[bool, Option("--debug", help="run it in this process, without limits, for breakpoint()")] = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Test a bot as its contest does; in Hog, compute its win rate.

    Example: dicegym check my/hog.py --show
    """
    if show and debug:
        raise ParameterError("--show and --debug exclude each other: the debugger shows each call")
    if debug and bots.isolation != BOTS.isolation:
        raise ParameterError("--debug runs the bot in this process without isolation: leave out --isolation")
    shared_options.begin_loading(game or "", not debug)
    from dicegym import arena

    table = shared_options.game_or_that_of(file, game, parameter)
    limits = bots.limits()
    if not debug:
        bots.tell_isolation([file])
    with progress_bar("calls") as progress, going_on("before the test was over"):
        report = arena.check(
            file,
            table,
            limits=limits,
            show=show,
            debug=debug,
            isolation=bots.isolation,
            progress=lambda moment: progress(0, 0, f"the bot was last seen {moment}"),
        )
    out.print(report.text())
    written.json(report.to_json())
    raise typer.Exit(0 if report.ok else 1)
