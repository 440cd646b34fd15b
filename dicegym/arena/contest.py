"""The contest of a game, in the format that its fact sheet names.

A format is one file in ``formats/`` and a line here. The file holds a function that is handed a `Director`, decides who
plays whom and ranks what comes back, and a subclass of `ContestResult` with what there is to show.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

from dicegym.arena.director import ContestOptions, Director, Format
from dicegym.arena.entries import AgentSpec
from dicegym.arena.executors import Executors
from dicegym.arena.formats.groups import GROUPS
from dicegym.arena.formats.groups_result import GroupsResult
from dicegym.arena.formats.round_robin import ROUND_ROBIN
from dicegym.arena.formats.round_robin_result import RoundRobinResult
from dicegym.arena.kept import opened
from dicegym.arena.results import ContestResult, Standing
from dicegym.arena.storage import Settings, Storage, storage_of
from dicegym.engine.game import Game
from dicegym.errors import unknown_name
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.sandbox import jail
from dicegym.sandbox.limits import Limits

FORMATS: dict[str, Format[Any]] = {"round_robin": ROUND_ROBIN, "groups": GROUPS}

RoundRobinGame = Literal["hog", "yatzy", "liarsdice", "liarsdice_spot_on"]
"""What type checkers are told of the games whose contest is a round robin; a test compares it with the fact sheets."""
GroupsGame = Literal["lucky"]
"""The same of contests in groups."""

Given = Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec]
R = TypeVar("R", bound=ContestResult[Any])


@overload
def contest(
    game: Game | str,
    entries: Given,
    seed: int | None = ...,
    workers: int | None = ...,
    progress: Progress | None = ...,
    limits: Limits | None = ...,
    *,
    games: int | None = ...,
    exact: bool = ...,
    isolation: str = ...,
    executors: Executors | None = ...,
    store: str | os.PathLike[str] | Storage | None = ...,
    form: Format[R],
) -> R: ...


@overload
def contest(
    game: RoundRobinGame,
    entries: Given,
    seed: int | None = ...,
    workers: int | None = ...,
    progress: Progress | None = ...,
    limits: Limits | None = ...,
    *,
    games: int | None = ...,
    exact: bool = ...,
    isolation: str = ...,
    executors: Executors | None = ...,
    store: str | os.PathLike[str] | Storage | None = ...,
    form: None = ...,
) -> RoundRobinResult: ...


@overload
def contest(
    game: GroupsGame,
    entries: Given,
    seed: int | None = ...,
    workers: int | None = ...,
    progress: Progress | None = ...,
    limits: Limits | None = ...,
    *,
    games: int | None = ...,
    exact: bool = ...,
    isolation: str = ...,
    executors: Executors | None = ...,
    store: str | os.PathLike[str] | Storage | None = ...,
    form: None = ...,
) -> GroupsResult: ...


@overload
def contest(
    game: Game | str,
    entries: Given,
    seed: int | None = ...,
    workers: int | None = ...,
    progress: Progress | None = ...,
    limits: Limits | None = ...,
    *,
    games: int | None = ...,
    exact: bool = ...,
    isolation: str = ...,
    executors: Executors | None = ...,
    store: str | os.PathLike[str] | Storage | None = ...,
    form: None = ...,
) -> ContestResult[Standing]: ...


def contest(
    game: Game | str,
    entries: Given,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    *,
    games: int | None = None,
    exact: bool = False,
    isolation: str = jail.Isolation.AUTO,
    executors: Executors | None = None,
    store: str | os.PathLike[str] | Storage | None = None,
    form: Format[Any] | None = None,
) -> ContestResult[Any]:
    """Check all entries, and hold the contest of a game in its own format.

    The result depends on ``seed`` and the names of the entries alone, not on their order or the number of processes. A
    bad entry is disqualified, and nobody else's results are the worse for it.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}. A folder that is no bot itself stands for all that
            lies in it, each file and folder an entry.
        seed: names all games and the entries' private randomness; None: drawn, so that no entry can foresee its games,
            and told in the result as its ``seed``, which gives the same result again.
        workers: number of processes (default: of usable processors).
        progress: called after each check and match with (done, of how many, what was done last).
        limits: what an entry may use; default: 10 s and 512 MiB.
        games: of a match, instead of as many as the game's contest has; of a contest in groups, the most in a playoff.
        exact: rank by exact values, where the game has them, and say what luck did to the games played. With
            ``games=0`` none are played.
        isolation: how untrusted bots are kept from the referee, from each other and from everything else: "auto" takes
            the best of "jail", "process" and "none" that works here; see `dicegym.sandbox.jail.Isolation`.
        executors: make whoever does the work, instead of ``workers`` processes of this machine; see
            `dicegym.arena.executors`.
        store: where the contest is kept, as `dicegym.arena.storage.Storage` says; None: nowhere. Who holds it again,
            with the same settings and, if any was given, the same seed, plays only what is missing there.
        form: the format, instead of the game's own; the result has its type. With a game's name in quotes, type
            checkers know the result's type by themselves.

    Returns:
        What the format returns: `RoundRobinResult` or `GroupsResult`, or what a format of your own has.

    Raises:
        ParameterError: two entries have one name, there are too few for the game, or the format does not know what is
            asked for.
        UnknownNameError: there is no such game, agent or file.
    """
    game = make_game(game)
    if form is None:
        if game.spec.contest not in FORMATS:
            raise unknown_name("format of contests", game.spec.contest, list(FORMATS))
        form = FORMATS[game.spec.contest]
    options = ContestOptions(games, exact)
    form.check(game, options)
    storage = storage_of(store)
    settings = Settings(
        game, _name_of(form), options.deciding, limits or Limits(), "" if storage is None else storage.label
    )
    with (
        opened(storage, settings, seed) as book,
        Director(
            game,
            entries,
            seed if book is None else book.seed,
            workers,
            progress,
            limits,
            form.fewest(game),
            form.matches,
            options=options,
            isolation=isolation,
            executors=executors,
            book=book,
        ) as director,
    ):
        result: ContestResult[Any] = form.hold(director)
        if book is not None:
            book.finish(result, director.struck)
            result = replace(result, stored=book.stored)
        return result


def _name_of(form: Format[Any]) -> str:
    """Return what a format is called in a store."""
    named = (name for name, known in FORMATS.items() if known is form)
    return next(named, f"{form.hold.__module__}.{form.hold.__qualname__}")
