"""The command ``dicegym``, which loads each subcommand on demand."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

import dicegym
from dicegym.cli.command import build
from dicegym.cli.console import out
from dicegym.cli.ending import run_to_the_end
from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.errors import UnknownNameError

PANELS = {
    "Play": {"games": "games", "play": "play_command", "watch": "watch"},
    "Train": {"train": "training_commands", "evaluate": "evaluation", "export": "evaluation", "runs": "run_commands"},
    "Measure": {"compare": "contest_commands", "values": "value_commands"},
    "Bots and contests": {
        "new": "bot_commands",
        "check": "bot_commands",
        "tournament": "contest_commands",
        "arena": "arena",
    },
    "Serve": {"server": "server_commands", "web": "web"},
    "Project": {"doctor": "doctor_command"},
}
"""Commands and groups in the order of the help: panel -> name -> module of this package."""
HIDDEN = {"mcp": "server_commands"}
"""Commands that the help does not list, because programs start them; the help of ``server`` names them."""
HOMES = {name: module for panel in PANELS.values() for name, module in panel.items()} | HIDDEN

MOVED = {
    "agents": "games GAME",
    "rules": "games GAME --rules",
    "playthrough": "games GAME --playthrough",
    "bench": "doctor --bench",
    "demo": "train GAME",
    "serve": "server start",
    "standings": "arena show",
    "arena standings": "arena show",
    "arena export": "arena show ID -o FILE",
    "rollout": "values hint STATE --games 1000",
    "values rollout": "values hint STATE --games 1000",
    "exact": "evaluate AGENT --game GAME --against OPPONENT",
    "values exact": "evaluate AGENT --game GAME --against OPPONENT",
    "grade-llm": "values suite",
    "compare-runs": "runs plot RUN RUN",
    "runs compare": "runs plot RUN RUN",
}
"""Old names of commands -> the command that does it now."""
GONE = {
    "curves": "run `python -m benchmarks curves` in a clone of the repository",
    "alpharank": "rank with OpenSpiel's `open_spiel.python.egt.alpharank`, from the win rates of "
    "`dicegym tournament GAME AGENT... -o FILE.json`",
    "new game": "write the files that docs/add_a_game.md shows for Pig",
    "arena merge": "let several machines play one contest with `dicegym tournament --ray ADDRESS`",
    "runs league": "let the members of a league meet with `dicegym tournament GAME MODEL...`",
    "league": "let the members of a league meet with `dicegym tournament GAME MODEL...`",
    "server status": "the server prints what it does; `dicegym server games` and `ratings` read its store",
    "arena verify": "`dicegym arena replay` refuses a game that was changed",
    "liarsdice": "`dicegym play`, `watch` and `tournament` do the same in all games",
    "web backup": "copy the folder, and its SQLite files and the store by `sqlite3 FILE '.backup COPY'`",
}
"""Removed commands -> what to do instead."""


class PanelGroup(TyperGroup):
    """The group of all commands, which loads a command on demand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command. Raises UnknownNameError for an old name, and says the new one."""
        name = args[0]
        for old in (name, " ".join(args[:2])):
            if old in MOVED:
                raise UnknownNameError(f"`dicegym {old}` is now `dicegym {MOVED[old]}`")
            if old in GONE:
                raise UnknownNameError(f"the command {old!r} was removed: {GONE[old]}")
        if name not in self.list_commands(ctx):
            groups = {one: getattr(self.get_command(ctx, one), "commands", {}) for one in HOMES}
            if found := [f"`dicegym {one} {name}`" for one, commands in groups.items() if name in commands]:
                raise UnknownNameError(f"there is no command {name!r}. Did you mean {' or '.join(found)}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, without loading them."""
        return [*HOMES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load and return a command; None for an unknown name."""
        if cmd_name not in self.commands and cmd_name in HOMES:
            module = importlib.import_module(f"dicegym.cli.{HOMES[cmd_name]}")
            self.commands[cmd_name] = build(cmd_name, getattr(module, cmd_name))
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, a section for each panel."""
        for title, names in PANELS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.get_command(ctx, name).get_short_help_str(limit=66)) for name in names])


def whole_command() -> Any:
    """Return the command with all subcommands loaded, for the documentation and tests."""
    command = _command()
    for name in command.list_commands(None):
        command.get_command(None, name)
    return command


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


app = typer.Typer(
    cls=PanelGroup,
    help="Five real dice games as reinforcement-learning environments.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    callback=_common,
)


def _only_reads(words: list[str]) -> bool:
    """Return whether a command only completes words or shows a game, and so needs no compiled code."""
    return "_DICEGYM_COMPLETE" in os.environ or (words[:1] == ["games"] and "--playthrough" not in words)


@functools.cache
def _command() -> Any:
    """Return the command, built once for all calls of a process."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. A mistake of the user ends it with a line on standard error and status 2.

    ``arguments`` are by default those of the process. Then a command that only shows games loads no compiler.
    """
    let_libraries_wait_idly()
    if arguments is None and _only_reads(sys.argv[1:]):
        os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    run_to_the_end(lambda: _command()(arguments), "dicegym")
