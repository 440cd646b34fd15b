"""The command ``dicegym``: its verbs, those that games have of their own, and what becomes of mistakes."""

from __future__ import annotations

import ast
import contextlib
import functools
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dicegym
from dicegym.cli.analyse import analyse, grade
from dicegym.cli.arena import arena
from dicegym.cli.bench import bench
from dicegym.cli.bots import check, new, rules
from dicegym.cli.card import card
from dicegym.cli.common import out
from dicegym.cli.compare import compare
from dicegym.cli.compare_runs import compare_runs
from dicegym.cli.contests import tournament
from dicegym.cli.doctor import doctor
from dicegym.cli.ending import run_to_the_end
from dicegym.cli.evaluation import evaluate, export
from dicegym.cli.exact import exact
from dicegym.cli.exploitability import exploitability
from dicegym.cli.games import agents, games, playthrough
from dicegym.cli.hint import hint
from dicegym.cli.machines import Command
from dicegym.cli.play import play
from dicegym.cli.plot import plot
from dicegym.cli.replay import replay
from dicegym.cli.rollout import rollout
from dicegym.cli.server import join, serve, server
from dicegym.cli.solve import solve
from dicegym.cli.training import demo, league, train
from dicegym.cli.tune import tune
from dicegym.cli.watch import watch
from dicegym.cli.web import pages
from dicegym.engine.part import COMMANDS
from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.errors import UnknownNameError
from dicegym.registry import GAMES, rules_module

VERBS = (
    games,
    agents,
    rules,
    play,
    watch,
    check,
    tournament,
    replay,
    analyse,
    grade,
    hint,
    rollout,
    compare,
    exact,
    exploitability,
    solve,
    train,
    tune,
    card,
    plot,
    compare_runs,
    league,
    evaluate,
    export,
    demo,
    serve,
    join,
    doctor,
    bench,
    playthrough,
)
"""What `dicegym` can do, in the order of its help. Each imports what it needs when it is called, so that none waits
for what another needs."""


RETIRED = {
    "arena replay": "run `dicegym replay ID`",
    "curves": "run `python -m benchmarks curves` in a clone of the repository",
    "alpharank": "rank with OpenSpiel's `open_spiel.python.egt.alpharank`, from the win rates of "
    "`dicegym tournament GAME AGENT... --json FILE`",
}
"""Commands that are gone -> what to use instead."""


class Verbs(TyperGroup):
    """The command itself, which says of a retired verb what to use."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a verb. Raises UnknownNameError for a retired one."""
        for named in (" ".join(args[:1]), " ".join(args[:2])):
            if named in RETIRED:
                raise UnknownNameError(f"the command {named!r} is gone: {RETIRED[named]}")
        return super().resolve_command(ctx, args)


class GameCommands(TyperGroup):
    """The commands that a game has of its own, loaded when one of them is asked for, not to list all verbs."""

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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="print the version and stop")
    ] = False,
) -> None:
    pass


def _app() -> typer.Typer:
    app = typer.Typer(
        cls=Verbs,
        help="Five real dice games as reinforcement-learning environments.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        callback=_common,
    )
    for verb in VERBS:
        app.command(cls=Command)(verb)
    app.add_typer(new, name="new")
    app.add_typer(server)
    app.add_typer(pages)
    app.add_typer(arena, name="arena")
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
