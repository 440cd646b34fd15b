"""Run contests, in the game's own format or another one, and store them on request.

A format is a file in ``formats/`` and a line here: a function that gets a `Director`, decides who plays whom, and ranks
the results.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

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

FORMATS: dict[str, Format] = {form.name: form for form in (ROUND_ROBIN, GROUPS, ONE_TABLE, SWISS)}
GONE = ("ladder", "double_elimination")
"""Formats of earlier versions."""


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

    The result depends only on ``seed`` and the entries' names and files, not on their order or the number of processes.
    A bad entry is disqualified, and the results of others do not change.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}; in a list, `dicegym.arena.Named` gives one a name. A
            folder that is not a bot itself stands for its contents: each file and folder is an entry.
        seed: names all games and the entries' private randomness; None: drawn, so that no entry can foresee its games.
            The result's ``seed`` gives the same result again.
        workers: number of processes (default: of usable processors).
        progress: called after each check and match with (steps done, all steps, the last step).
        limits: of each entry; default: 10 s and 512 MiB.
        format: name of the format, a key of `FORMATS`; None: the game's own.
        isolation: how untrusted bots are isolated from the referee, from each other and from the rest: "auto" takes
            the best of "jail", "process" and "none" that works here; see `dicegym.sandbox.jail.Isolation`.
        executors: make what runs the matches, instead of ``workers`` processes of this machine; see
            `dicegym.arena.executors`.
        store: where the contest is stored, see `dicegym.arena.storage.Storage`; None: nowhere. The same call again,
            with the same settings and, if one was given, the same seed, plays only what is missing there.
        options: fields of `dicegym.arena.contest_options.ContestOptions` by name, such as ``games=60``.

    Raises:
        ParameterError: two entries have one name, there are too few or too many for the game, or the format does not
            know an option.
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
    settings = Settings(game, form.name, chosen.deciding, Limits.of(limits))
    executors = executors or local(workers)
    result: ContestResult = run_contest(
        form, settings, entries, seed, store, executors, isolation, chosen.less_luck, options=chosen, progress=progress
    )
    return result


def choose_format(game: Game, format: str | None, options: ContestOptions) -> Format:
    """Return the format of a contest; arguments as for `contest`.

    Raises:
        ParameterError: the format does not know an option, or cannot use it with this game.
        UnknownNameError: there is no such format.
    """
    form = format_named(game.spec.contest if format is None else format)
    options.check(form.name)
    form.check(game, options, ())
    return form


def format_named(name: str) -> Format:
    """Return the format of that name, written with ``-`` or ``_``. Raises UnknownNameError."""
    written = str(name).replace("-", "_")
    if written not in FORMATS:
        instead = "Use swiss, which ranks a large field in few rounds." if written in GONE else ""
        raise unknown_name("format of contests", name, [form.title for form in FORMATS.values()], instead)
    return FORMATS[written]


def run_contest(
    form: Format,
    settings: Settings,
    entries: Any,
    seed: int | None,
    store: str | os.PathLike[str] | Storage | None,
    executors: Executors,
    isolation: str,
    actions: bool,
    options: ContestOptions | None = None,
    progress: Progress | None = None,
) -> Any:
    """Check entries, run a contest, begun or continued in a store, and return what ``form`` makes of it.

    ``actions``: whether stored outcomes include the actions, from which luck is computed. Other arguments are as for
    `contest` and `Director`. ``seed=None`` continues a stored contest, if there is one.

    Raises what `Director`, `dicegym.arena.store.store.ContestStore` and `Book` raise, and DependencyError if a library
    of stores is missing.
    """
    with contextlib.ExitStack() as stack:
        book: Any = None
        if store is not None:
            storage = store if isinstance(store, Storage) else Storage(store)
            try:
                from dicegym.arena.store.book import Book
                from dicegym.arena.store.store import ContestStore
            except ImportError as error:
                raise DependencyError.for_extra(
                    str(error.name), extra_of(storage.where), "keeping a contest"
                ) from error
            opened = stack.enter_context(ContestStore(storage.where))
            book = Book(opened, settings._replace(label=storage.label), seed, actions)
            seed = stack.enter_context(contextlib.closing(book)).seed
        director = stack.enter_context(
            Director(settings.game, entries, seed, form, settings.limits, executors, options, progress, isolation, book)
        )
        result = form.run(director)
        if book is None:
            return result
        book.finish(result, director.failures)
        return replace(result, stored=book.stored)
