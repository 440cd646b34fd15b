"""Contests: a game's own, or one of another format, kept in a store if that is wanted.

A format is one file in ``formats/`` and a line here: a function that is handed a `Director`, decides who plays whom and
ranks what comes back.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.entries import AgentSpec
from dicegym.arena.executors import Executors, local
from dicegym.arena.formats.groups import GROUPS
from dicegym.arena.formats.one_table import ONE_TABLE
from dicegym.arena.formats.round_robin import ROUND_ROBIN
from dicegym.arena.formats.swiss import SWISS
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Settings, Storage, extra_of
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, unknown_name
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.sandbox import jail
from dicegym.sandbox.limits import Limits

if TYPE_CHECKING:
    from dicegym.arena.store.book import Book

FORMATS: dict[str, Format] = {form.name: form for form in (ROUND_ROBIN, GROUPS, ONE_TABLE, SWISS)}
GONE = ("ladder", "double_elimination")
"""Formats that earlier versions had."""
_Result = TypeVar("_Result", bound=ContestResult)


def contest(
    game: Game | str,
    entries: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec],
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    *,
    format: str | None = None,
    isolation: str = jail.Isolation.AUTO,
    executors: Executors | None = None,
    store: str | os.PathLike[str] | Storage | None = None,
    **options: Any,
) -> ContestResult:
    """Check all entries, and run a contest in the game's own format or another one.

    The result depends on ``seed`` and the entries' names and files alone, not on their order or the number of
    processes. A bad entry is disqualified, and no other's results change.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}; in a list, `dicegym.arena.Named` gives one a name. A
            folder that is not a bot itself stands for its contents: each file and folder is an entry.
        seed: names all games and the entries' private randomness; None: drawn, so that no entry can foresee its games,
            and returned in the result as its ``seed``, which gives the same result again.
        workers: number of processes (default: of usable processors).
        progress: called after each check and match with (done, of how many, what was done last).
        limits: what an entry may use; default: 10 s and 512 MiB.
        format: name of the format, a key of `FORMATS`; None: the game's own.
        isolation: how untrusted bots are kept from the referee, from each other and from everything else: "auto" takes
            the best of "jail", "process" and "none" that works here; see `dicegym.sandbox.jail.Isolation`.
        executors: make what does the work, instead of ``workers`` processes of this machine; see
            `dicegym.arena.executors`.
        store: where the contest is kept, as `dicegym.arena.storage.Storage` says; None: nowhere. The same call again,
            with the same settings and, if any was given, the same seed, plays only what is missing there.
        options: fields of `dicegym.arena.contest_options.ContestOptions` by name, such as ``games=60``.

    Raises:
        ParameterError: two entries have one name, there are too few or too many for the game, or the format does not
            know what is asked for.
        UnknownNameError: a game, format, option, agent or file is unknown.

    Example:
        >>> from dicegym.contest import contest
        >>> result = contest("hog", ["always_roll(5)", "bacon", "swap"], seed=1, workers=1, games=3)
        >>> len(result.standings), len(result.matches)
        (3, 3)
    """
    own = [name for name in inspect.signature(contest).parameters if name not in ("game", "entries", "options")]
    chosen = ContestOptions.of(options, own)
    game = make_game(game)
    form = choose_format(game, format, chosen)
    return run_contest(
        form.run,
        (game, form.name, chosen.deciding, Limits.of(limits)),
        entries,
        seed,
        store,
        form=form,
        options=chosen,
        actions=chosen.less_luck,
        workers=workers,
        progress=progress,
        isolation=isolation,
        executors=executors,
    )


def choose_format(game: Game, format: str | None, options: ContestOptions) -> Format:
    """Return the format of a contest, before anything is done; arguments as `contest`.

    Raises:
        ParameterError: the format does not know what is asked for, or not of this game.
        UnknownNameError: there is no such format.
    """
    form = format_named(game.spec.contest if format is None else format)
    options.check(form.name)
    form.check(game, options, ())
    return form


def format_named(name: str) -> Format:
    """Return the format of that name, which may be written with ``-`` or ``_``. Raises UnknownNameError."""
    written = str(name).replace("-", "_")
    if written not in FORMATS:
        instead = "Use swiss, which tells a large field apart in few rounds." if written in GONE else ""
        raise unknown_name("format of contests", name, [form.title for form in FORMATS.values()], instead)
    return FORMATS[written]


def run_contest(
    play: Callable[[Director], _Result],
    settings: tuple[Game, str, dict[str, Any], Limits],
    entries: Any,
    seed: int | None,
    store: str | os.PathLike[str] | Storage | None,
    actions: bool = False,
    workers: int | None = None,
    executors: Executors | None = None,
    **how: Any,
) -> _Result:
    """Check entries and run a contest; begin it in a store, or continue it there, and keep its result.

    Args:
        play: plays and ranks.
        settings: game, format, options and limits, as `Settings` has them.
        entries: as for `Director`.
        seed: of the contest; None: that of the stored contest, or drawn.
        store: as of `contest`.
        actions: whether outcomes that the store knows say what was played, too, from which luck is computed.
        workers: as of `contest`.
        executors: as of `contest`; what starts local processes begins to load while the store is opened.
        how: further arguments of `Director`.

    Raises what `Director`, `dicegym.arena.store.store.ContestStore` and `Book` raise, and DependencyError if a library
    of stores is missing.
    """
    game, *_, limits = settings
    executors = executors or local(workers)
    with contextlib.ExitStack() as stack:
        book = None
        if store is not None:
            storage = store if isinstance(store, Storage) else Storage(store)
            book = stack.enter_context(_open_book(storage, Settings(*settings, storage.label), seed, actions))
            seed = book.seed
        how |= {"limits": limits, "book": book, "executors": executors}
        director = stack.enter_context(Director(game, entries, seed, **how))
        result = play(director)
        if book is not None:
            book.finish(result, director.failures)
            result = replace(result, stored=book.stored)
        return result


@contextlib.contextmanager
def _open_book(storage: Storage, settings: Settings, seed: int | None, actions: bool) -> Iterator[Book]:
    """Yield the book of a contest, begun or continued. The store's libraries load now."""
    try:
        from dicegym.arena.store.book import Book
        from dicegym.arena.store.store import ContestStore
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), extra_of(storage.where), "keeping a contest") from error
    with (
        ContestStore(storage.where) as opened,
        contextlib.closing(Book(opened, settings, seed, actions)) as book,
    ):
        yield book
