"""Contests: a game's own, or one of another format.

A format is one file in ``formats/`` and a line here: a function that is handed a `Director`, decides who plays whom and
ranks what comes back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Format
from dicegym.arena.entries import AgentSpec
from dicegym.arena.executors import Executors
from dicegym.arena.formats.groups import GROUPS
from dicegym.arena.formats.one_table import ONE_TABLE
from dicegym.arena.formats.round_robin import ROUND_ROBIN
from dicegym.arena.formats.settling import table_for
from dicegym.arena.formats.swiss import SWISS
from dicegym.arena.kept import run_contest
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Settings, Storage, storage_of
from dicegym.engine.game import Game
from dicegym.errors import unknown_name
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.sandbox import jail
from dicegym.sandbox.limits import Limits

FORMATS: dict[str, Format] = {form.name: form for form in (ROUND_ROBIN, GROUPS, ONE_TABLE, SWISS)}


def contest(
    game: Game | str,
    entries: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec],
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    *,
    format: Format | str | None = None,
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
        format: name of the format, a key of `FORMATS`, or a `Format`; None: the game's own.
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
    chosen = ContestOptions.of(**options)
    game, form = settle_choices(make_game(game), format, chosen)
    storage = storage_of(store)
    label = "" if storage is None else storage.label
    return run_contest(
        form.hold,
        Settings(game, _name_of(form), chosen.deciding, limits or Limits(), label),
        entries,
        seed,
        storage,
        form=form,
        options=chosen,
        actions=chosen.less_luck,
        workers=workers,
        progress=progress,
        isolation=isolation,
        executors=executors,
    )


def settle_choices(game: Game, format: Format | str | None, options: ContestOptions) -> tuple[Game, Format]:
    """Return the table and the format of a contest that is chosen so, before anything is done; arguments as `contest`.

    Raises:
        ParameterError: the format does not know what is asked for, or not of this game.
        UnknownNameError: there is no such format.
    """
    form = format if isinstance(format, Format) else format_named(game.spec.contest if format is None else format)
    options.check(form.name, form.takes)
    if options.players is not None:
        game = table_for(game, options.players)
    form.check(game, options)
    return game, form


def format_named(name: str) -> Format:
    """Return the format of that name, which may be written with ``-`` or ``_``. Raises UnknownNameError."""
    form = FORMATS.get(str(name).replace("-", "_"))
    if form is None:
        raise unknown_name("format of contests", name, [form.title for form in FORMATS.values()])
    return form


def _name_of(form: Format) -> str:
    """Return what a format is called in a store."""
    named = (name for name, known in FORMATS.items() if known is form)
    return next(named, f"{form.hold.__module__}.{form.hold.__qualname__}")
