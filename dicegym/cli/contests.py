"""Contests between agents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dicegym
from dicegym.cli.console import err, out, write_json
from dicegym.cli.machines import chosen_executors, ending_shards, shared
from dicegym.cli.options import (
    GameName,
    IsolationName,
    Label,
    LessLuck,
    LimitsGiven,
    Outputs,
    Parameters,
    RayAddress,
    Seed,
    StoreName,
    Workers,
    chosen_game,
    chosen_storage,
    limits_of,
    output,
    tell_isolation,
)
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError
from dicegym.play.seeds import drawn_seed
from dicegym.signals import going_on

if TYPE_CHECKING:
    from dicegym.arena import Named
    from dicegym.arena.pages.page import ContestPage
    from dicegym.arena.results import ContestResult
    from dicegym.arena.storage import Storage


ENDINGS = (".json", ".csv", ".html")
"""What a contest's result can be written as."""


def tournament(
    game: GameName,
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]ENTRY",
            help="agents' names, files, folders, with names of your own if you like; a folder of submissions is all of "
            "them (default: all agents)",
        ),
    ] = None,
    seed: Seed = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="round-robin|groups|one-table|swiss",
            help="who meets whom (default: the game's own)",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(help="games of a match (default: the contest's own); in groups the most of a playoff"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="how often each match is played, with other dice each time")] = 1,
    rounds: Annotated[int | None, typer.Option(help="of swiss (default: as many as there need be)")] = None,
    seeding: Annotated[
        bool, typer.Option("--seeding", help="seed entries in the order named, strongest first (default: by lot)")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="rank by exact win rates, where there are some; --games 0: play nothing")
    ] = False,
    less_luck: LessLuck = False,
    limit: LimitsGiven = None,
    isolation: IsolationName = "auto",
    workers: Workers = None,
    ray: RayAddress = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="play one of N parts of the matches, for batch queues")
    ] = None,
    store: StoreName = None,
    label: Label = "",
    files: Annotated[list[Path] | None, output(*ENDINGS)] = None,
    parameter: Parameters = None,
) -> None:
    """Run a contest between agents, and rank them.

    The same command again plays only what is missing in the store: after a kill, or when entries have changed. A .csv
    file holds the ranking, and a second one beside it the matches.

    Example: dicegym tournament hog submissions/ bacon --exact

    Example: dicegym tournament yatzy mine=bots/yatzy.py gather thrifty --format swiss --rounds 2

    Example: dicegym tournament liarsdice even honest bayes --less-luck
    """
    from dicegym.arena import Named, contest
    from dicegym.arena.report import show

    written = Outputs(files, *ENDINGS)
    table = chosen_game(game, parameter)
    named = named_entries(entries or dicegym.agent_names(table))
    executors = chosen_executors(workers, ray, shard)
    if ray is None:
        tell_isolation(isolation, (str(one.spec) if isinstance(one, Named) else one for one in named))
    storage = chosen_storage(store, label)
    again = "the same command goes on where it stopped"
    if storage is None:
        seed = drawn_seed() if seed is None else seed
        again = f"and nothing is kept of the contest; --seed {seed} begins the same one again"
    storage = shared(storage, shard, seed)
    with progress_bar("checks and matches") as progress, going_on(again), ending_shards():
        result = contest(
            table,
            named,
            seed,
            None,
            progress,
            limits_of(limit),
            format=format,
            games=games,
            exact=exact,
            seeds=seeds,
            rounds=rounds,
            seeding=seeding,
            less_luck=less_luck,
            isolation=isolation,
            store=storage,
            executors=executors,
        )
    show(result.report(), out)
    if len(result.standings) < 2:
        err.print("dicegym: no contest was run, as fewer than two entries can play")
    hand_over(result, storage, written)


def hand_over(result: ContestResult[Any], storage: Storage | None, written: Outputs) -> None:
    """Say where a result is stored, and write the files that were asked for.

    Raises Exit(1) if fewer than two were ranked: what is written then says who could not play, and why.
    """
    if result.stored is not None:
        err.print(f"dicegym: {result.stored}; --label NAME begins another")
    write_json(written[".json"], result.to_json())
    if (sheet := written[".csv"]) is not None:
        from dicegym.arena.sheets import result_sheets

        result_sheets(result, sheet)
    if (page := written[".html"]) is not None:
        from dicegym.arena.pages.contests import write_page

        write_page(_page(result, storage), page)
    if len(result.standings) < 2:
        raise typer.Exit(1)


def named_entries(given: Iterable[str]) -> list[str | Named]:
    """Return entries as they were given, ``name=entry`` under that name; what exists under all of the text is that."""
    from dicegym.arena import Named

    found: list[str | Named] = []
    for text in given:
        name, equals, spec = text.partition("=")
        if not equals or not re.fullmatch(r"[^()/\\]*", name):  # a path, or the arguments of an agent
            found.append(text)
        elif Path(text).expanduser().exists():
            err.print(f"dicegym: {text} exists, and is taken for a path: write ./{text} to say so")
            found.append(text)
        elif not name or not spec:
            raise ParameterError(f"{text!r} names no entry: write NAME=ENTRY, such as mine=bots/hog.py")
        else:
            found.append(Named(name, spec))
    return found


def _page(result: ContestResult[Any], storage: Storage | None) -> ContestPage:
    """Return the page of a result: with its games, if it is stored."""
    if result.stored is None or storage is None:
        from dicegym.arena.pages.contests import page_of_result

        return page_of_result(result)
    from dicegym.arena.pages.stored import stored_page
    from dicegym.arena.store.reading import StoreReader

    with StoreReader(storage.where, waits=True) as reader:
        return stored_page(reader, reader.contest(result.stored.contest))
