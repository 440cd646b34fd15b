"""The options and arguments that commands share, each declared once, and what their values mean."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dicegym
from dicegym.cli.bare import RAY
from dicegym.cli.console import err
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.registry import GAMES
from dicegym.shipped import is_shipped

if TYPE_CHECKING:
    from dicegym.arena.storage import Storage
    from dicegym.games.worth import Valuer
    from dicegym.sandbox.limits import Limits

DATABASE_HEADER = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""
NONE = "none"
"""What ``--store`` takes to store nothing."""
LIMITS = ("seconds", "load", "move", "memory")
"""Names that ``--limit`` takes."""


def complete_game(incomplete: str) -> list[str]:
    """Return the games whose names begin with ``incomplete``, for the shell."""
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_agent(context: typer.Context, incomplete: str) -> list[str]:
    """Return the agents of the game on the command line whose names begin with ``incomplete``, for the shell."""
    game = context.params.get("game")
    try:
        names = dicegym.agent_names(game) if game else []
    except DicegymError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def output(*endings: str) -> Any:
    """Return the option ``--output`` of a command that writes files with these endings, such as ".json"."""
    listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    return typer.Option(
        "--output", "-o", metavar="FILE", help=f"write the result to this file too ({listed}); repeatable"
    )


GameName = Annotated[
    str, typer.Argument(metavar="GAME", help="a game's name (see `dicegym games`)", autocompletion=complete_game)
]
GameOption = Annotated[
    str | None,
    typer.Option("--game", help="the game (default: that of the model, file or agent)", autocompletion=complete_game),
]
Seed = Annotated[int | None, typer.Option("--seed", help="same seed, same result")]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", "-p", metavar="NAME=NUMBER", help="a parameter of the game, such as players=4; repeatable"
    ),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help="an opponent (default: the game's baseline); repeatable",
        autocompletion=complete_agent,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature", min=0, metavar="T", help="0: a model's best action, 1: sampled (default: as its file says)"
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="let models run their authors' code, as custom network layers need")
]
ValuesName = Annotated[
    str | None,
    typer.Option("--values", metavar="NAME", help="where values of states come from (default: the game's best)"),
]
IsolationName = Annotated[
    str,
    typer.Option(
        "--isolation",
        metavar="auto|jail|process|none",
        help="how bots are isolated; auto: the best that works here",
    ),
]
LimitsGiven = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="limit of a bot: seconds (processor time for a match: 10), load and move (default: as seconds), memory "
        "(MiB beyond Python's own: 512); repeatable",
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="processes (default: one for each core)")]
RayAddress = Annotated[
    str | None,
    typer.Option(
        RAY,
        metavar="[ADDRESS]",
        help="run on a Ray cluster: host:6379, ray://host:10001, auto, local (default: what runs here, else local)",
    ),
]
StoreName = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL|none",
        help="where contests are stored: a SQLite file or postgresql://... (default: in your data folder)",
    ),
]
Label = Annotated[
    str, typer.Option("--label", metavar="TEXT", help="names the contest; with another label, another one begins")
]
LessLuck = Annotated[
    bool, typer.Option("--less-luck", help="reduce variance: correct results for the luck of the dice")
]
RunFolder = Annotated[
    Path | None, typer.Option("--run-dir", metavar="FOLDER", help="the run's folder (default: in runs/)")
]
ConfigName = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE|NAME", help="settings: a file, or a shipped configuration (default: GAME)"),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="override a setting (see `dicegym runs settings`); repeatable"
    ),
]


def _read_pairs(
    option: str, given: Iterable[str] | None, kind: type[int] | type[float], example: str
) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in given or []:
        name, _, value = text.partition("=")
        try:
            pairs[name] = kind(value)
        except ValueError:
            raise ParameterError(f"{option} {text!r} cannot be read: write NAME=NUMBER, such as {example}") from None
    return pairs


def parameters_of(given: Iterable[str] | None) -> dict[str, int]:
    """Return what was given as ``--parameter``. Raises ParameterError for what is not NAME=NUMBER."""
    return _read_pairs("--parameter", given, int, "goal=50")


def limits_of(given: Iterable[str] | None) -> Limits:
    """Return the limits that ``--limit`` names; others have their defaults.

    Raises ParameterError for what is not NAME=NUMBER, an unknown name or a limit out of range.
    """
    from dicegym.sandbox.limits import Limits

    pairs = _read_pairs("--limit", given, float, "seconds=5")
    for name in pairs:
        if name not in LIMITS:
            raise ParameterError(f"--limit {name}: there is no such limit; limits are {', '.join(LIMITS)}")
    limits = Limits()
    memory = int(pairs.get("memory", limits.memory / 2**20) * 2**20)
    return Limits(pairs.get("seconds", limits.seconds), memory, pairs.get("load"), pairs.get("move"))


def chosen_game(name: str, parameters: Sequence[str] | None = None) -> dicegym.Game:
    """Return the game ``name`` with what was given as ``--parameter``."""
    return dicegym.game(name, **parameters_of(parameters))


def game_or_that_of(agent: str, name: str | None, parameters: Sequence[str] | None) -> dicegym.Game:
    """Return the game ``name`` or, without one, the game that ``agent`` plays."""
    from dicegym.players.about import game_for

    return chosen_game(name, parameters) if name else game_for(agent, **parameters_of(parameters))


def tell_better_values(asked: Valuer, values: str | None) -> None:
    """Say which better values of states there are, unless the user has chosen some."""
    from dicegym.analysis.valuers import better_sources
    from dicegym.games.parts import SOLUTIONS, part
    from dicegym.games.solved import how_to_solve

    found = [] if values is not None else better_sources(asked.game, asked)
    if found:
        best, kept = found[0].name, part(asked.game, SOLUTIONS)
        solved = kept is not None and any(one.name == best for one in kept.solutions(asked.game))
        how = f"; `{how_to_solve(asked.game, best)}` computes what it needs" if solved else ""
        err.print(f"dicegym: better than {asked.name} is --values {best}: {found[0].doc}{how}")


class Outputs:
    """The files that a command was asked to write, told apart by their endings.

    Args:
        given: the values of ``--output``.
        endings: what the command writes, such as ".json".
        force: whether existing files may be replaced.

    Raises:
        ParameterError: another ending, two files of one kind, or a file that cannot be written.
    """

    def __init__(self, given: Iterable[Path] | None, *endings: str, force: bool = True) -> None:
        self._files: dict[str, Path] = {}
        for path in given or ():
            ending = path.suffix.lower()
            if ending not in endings:
                raise ParameterError(f"--output {path} must end in {' or '.join(endings)}, which says what is written")
            if ending in self._files:
                raise ParameterError(f"--output {self._files[ending]} and {path} are both {ending}: give one of them")
            check_writable(path, force)
            self._files[ending] = path

    def __bool__(self) -> bool:
        return bool(self._files)

    def __getitem__(self, ending: str) -> Path | None:
        return self._files.get(ending)


def check_writable(path: Path | None, force: bool = True) -> None:
    """Raise ParameterError if ``path`` cannot be written, before any work is done for it."""
    if path is None:
        return
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: give --force to replace it, or another path")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    if path.is_file() and _is_database(path):
        raise ParameterError(f"{path} is a database, with all that is stored in it: give another path")
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be written, as there is no folder {path.parent}: make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"you have no permission to write {path}: give another path")


def _is_database(path: Path) -> bool:
    """Return whether a file is one of SQLite, which nobody means to replace by what a command writes."""
    try:
        with path.open("rb") as file:
            return file.read(len(DATABASE_HEADER)) == DATABASE_HEADER
    except OSError:
        return False


def store_name(store: str | None) -> str:
    """Return the store to read. Raises ParameterError for "none" and DependencyError without SQLAlchemy."""
    from dicegym.arena.storage import named_store

    if store == NONE:
        raise ParameterError("--store none stores nothing, so there is nothing to read: name a store")
    try:
        importlib.import_module("dicegym.arena.store.reading")
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "reading stored contests") from error
    return named_store(store)


def chosen_storage(store: str | None, label: str = "") -> Storage | None:
    """Return where a contest is stored; None: nowhere.

    Without SQLAlchemy, or where the default folder cannot be made, nothing is stored, which is said.

    Raises:
        ParameterError: a label is given for what is not stored.
        DependencyError: a store or label is given, and a library is missing.
    """
    from dicegym.arena.storage import VARIABLE, Storage, default_store, named_store

    if store == NONE:
        if label:
            raise ParameterError(f"--label {label} names a stored contest, and --store none stores nothing")
        return None
    try:
        importlib.import_module("dicegym.arena.store.book")
    except ImportError as error:
        missing = DependencyError.for_extra(str(error.name), "arena", "storing a contest")
        if store is not None or label:
            raise missing from error
        err.print(f"dicegym: this contest is not stored: {missing}")
        return None
    if not (store or label or os.environ.get(VARIABLE) or _can_be_made(Path(default_store()))):
        err.print(f"dicegym: this contest is not stored, as {default_store()} cannot be made: give --store FILE")
        return None
    return Storage(named_store(store), label=label)


def _can_be_made(path: Path) -> bool:
    """Return whether a file can be written, or made with its folders."""
    there = next(one for one in (path, *path.parents) if one.exists())
    return os.access(there, os.W_OK)


def tell_isolation(isolation: str, named: Iterable[str]) -> None:
    """Say how bots are isolated, before any of them runs, if one is named that a stranger may have written.

    Raises UnknownNameError and DependencyError for an isolation that does not exist, or not here.
    """
    from dicegym.sandbox import jail

    choice = jail.chosen(isolation)
    if any(_may_run_strangers_code(name) for name in named):
        err.print(f"dicegym: bots are kept apart by {choice.description}")


def _may_run_strangers_code(name: str) -> bool:
    """Return whether a name is a path to somebody's program; a model is data, and plays in the referee."""
    path = Path(name.partition(":")[0]).expanduser()
    return path.exists() and path.suffix != ".zip" and not is_shipped(path)
