"""Options and arguments that several commands share, and functions that interpret their values."""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

import dicegym
from dicegym.cli.console import err
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.registry import GAMES
from dicegym.shipped import is_shipped

if TYPE_CHECKING:
    from dicegym.arena.executors import Executors
    from dicegym.arena.storage import Storage
    from dicegym.arena.store.reading import StoreReader
    from dicegym.games.parts import Progress
    from dicegym.games.worth import Valuer
    from dicegym.sandbox.limits import Limits

LIMITS = ("seconds", "load", "move", "memory")
"""Names for ``--limit``."""
PAIRS = "NAME=NUMBER"
"""The value of ``--parameter`` and ``--limit`` in the help."""


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


Several = list[str] | None
GameName = Annotated[str, Argument(metavar="GAME", help="a game's name", autocompletion=complete_game)]
SomeGame = Annotated[str | None, Argument(metavar="[GAME]", help="a game's name", autocompletion=complete_game)]
Agents = Annotated[list[str], Argument(metavar="AGENT...", help="agents to measure", autocompletion=complete_agent)]
GameOption = Annotated[str | None, Option("--game", help="a game (default: the agent's)", autocompletion=complete_game)]
Seed = Annotated[int | None, Option("--seed", min=0, help="same seed, same result")]
Parameters = Annotated[
    Several, Option("--parameter", "-p", metavar=PAIRS, help="a parameter, such as players=4; repeatable")
]
Against = Annotated[
    Several, Option("--against", help="an opponent (default: the baseline); repeatable", autocompletion=complete_agent)
]
Temperature = Annotated[
    float | None, Option(min=0, metavar="T", help="0: a model's best action, 1: sampled (default: as its file says)")
]
Trust = Annotated[bool, Option("--trust", help="with --resume: run the programs that the run's settings name")]
ValuesName = Annotated[str | None, Option("--values", metavar="NAME", help="source of values (default: the best)")]
IsolationName = Annotated[
    str, Option(metavar="auto|jail|process|none", help="how bots are isolated; auto: the strongest that works here")
]
LimitsGiven = Annotated[
    Several,
    Option(
        "--limit",
        metavar=PAIRS,
        help="limit of a bot: seconds (processor time for a match: 10), load and move (default: as seconds), memory "
        "(MiB beyond Python's own: 512); repeatable",
    ),
]
Workers = Annotated[int | None, Option("--workers", min=1, help="processes, if any (default: one for each core)")]
RayAddress = Annotated[
    str | None, Option(metavar="ADDRESS", help="a Ray cluster: host:6379, ray://host:10001, or auto for the local one")
]
StoreName = Annotated[
    str | None, Option("--store", metavar="FILE|URL", help="a file or postgresql://... (default: in your data folder)")
]
Label = Annotated[str, Option("--label", metavar="TEXT", help="another label starts another contest")]
LessLuck = Annotated[bool, Option("--less-luck", help="reduce variance: correct results for the luck of the dice")]
RunFolder = Annotated[Path | None, Option("--run-dir", metavar="FOLDER", help="the run's folder (default: in runs/)")]
HostAddress = Annotated[str, Option("--host", help="address to listen on; 0.0.0.0: all")]
Connections = Annotated[int, Option("--connections", min=10, help="most connections at the same time")]
AllowHost = Annotated[Several, Option("--allow-host", metavar="NAME", help="a host name of the server; repeatable")]
ConfigName = Annotated[Path | None, Option(metavar="FILE|NAME", help="settings, yours or shipped (default: GAME)")]
Overrides = Annotated[Several, Option("--set", metavar="SECTION.KEY=VALUE", help="one of `runs settings`; repeatable")]


def decisions(typed: str | int) -> int:
    """Return a number of decisions written as 1000000, 1_000_000 or 1e6. Raises typer.BadParameter."""
    from dicegym.engine.validate import MOST  # loads NumPy

    try:
        number = float(typed)  # reads all three forms; whole numbers up to `MOST` are exact
    except ValueError:
        number = 0.0
    if not (1 <= number <= MOST and number.is_integer()):
        raise typer.BadParameter(
            f"invalid number {typed!r}: give a whole number from 1 to {MOST:,}, such as 1000000 or 1e6"
        )
    return int(number)


def command_line(*words: str, **options: Any) -> str:
    """Return a command line: ``words``, then the options that have a value; a list repeats its option."""
    line = [*words]
    for name, given in options.items():
        option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        for value in given if isinstance(given, list | tuple) else [given]:
            line += [] if value is None or value is False else [option] if value is True else [option, str(value)]
    return shlex.join(line)


def _read_pairs(option: str, given: Iterable[str] | None, kind: Callable[[str], Any], example: str) -> dict[str, Any]:
    """Return the pairs given as NAME=NUMBER. Raises ParameterError for other texts."""
    pairs = {}
    for text in given or []:
        name, _, value = text.partition("=")
        try:
            pairs[name] = kind(value)
        except ValueError:
            raise ParameterError(f"invalid {option} {text!r}: write NAME=NUMBER, such as {example}") from None
    return pairs


def parameters_of(given: Iterable[str] | None) -> dict[str, int]:
    """Return the values of ``--parameter``. Raises ParameterError for invalid ones."""
    return _read_pairs("--parameter", given, int, "goal=50")


class BotOptions(NamedTuple):
    """The options of commands that run bots: limits and isolation."""

    limit: LimitsGiven = None
    isolation: IsolationName = "auto"

    def limits(self, known: Sequence[str] = LIMITS) -> Limits:
        """Return the limits of ``--limit``; others have their defaults.

        Raises ParameterError for invalid values, and names that are not ``known``.
        """
        from dicegym.sandbox.limits import Limits

        pairs = _read_pairs("--limit", self.limit, float, "seconds=5")
        for name in pairs:
            if name not in known:
                raise ParameterError(f"unknown --limit {name}: limits here are {', '.join(known)}")
        if "load" in pairs:
            pairs["start"] = pairs.pop("load")
        if "memory" in pairs:
            if not isfinite(pairs["memory"]):
                raise ParameterError(f"invalid --limit memory={pairs['memory']}: give MiB, such as memory=512")
            pairs["memory"] = int(pairs["memory"] * 2**20)
        return Limits(**pairs)

    def tell_isolation(self, named: Iterable[str]) -> None:
        """Print how bots are isolated, if a stranger may have written one of them.

        Raises UnknownNameError for an unknown isolation, DependencyError for one that does not work here.
        """
        from dicegym.sandbox import jail

        choice = jail.choose(self.isolation)
        if any(_may_run_strangers_code(name) for name in named):
            err.print(f"dicegym: bots are isolated by {choice.description}")


BOTS = BotOptions()


def _may_run_strangers_code(name: str) -> bool:
    """Return whether a name is a path to a program that does not ship; models are data and count as safe."""
    path = Path(os.path.expanduser(name.partition(":")[0]))
    return os.path.exists(path) and path.suffix != ".zip" and not is_shipped(path)


class MachineOptions(NamedTuple):
    """The options of commands that play many games: local processes, or a Ray cluster."""

    workers: Workers = None
    ray: RayAddress = None

    def executors(self) -> Executors:
        """Return the executors. Raises ParameterError for an invalid address."""
        from dicegym.arena.executors import local

        if self.ray is None:
            return local(self.workers)
        from dicegym.arena.ray_executor import ray_cluster

        return ray_cluster(self.ray, self.workers, lambda line: err.print(f"dicegym: {line}"))


MACHINES = MachineOptions()


def begin_loading(game: str, here: bool) -> None:
    """Start loading the local processes that play, if they play ``here``, while the command itself loads."""
    if here and game in (*GAMES, ""):
        from dicegym.sandbox.fork_server import start_loading

        start_loading(game)


def make_game(name: str, parameters: Sequence[str] | None = None) -> dicegym.Game:
    """Return the game ``name`` with the values of ``--parameter``."""
    return dicegym.game(name, **parameters_of(parameters))


def game_or_that_of(agent: str, name: str | None, parameters: Sequence[str] | None) -> dicegym.Game:
    """Return the game ``name`` or, without one, the game that ``agent`` plays."""
    from dicegym.players.agent_info import game_for

    return make_game(name, parameters) if name else game_for(agent, **parameters_of(parameters))


def about(game: dicegym.Game) -> dict[str, Any]:
    """Return the game, players and parameters for JSON."""
    return {"game": game.name, "players": game.players, "parameters": dict(game.parameters)}


def values_of(game: dicegym.Game, name: str | None, progress: Progress, fair: bool = False) -> Valuer:
    """Return the source of values that ``--values`` names; without a name, print which better ones exist.

    If ``fair``, the values judge a player by what that player may know.
    """
    from dicegym.analysis.valuers import better_sources, fair_valuer, valuer

    asked = (fair_valuer if fair else valuer)(game, name, progress=progress)
    if found := [] if name is not None else better_sources(asked.game, asked):
        err.print(f"dicegym: --values {found[0].name} is better than {asked.name}: {found[0].doc}")
    return asked


@contextlib.contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Raise DependencyError, which names ``extra``, if a library is missing for ``what``."""
    try:
        yield
    except ImportError as error:
        raise DependencyError.for_extra(error.name or extra, extra, what) from error


def store_name(store: str | None, extra: str = "") -> str:
    """Return the store to read. Raises ParameterError for "none" and DependencyError without SQLAlchemy.

    ``extra`` is the extra that the error names (default: the one for the store alone).
    """
    from dicegym.arena.storage import extra_of, resolve_store

    where = resolve_store(store)
    with needing(extra or extra_of(where), "reading stored contests"):
        importlib.import_module("dicegym.arena.store.reading")
    return where


def read_store(store: str | None) -> StoreReader:
    """Return the reader of a store. Raises what `store_name` raises."""
    where = store_name(store)
    from dicegym.arena.store.reading import StoreReader

    return StoreReader(where)


class StoreOptions(NamedTuple):
    """The options of commands that store a contest."""

    store: Annotated[
        str | None,
        Option(metavar="FILE|URL|none", help="a file, postgresql://... or nowhere (default: your data folder)"),
    ] = None
    label: Label = ""

    def storage(self) -> Storage | None:
        """Return the contest's storage; None: it is not stored. Raises ParameterError for a label without a store."""
        from dicegym.arena.storage import NONE, Storage, extra_of, resolve_store

        if self.store != NONE:
            where = resolve_store(self.store)
            with needing(extra_of(where), "storing a contest (--store none stores nothing)"):
                importlib.import_module("dicegym.arena.store.book")
            return Storage(where, label=self.label)
        if self.label:
            raise ParameterError(f"--label {self.label} needs a store: leave --store none out")
        return None


STORE = StoreOptions()
