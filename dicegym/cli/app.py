"""The command ``dicegym``: its commands, those that games have of their own, and what becomes of mistakes."""

from __future__ import annotations

import ast
import contextlib
import functools
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

import dicegym
from dicegym.cli.arena import arena
from dicegym.cli.bots import check, new
from dicegym.cli.command import add
from dicegym.cli.console import out
from dicegym.cli.contests import compare, tournament
from dicegym.cli.doctor import doctor
from dicegym.cli.ending import run_to_the_end
from dicegym.cli.evaluation import evaluate, export
from dicegym.cli.games import games
from dicegym.cli.play import play
from dicegym.cli.runs import runs
from dicegym.cli.server import server
from dicegym.cli.training import train
from dicegym.cli.values import values
from dicegym.cli.watch import watch
from dicegym.cli.web import pages
from dicegym.engine.part import COMMANDS
from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.errors import UnknownNameError
from dicegym.registry import GAMES, rules_module

PANELS: dict[str, dict[str, Any]] = {
    "Play": {"games": games, "play": play, "watch": watch},
    "Train": {"train": train, "evaluate": evaluate, "export": export, "runs": runs},
    "Measure": {"compare": compare, "values": values},
    "Bots and contests": {"new": new, "check": check, "tournament": tournament, "arena": arena},
    "Serve": {"server": server, "web": pages},
    "Project": {"doctor": doctor},
}
"""The commands and groups of commands, as the help lists them. Each imports what it needs when it is called."""

MOVED = {
    "agents": "games GAME",
    "rules": "games GAME --rules",
    "playthrough": "games GAME --playthrough",
    "replay": "arena replay",
    "arena standings": "arena show",
    "arena export": "arena show ID -o FILE",
    "analyse": "values analyse",
    "grade": "values grade",
    "hint": "values hint",
    "rollout": "values rollout",
    "exact": "values exact",
    "exploitability": "values exploitability",
    "solve": "values solve",
    "tune": "runs tune",
    "card": "runs card",
    "plot": "runs plot",
    "compare-runs": "runs compare",
    "league": "runs league",
    "demo": "train GAME --demo",
    "serve": "server start",
    "join": "server join",
    "bench": "doctor --bench",
}
"""Commands under their old names -> what they are called now."""
GONE = {
    "curves": "run `python -m benchmarks curves` in a clone of the repository",
    "alpharank": "rank with OpenSpiel's `open_spiel.python.egt.alpharank`, from the win rates of "
    "`dicegym tournament GAME AGENT... -o FILE.json`",
}
"""Commands that are gone -> what to use instead."""


class PanelGroup(TyperGroup):
    """The command itself: its help has panels, and old names of commands are answered with the new ones."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command. Raises UnknownNameError for an old name, with the new one."""
        for named in (" ".join(args[:1]), " ".join(args[:2])):
            if named in MOVED:
                raise UnknownNameError(f"`dicegym {named}` is now `dicegym {MOVED[named]}`")
            if named in GONE:
                raise UnknownNameError(f"the command {named!r} is gone: {GONE[named]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, a section for each panel, games' own commands last."""
        listed = {name for panel in PANELS.values() for name in panel}
        own = [name for name in self.commands if name not in listed]
        for title, names in (*PANELS.items(), ("Games' own commands", own)):
            rows = [(name, self.commands[name].get_short_help_str(limit=66)) for name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class GameCommands(TyperGroup):
    """The commands that a game has of its own, loaded when one of them is asked for, not for the list of all."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Hand over to the game's own commands; the context that is returned is theirs."""
        return commands_of(str(self.name)).make_context(info_name, args, parent, **extra)


def games_with_commands() -> dict[str, Path]:
    """Return the games that have commands of their own, and where these stand; nothing of the games is loaded."""
    files = {}
    for name in GAMES:
        with contextlib.suppress(ModuleNotFoundError):  # another package's game: whoever asks for it is told
            files[name] = COMMANDS.file_beside(rules_module(name))
    return {name: file for name, file in files.items() if file is not None}


def commands_of(game: str) -> TyperGroup:
    """Return the commands that a game has of its own, loaded."""
    own = COMMANDS.demand(rules_module(game), game).app
    own.info.name, own.info.help = game, _help_of(games_with_commands()[game])
    group: TyperGroup = typer.main.get_group(own)
    return group


@functools.cache
def whole_command() -> TyperGroup:
    """Return the command with those of all games loaded, for pages and tests that go through all of it."""
    group = typer.main.get_group(app)
    for game in games_with_commands():
        group.add_command(commands_of(game))
    return group


def _help_of(file: Path) -> str:
    """Return the first line of a game's commands, read without loading them."""
    return (ast.get_docstring(ast.parse(file.read_bytes())) or "").partition("\n")[0]


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"dicegym {dicegym.__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="print the version and stop")
    ] = False,
) -> None:
    pass


def _app() -> typer.Typer:
    app = typer.Typer(
        cls=PanelGroup,
        help="Five real dice games as reinforcement-learning environments.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        callback=_common,
    )
    for panel in PANELS.values():
        for name, command in panel.items():
            add(app, name, command)
    for name, file in games_with_commands().items():
        app.add_typer(typer.Typer(cls=GameCommands, help=_help_of(file)), name=name)
    return app


app = _app()


@functools.cache
def _command() -> Any:
    """Return the command, built once for all calls of a process: its options take 70 ms to look through."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; mistakes of the user end as one line on standard error and status 2."""
    let_libraries_wait_idly()
    run_to_the_end(lambda: _command()(arguments), "dicegym")
