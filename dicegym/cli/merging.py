"""Stores of contests put together."""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.common import StoreName, out


def merge(
    stores: Annotated[list[str], typer.Argument(metavar="STORE...", help="files of shards, or URLs; they stay")],
    store: StoreName = None,
) -> None:
    """Put the matches of stores into another one, each once.

    The contest's own command finds them there, by their keys, and plays nothing again.

    Example: dicegym arena merge one.sqlite two.sqlite --store all.sqlite
    """
    from dicegym.arena.storage import named_store
    from dicegym.arena.store.merging import merge as put_together

    into = named_store(store)
    found = put_together(into, stores)
    known = f"; {found.known:,} were there" if found.known else ""
    out.print(f"put {found.matches:,} matches and {found.examinations:,} checks into {into}{known}")
