"""Where a command plays: processes of this machine, a Ray cluster, or one shard of a contest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from dicegym.cli.console import err
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.arena.executors import Executors
    from dicegym.arena.storage import Storage


def chosen_executors(workers: int | None = None, ray: str | None = None, shard: str | None = None) -> Executors:
    """Return what makes the executors of a command that was given these options.

    Args:
        workers: processes, or processors of a cluster.
        ray: a cluster's address; empty: the one that runs here, else one of our own; None: no cluster.
        shard: which part of the matches, such as "2/8"; None: all of them.

    Raises:
        ParameterError: there is no such address or shard.
    """
    from dicegym.arena.executors import local

    executors = local(workers)
    if ray is not None:
        from dicegym.arena.ray_executor import ray_cluster

        executors = ray_cluster(ray or None, workers, lambda line: err.print(f"dicegym: {line}"))
    if shard is not None:
        from dicegym.arena.shards import sharded

        executors = sharded(executors, shard)
    return executors


def shared(storage: Storage | None, shard: str | None, seed: int | None) -> Storage | None:
    """Return where a contest is kept of which ``shard`` is played here; None: all of it is.

    Raises:
        ParameterError: there is no such shard, or nothing that shards would have in common.
    """
    if shard is None:
        return storage
    from dicegym.arena.shards import Shard

    part = Shard.of_text(shard)
    if seed is None or storage is None:
        raise ParameterError(
            f"--shard {shard} is a part of a contest that others hold too: give all of them the same --seed, and a "
            "store that takes the results"
        )
    return storage._replace(share=part)


@contextlib.contextmanager
def ending_shards() -> Iterator[None]:
    """Let a command whose shard is played say so, and end well."""
    from dicegym.arena.shards import ShardEnd

    try:
        yield
    except ShardEnd as end:
        err.print(f"dicegym: {end}")
        raise typer.Exit from None
