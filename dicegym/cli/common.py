"""What the commands share: arguments, the two consoles, the progress bar, and writing files."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import progress as bar
from rich.console import Console, ConsoleOptions, RenderableType
from rich.constrain import Constrain
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

import dicegym
from dicegym.cli.keys import drop_typed
from dicegym.columns import clock
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.escape import lines, one_line
from dicegym.files import write_text
from dicegym.registry import GAMES
from dicegym.shipped import is_shipped

if TYPE_CHECKING:
    from dicegym.arena.storage import Storage
    from dicegym.games.parts import Progress
    from dicegym.games.worth import Valuer

QUIET = 0.5
"""Seconds that a person waits for an answer without a word."""
SILENCE = 10.0
"""Seconds after which a command that nobody watches at a terminal says how far it is."""
DATABASE_HEADER = b"SQLite format 3\0"
"""What a file of SQLite begins with."""
LONGEST_LINE = 100_000
"""Characters of a line that is printed: bots that are written out hold tables, and nobody reads on."""


class Terminal(Console):
    """A console that takes text for what it is: names and messages of others neither colour it nor act on it."""

    def print(self, *objects: Any, markup: bool | None = False, **options: Any) -> None:
        """Print as `rich.console.Console.print` does, texts without markup and harmless (`dicegym.escape`)."""
        shown = (lines(thing, LONGEST_LINE) if isinstance(thing, str) else thing for thing in objects)
        super().print(*shown, markup=markup, **options)


out = Terminal(highlight=False, soft_wrap=True)
"""Standard output: results."""
err = Terminal(stderr=True, highlight=False, soft_wrap=True)
"""Standard error: what went wrong, and what is being done."""


def complete_game(incomplete: str) -> list[str]:
    """Return the games whose names begin so, for the shell."""
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_agent(context: typer.Context, incomplete: str) -> list[str]:
    """Return the agents whose names begin so, of the game that stands on the line already, for the shell."""
    game = context.params.get("game")
    try:
        names = dicegym.agent_names(game) if game else []
    except DicegymError:
        return []
    return [name for name in names if name.startswith(incomplete)]


GameName = Annotated[
    str,
    typer.Argument(metavar="GAME", help="a game's name; `dicegym games` lists them", autocompletion=complete_game),
]
GameOption = Annotated[
    str | None,
    typer.Option(
        help="the game (default: what the model was trained on, or the file or name fits)",
        autocompletion=complete_game,
    ),
]
Seed = Annotated[int, typer.Option(help="same seed, same games")]
DrawnSeed = Annotated[int | None, typer.Option(help="same seed, same games (default: a new one, which is printed)")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=NUMBER", help="a parameter of the game; repeatable"),
]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, metavar="T", help="how a model plays, whatever its file says: 0 the best action, 1 drawn"),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="let models run what their authors wrote, as those with layers of their own need"),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="write a page for browsers, which needs nothing else, to this file too"
    ),
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="write the result as JSON to this file too")]
ValuesName = Annotated[
    str | None,
    typer.Option(
        "--values", metavar="NAME", help="where values of states come from (default: the best there is for the game)"
    ),
]
IsolationName = Annotated[
    str,
    typer.Option(
        "--isolation",
        metavar="auto|jail|process|none",
        help="how strangers' bots are kept apart; auto: the best that works here",
    ),
]
LoadSeconds = Annotated[float | None, typer.Option(help="processor time of a bot to load (default: as --seconds)")]
MoveSeconds = Annotated[float | None, typer.Option(help="processor time of a bot for one move (default: as --seconds)")]
Memory = Annotated[int, typer.Option(metavar="MIB", help="memory of a bot beyond what Python itself needs")]
MEMORY = 512
StoreName = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="where contests are kept: a SQLite file or postgresql://... (default: in your data folder)",
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="keep nothing")]
NewContest = Annotated[bool, typer.Option("--new", help="begin another contest instead of going on with the last")]
Label = Annotated[str, typer.Option(help="a name of your own, which tells contests apart that are alike otherwise")]


def tell_better_values(asked: Valuer, values: str | None) -> None:
    """Say which better values there would be, unless the user has chosen."""
    from dicegym.analysis.valuers import better_sources
    from dicegym.games.parts import SOLUTIONS, part
    from dicegym.games.solved import how_to_solve

    found = [] if values is not None else better_sources(asked.game, asked)
    if found:
        best, kept = found[0].name, part(asked.game, SOLUTIONS)
        solved = kept is not None and any(one.name == best for one in kept.solutions(asked.game))
        how = f"; `{how_to_solve(asked.game, best)}` keeps what it needs" if solved else ""
        err.print(f"dicegym: better than {asked.name} is --values {best}: {found[0].doc}{how}")


def parameters_of(given: list[str] | None) -> dict[str, int]:
    """Return what was given as ``--parameter``. Raises ParameterError for what is not NAME=NUMBER."""
    parameters: dict[str, int] = {}
    for text in given or []:
        key, _, value = text.partition("=")
        try:
            parameters[key] = int(value)
        except ValueError:
            raise ParameterError(f"--parameter {text!r} cannot be read: write NAME=NUMBER, such as goal=50") from None
    return parameters


def chosen_game(name: str, parameters: list[str] | None = None) -> dicegym.Game:
    """Return the game ``name`` with what was given as ``--parameter``."""
    return dicegym.game(name, **parameters_of(parameters))


def game_or_that_of(agent: str, name: str | None, parameters: list[str] | None) -> dicegym.Game:
    """Return the game ``name`` or, without one, the game that ``agent`` plays."""
    from dicegym.players.roster import game_for

    return chosen_game(name, parameters) if name else game_for(agent, **parameters_of(parameters))


def check_writable(path: Path | None, force: bool = True) -> None:
    """Raise ParameterError if ``path`` cannot be written, before any work is done for it."""
    if path is None:
        return
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: give --force to replace it, or another --output")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    if path.is_file() and _is_database(path):
        raise ParameterError(f"{path} is a database, with all that is stored in it: give another path")
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be written, as there is no folder {path.parent}: make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"{path} must not be written by you: give another path")


def _is_database(path: Path) -> bool:
    """Return whether a file is one of SQLite, which nobody means to replace by what a command writes."""
    try:
        with path.open("rb") as file:
            return file.read(len(DATABASE_HEADER)) == DATABASE_HEADER
    except OSError:
        return False


def write_json(path: Path | None, value: Any) -> None:
    """Write ``value``, readably, if there is a path to write it to."""
    if path is not None:
        write_text(path, json.dumps(value, indent=1) + "\n")


def write_new(path: Path, text: str) -> None:
    """Write ``text`` to a file that a command makes, and say so."""
    write_text(path, text)
    out.print(f"wrote {path}")


def print_table(titles: list[str], rows: list[list[str]]) -> None:
    """Print a table, its columns aligned."""
    from dicegym.columns import plain_table

    for line in plain_table(titles, rows):
        out.print(line)


@contextlib.contextmanager
def progress_bar(unit: str, every: float = SILENCE) -> Iterator[Progress]:
    """Yield a function that shows how far a command is, on standard error.

    On a terminal it moves a bar, which appears with the first call, so that mistakes found before it are told alone.
    Elsewhere a plain line says the same every ``every`` seconds, also while nothing is told.

    Args:
        unit: what is counted, such as "steps".
        every: seconds from one plain line to the next.
    """
    shown = _Bar(unit) if sys.stderr.isatty() else _Lines(unit, every)
    with contextlib.closing(shown), _compilations(shown.compiling):
        yield shown.show


@contextlib.contextmanager
def _compilations(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell in words whenever a kernel is compiled, which takes seconds each; one that is loaded takes none."""
    from numba.core import event

    class Counting(event.Listener):
        number = 0

        def on_start(self, _: event.Event) -> None:
            self.number += 1
            tell(f"compiling, once for each version: kernel {self.number}")

        def on_end(self, _: event.Event) -> None: ...

    with event.install_listener("numba:compile", Counting()):
        yield


@contextlib.contextmanager
def thinking(words: str) -> Iterator[None]:
    """Say ``words`` while something is computed that a person waits for, if that takes more than `QUIET` seconds.

    What is typed meanwhile is dropped: it would answer the next question.
    """
    began = time.monotonic()
    with progress_bar("steps") as progress:
        late = threading.Timer(QUIET, progress, (0, 0, words))
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()
            late.join()
    if time.monotonic() - began > QUIET:
        drop_typed()


def bars(unit: str, *first: bar.ProgressColumn) -> bar.Progress:
    """Return what draws progress bars on a terminal, with ``first`` at their left."""
    columns = (
        *first,
        BarColumn(20),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(unit, table_column=Column(no_wrap=True)),
        TimeElapsedColumn(),
        _Left(),
        # A narrow terminal costs the end of this text, and no figures.
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
    )
    return _WithRoom(*columns, console=Console(stderr=True), expand=True)


def estimate_left(seconds: float, before: int, done: int, total: int) -> float | None:
    """Estimate the remaining seconds from the ``seconds`` that the work from ``before`` to ``done`` took.

    Interruptions, such as the evaluations of a training, are assumed to take the same share of the time as so far.
    Returns None before any work is done, and after the last of it.
    """
    return seconds * (total - done) / (done - before) if before < done < total else None


class _Left(bar.ProgressColumn):
    """How long it will take yet: `rich`'s own column goes by the last half minute, and forgets what interrupts."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[bar.TaskID, tuple[float, float, int]] = {}
        """When each task was begun, when it was seen first after that, and how much of it was done by then."""

    def render(self, task: bar.Task) -> Text:
        """Return it for one task, as `rich` asks for."""
        if task.start_time is None or task.total is None:
            return Text("-:--:--", style="progress.remaining")
        now, done = task.get_time(), int(task.completed)
        begun, since, before = self._first.get(task.id, (None, now, done))
        if begun != task.start_time or done < before:
            since, before = now, done
            self._first[task.id] = task.start_time, since, before
        seconds = estimate_left(now - since, before, done, int(task.total))
        return Text("-:--:--" if seconds is None else clock(seconds), style="progress.remaining")


class _WithRoom(bar.Progress):
    """Bars with room for the ``^C`` that a terminal writes behind them, lest it wraps and a bar is seen twice."""

    def get_renderables(self) -> Iterator[RenderableType]:
        return map(_Narrower, super().get_renderables())


class _Narrower:
    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield Constrain(self._shown, options.max_width - 3)


class _Bar:
    """The progress bar of a terminal."""

    def __init__(self, unit: str) -> None:
        self._bar = bars(unit)
        self._task = self._bar.add_task("", total=None)
        self._told = False

    def show(self, done: int, total: int, text: str) -> None:
        self._told = True
        self._bar.start()  # does nothing if it has started
        self._bar.update(self._task, completed=done, total=total or None, description=one_line(text))

    def compiling(self, text: str) -> None:
        if not self._told:
            self.show(0, 0, text)
            self._told = False

    def close(self) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


class _Lines:
    """What a log or a pipe gets: a thread says at intervals what was told last, as a computation may take long."""

    def __init__(self, unit: str, every: float) -> None:
        self._unit, self._every = unit, every
        self._began = time.monotonic()
        self._first: tuple[float, int] | None = None
        """When the first word came, and how much was done by then: a resumed training has a start."""
        self._latest = (0, 0, "preparing")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def show(self, done: int, total: int, text: str) -> None:
        if self._first is None or done < self._first[1]:
            self._first = time.monotonic(), done
        self._latest = done, total, text

    def compiling(self, text: str) -> None:
        if self._first is None:
            self._latest = 0, 0, text

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        while not self._over.wait(self._every):
            err.print(self._line(time.monotonic()))

    def _line(self, now: float) -> str:
        done, total, text = self._latest
        words = [clock(now - self._began)]
        if self._first is not None:
            words.append(f"{done:,}{f' of {total:,}' if total else ''} {self._unit}")
            since, before = self._first
            seconds = estimate_left(
                now - since, before, done, total
            )  # the last rollout may go beyond what was asked for
            if seconds is not None:
                words.append(f"{clock(seconds)} left")
        return ", ".join([*words, *([one_line(text)] if text else [])])


def chosen_storage(store: str | None, no_store: bool, new: bool = False, label: str = "") -> Storage | None:
    """Return where a contest is kept; None: nowhere.

    Raises:
        ParameterError: it shall be kept, and shall not.
        DependencyError: it shall be kept, and a library is missing. Where nobody has asked for it, that is told alone,
            as is a folder that must not be written in.
    """
    from dicegym.arena.storage import VARIABLE, Storage, default_store, named_store

    if no_store:
        if store is not None or new or label:
            raise ParameterError("--no-store keeps nothing, so leave out --store, --new and --label")
        return None
    try:
        importlib.import_module("dicegym.arena.store.book")
    except ImportError as error:
        missing = DependencyError.for_extra(str(error.name), "arena", "keeping a contest")
        if store is not None or new or label:
            raise missing from error
        err.print(f"dicegym: nothing is kept of this contest: {missing}")
        return None
    if not (store or new or label or os.environ.get(VARIABLE) or _may_be_made(Path(default_store()))):
        err.print(
            f"dicegym: nothing is kept of this contest, as {default_store()} cannot be made: name a --store elsewhere"
        )
        return None
    return Storage(named_store(store), new, label)


def _may_be_made(path: Path) -> bool:
    """Return whether a file may be written, or made with the folders that it lies in."""
    there = next(one for one in (path, *path.parents) if one.exists())
    return os.access(there, os.W_OK)


def tell_isolation(isolation: str, named: Iterable[str]) -> None:
    """Say how bots will be kept apart, before any of them runs, if one is named that somebody wrote.

    Raises UnknownNameError and DependencyError for an isolation that there is not, or not here.
    """
    from dicegym.sandbox import jail

    choice = jail.chosen(isolation)
    if any(_may_run_strangers_code(name) for name in named):
        err.print(f"dicegym: bots are kept apart by {choice.description}")


def _may_run_strangers_code(name: str) -> bool:
    """Return whether a name is the path of what somebody wrote; a model is data, and plays in the referee."""
    path = Path(name.partition(":")[0]).expanduser()
    return path.exists() and path.suffix != ".zip" and not is_shipped(path)
