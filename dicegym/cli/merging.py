"""Stores of contests put together, and what they hold tried."""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.common import StoreName, out, progress_bar

Sample = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="play so many matches of each store again, drawn at random (default: all)"),
]


def merge(
    stores: Annotated[list[str], typer.Argument(metavar="STORE...", help="files of shards, or URLs; they stay")],
    sample: Sample = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="take matches, too, that an entry ended by failing, which no replay shows")
    ] = False,
    store: StoreName = None,
) -> None:
    """Put the matches of stores into another one, each once.

    Their games are played again, and nothing is taken of a store in which something does not follow from them. The
    contest's own command finds the matches there, by their keys, checks the entries, and plays what is missing.

    Example: dicegym arena merge one.sqlite two.sqlite --store all.sqlite
    """
    from dicegym.arena.storage import named_store
    from dicegym.arena.store.merging import merge as put_together

    into = named_store(store)
    with progress_bar("matches") as progress:
        found = put_together(into, stores, sample, failed, progress)
    known = f"; {found.known:,} were there" if found.known else ""
    out.print(f"put {found.matches:,} matches into {into}{known}; {found.replayed:,} were played again")
    if found.failed:
        taken = "taken as they are stored" if failed else "left out, and are played anew (--failed takes them)"
        out.print(f"{found.failed:,} that an entry ended by failing are {taken}")
    if found.other_rules:
        out.print(f"{found.other_rules:,} by other rules than today's are left out")


def verify(sample: Sample = None, store: StoreName = None) -> None:
    """Play a store's matches again, and compare results.

    All results, reports and rankings of contests that have ended are made anew from the matches, and compared too.

    No replay can show that a bot chose its moves, or that it failed. Dates, versions, isolation and remarks are taken
    as they were saved.

    Example: dicegym arena verify --store all.sqlite
    """
    from dicegym.arena.saved_results import refuse_wrong_results, result_verdicts
    from dicegym.arena.storage import named_store
    from dicegym.arena.store.reading import StoreReader
    from dicegym.arena.store.verifying import refuse_wrong, verdicts

    with StoreReader(named_store(store)) as reader:
        with progress_bar("matches") as progress, reader.connection() as connection:
            found = list(verdicts(connection, sample, progress))
        refuse_wrong(reader.name, found)
        unknown = sum(one.failed or one.other_rules for one in found)
        cannot = f"; {unknown:,} cannot be (an entry failed, or the rules were others)" if unknown else ""
        replayed = sum(one.replayed for one in found)
        out.print(f"{reader.name} holds {len(found):,} matches: {replayed:,} were played again to the same end{cannot}")
        with progress_bar("contests") as progress:
            results = list(result_verdicts(reader, progress))
        refuse_wrong_results(reader.name, results)
        made_again = sum(not one.unknown for one in results)
        out.print(f"{made_again:,} of {len(results):,} saved results were made again from them, and are the same")
        for one in results:
            if one.unknown:
                out.print(f"  contest {one.contest} was left out: {one.unknown}")
