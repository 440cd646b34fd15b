"""The options and arguments that commands share, each declared once, and what their values mean."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import dicegym
from dicegym.cli.command import RAY
from dicegym.cli.console import err
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.registry import GAMES
from dicegym.shipped import is_shipped

if TYPE_CHECKING:
    from dicegym.arena.executors import Executors
    from dicegym.arena.storage import Storage
    from dicegym.games.worth import Valuer
    from dicegym.sandbox.limits import Limits

LIMITS = ("seconds", "load", "move", "memory")
"""Names that ``--limit`` takes."""


def complete_game(incomplete: str) -> list[str]:
    """Return the games whose names begin with ``incomplete``, for the shell."""
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_agent(context: typer.Context, incomplete: str) -> list[str]:
    """Return the agents of the game on the command line whose names begin with ``incomplete``, for the shell."""
    from dicegym.players.roster import SEARCHES

    game = context.params.get("game")
    try:
        names = dict.fromkeys([*dicegym.agent_names(game), *SEARCHES]) if game else {}
    except DicegymError:
        return []
    return [name for name in names if name.startswith(incomplete)]


GameName = Annotated[
    str, typer.Argument(metavar="GAME", help="a game's name (see `dicegym games`)", autocompletion=complete_game)
]
GameOption = Annotated[
    str | None,
    typer.Option("--game", help="the game (default: that of the model, file or agent)", autocompletion=complete_game),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="same seed, same result")]
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
        help="run on a Ray cluster: host:6379, ray://host:10001, or auto (default), the one that runs on this machine",
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


class BotOptions(NamedTuple):
    """The options of commands that run bots: what each may use, and how it is isolated."""

    limit: LimitsGiven = None
    isolation: IsolationName = "auto"

    def limits(self, known: Sequence[str] = LIMITS) -> Limits:
        """Return the limits that ``--limit`` names; others have their defaults.

        Raises ParameterError for what is not NAME=NUMBER, a name that is not ``known`` or a limit out of range.
        """
        from dicegym.sandbox.limits import Limits

        pairs = _read_pairs("--limit", self.limit, float, "seconds=5")
        for name in pairs:
            if name not in known:
                raise ParameterError(f"--limit {name}: there is no such limit here; limits are {', '.join(known)}")
        limits = Limits()
        memory = pairs.get("memory", limits.memory / 2**20)
        if not isfinite(memory):
            raise ParameterError(f"--limit memory={memory} is no number of MiB: write memory=512")
        return Limits(pairs.get("seconds", limits.seconds), int(memory * 2**20), pairs.get("load"), pairs.get("move"))

    def tell_isolation(self, named: Iterable[str]) -> None:
        """Say how bots are isolated, before any of them runs, if one is named that a stranger may have written.

        Raises UnknownNameError and DependencyError for an isolation that does not exist, or not here.
        """
        from dicegym.sandbox import jail

        choice = jail.chosen(self.isolation)
        if any(_may_run_strangers_code(name) for name in named):
            err.print(f"dicegym: bots are kept apart by {choice.description}")


BOTS = BotOptions()


def _may_run_strangers_code(name: str) -> bool:
    """Return whether a name is a path to somebody's program; a model is data, and plays in the referee."""
    path = Path(name.partition(":")[0]).expanduser()
    return path.exists() and path.suffix != ".zip" and not is_shipped(path)


class MachineOptions(NamedTuple):
    """The options of commands that play many games: processes of this machine, or a Ray cluster."""

    workers: Workers = None
    ray: RayAddress = None

    def executors(self, shard: str | None = None) -> Executors:
        """Return what makes the executors; ``shard`` is which part of the matches they play, such as "2/8".

        Raises ParameterError if there is no such address or shard.
        """
        from dicegym.arena.executors import local

        executors = local(self.workers)
        if self.ray is not None:  # "" is what runs here, else a cluster of our own
            from dicegym.arena.ray_executor import ray_cluster

            executors = ray_cluster(self.ray or None, self.workers, lambda line: err.print(f"dicegym: {line}"))
        if shard is not None:
            from dicegym.arena.shards import sharded

            executors = sharded(executors, shard)
        return executors


MACHINES = MachineOptions()


def chosen_game(name: str, parameters: Sequence[str] | None = None) -> dicegym.Game:
    """Return the game ``name`` with what was given as ``--parameter``."""
    return dicegym.game(name, **parameters_of(parameters))


def game_or_that_of(agent: str, name: str | None, parameters: Sequence[str] | None) -> dicegym.Game:
    """Return the game ``name`` or, without one, the game that ``agent`` plays."""
    from dicegym.players.roster import game_for

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


def store_name(store: str | None) -> str:
    """Return the store to read. Raises ParameterError for "none" and DependencyError without SQLAlchemy."""
    from dicegym.arena.storage import named_store

    try:
        importlib.import_module("dicegym.arena.store.reading")
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "reading stored contests") from error
    return named_store(store)


class StoreOptions(NamedTuple):
    """The options of commands that store a contest."""

    store: StoreName = None
    label: Label = ""

    def storage(self) -> Storage | None:
        """Return where the contest is stored; None: nowhere.

        Without SQLAlchemy, or where the default folder cannot be made, nothing is stored, which is said.

        Raises:
            ParameterError: a label is given for what is not stored.
            DependencyError: a store or label is given, and a library is missing.
        """
        from dicegym.arena.storage import NONE, VARIABLE, Storage, default_store, named_store

        store, label = self
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


STORE = StoreOptions()


def _can_be_made(path: Path) -> bool:
    """Return whether a file can be written, or made with its folders."""
    there = next(one for one in (path, *path.parents) if one.exists())
    return os.access(there, os.W_OK)
