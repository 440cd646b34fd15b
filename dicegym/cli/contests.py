"""Contests between agents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dicegym
from dicegym.cli.common import (
    MEMORY,
    DrawnSeed,
    GameName,
    HtmlFile,
    IsolationName,
    JsonFile,
    Label,
    LoadSeconds,
    Memory,
    MoveSeconds,
    NewContest,
    NoStore,
    Parameters,
    StoreName,
    check_writable,
    chosen_game,
    chosen_storage,
    err,
    out,
    progress_bar,
    tell_isolation,
    write_json,
)
from dicegym.cli.machines import RayAddress, ShardName, Workers, chosen_executors, ending_shards, shared
from dicegym.errors import ParameterError
from dicegym.play.seeds import drawn_seed
from dicegym.signals import going_on

if TYPE_CHECKING:
    from dicegym.arena import Named
    from dicegym.arena.pages.page import ContestPage
    from dicegym.arena.results import ContestResult
    from dicegym.arena.storage import Storage


CsvSheets = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="write the ranking as CSV too, and matches to FILE-matches"),
]


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
    seed: DrawnSeed = None,
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
    players: Annotated[int | None, typer.Option(help="seats at a table (default: the game's)")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="rank by exact win rates, where there are some; --games 0: play nothing")
    ] = False,
    less_luck: Annotated[
        bool, typer.Option("--less-luck", help="take luck out of the results; a round robin is ranked by what is left")
    ] = False,
    matches: Annotated[bool, typer.Option("--matches", help="list every match below the matrix")] = False,
    seconds: Annotated[float, typer.Option(help="processor time of an entry for all its moves of a match")] = 10.0,
    load_seconds: LoadSeconds = None,
    move_seconds: MoveSeconds = None,
    memory: Memory = MEMORY,
    isolation: IsolationName = "auto",
    workers: Workers = None,
    ray: RayAddress = None,
    shard: ShardName = None,
    store: StoreName = None,
    no_store: NoStore = False,
    new: NewContest = False,
    label: Label = "",
    json_file: JsonFile = None,
    csv_file: CsvSheets = None,
    html_file: HtmlFile = None,
    parameter: Parameters = None,
) -> None:
    """Hold a game's contest: who is best, and was it luck.

    The same command again plays only what is missing in the store: after a kill, or when entries have changed.

    Example: dicegym tournament hog submissions/ bacon --exact

    Example: dicegym tournament yatzy mine=bots/yatzy.py gather thrifty --format swiss --rounds 2

    Example: dicegym tournament liarsdice even honest bayes --less-luck
    """
    from dicegym.arena import Limits, Named, contest
    from dicegym.arena.report import show

    for file in (json_file, csv_file, html_file):
        check_writable(file)
    _check_said_once(parameter, players)
    table = chosen_game(game, parameter)
    limits = Limits(seconds, memory << 20, load_seconds, move_seconds)
    named = named_entries(entries or dicegym.agent_names(table))
    executors = chosen_executors(workers, ray, shard)
    if ray is None:
        tell_isolation(isolation, (str(one.spec) if isinstance(one, Named) else one for one in named))
    storage = chosen_storage(store, no_store, new, label)
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
            limits,
            format=format,
            games=games,
            exact=exact,
            seeds=seeds,
            rounds=rounds,
            seeding=seeding,
            less_luck=less_luck,
            players=players,
            isolation=isolation,
            store=storage,
            executors=executors,
        )
    show(result.report(matches), out)
    if len(result.standings) < 2:
        err.print("dicegym: no contest was held, as fewer than two entries can play")
    hand_over(result, storage, json_file, csv_file, html_file)


def hand_over(
    result: ContestResult[Any],
    storage: Storage | None,
    json_file: Path | None,
    csv_file: Path | None,
    html_file: Path | None,
) -> None:
    """Say where a result is kept and write the files that were asked for.

    Raises Exit(1) if fewer than two were ranked: what is written then says who could not play, and why.
    """
    if result.stored is not None:
        err.print(f"dicegym: {result.stored}; --new begins another")
    write_json(json_file, result.to_json())
    if csv_file is not None:
        from dicegym.arena.sheets import result_sheets

        result_sheets(result, csv_file)
    if html_file is not None:
        from dicegym.arena.pages.contests import write_page

        write_page(_page(result, storage), html_file)
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


def _check_said_once(parameters: list[str] | None, players: int | None) -> None:
    """Raise ParameterError for two numbers of players."""
    given = [text for text in parameters or [] if text.partition("=")[0] == "players"]
    if given and players is not None:
        raise ParameterError(f"--players {players} and --parameter {given[0]} say the same: give one of them")


def _page(result: ContestResult[Any], storage: Storage | None) -> ContestPage:
    """Return the page of a result: with its games, if it is stored."""
    if result.stored is None or storage is None:
        from dicegym.arena.pages.contests import page_of_result

        return page_of_result(result)
    from dicegym.arena.pages.stored import stored_page
    from dicegym.arena.store.reading import StoreReader

    with StoreReader(storage.where, waits=True) as reader:
        return stored_page(reader, reader.contest(result.stored.contest))
