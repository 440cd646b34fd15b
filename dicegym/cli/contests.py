"""Contests between agents."""

from __future__ import annotations

from typing import Annotated

import typer

import dicegym
from dicegym.cli.common import (
    MEMORY,
    DrawnSeed,
    GameName,
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
from dicegym.play.seeds import drawn_seed
from dicegym.signals import going_on


def tournament(
    game: GameName,
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            help="agents' names, files, folders; a folder of submissions is all of them (default: all agents)"
        ),
    ] = None,
    seed: DrawnSeed = None,
    games: Annotated[
        int | None,
        typer.Option(help="games of a match (default: the contest's own); of Lucky & Co the most in a playoff"),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="rank by exact win rates, where there are some; --games 0: play nothing")
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
    parameter: Parameters = None,
) -> None:
    """Hold a game's contest: who is best, and was it luck.

    The same command again plays only what is missing in the store: after a kill, or when entries have changed.

    Example: dicegym tournament hog submissions/ bacon --exact
    """
    from dicegym.arena import Limits, contest
    from dicegym.arena.report import show

    check_writable(json_file)
    table = chosen_game(game, parameter)
    limits = Limits(seconds, memory << 20, load_seconds, move_seconds)
    named = entries or dicegym.agent_names(table)
    executors = chosen_executors(workers, ray, shard)
    if ray is None:
        tell_isolation(isolation, named)
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
            games=games,
            exact=exact,
            isolation=isolation,
            store=storage,
            executors=executors,
        )
    show(result.report(matches), out)
    if result.stored is not None:
        err.print(f"dicegym: {result.stored}; --new begins another")
    write_json(json_file, result.to_json())
    if not result.standings:
        raise typer.Exit(1)
