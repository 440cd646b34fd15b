"""On what a command plays: processes of this machine, a Ray cluster, or a shard of the whole."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dicegym.cli.common import err
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.arena.executors import Executors
    from dicegym.arena.storage import Storage

RAY = "--ray"
TUTOR = "--tutor"
Workers = Annotated[int | None, typer.Option(help="processes (default: the processor's cores, or all of the cluster)")]
RayAddress = Annotated[
    str | None,
    typer.Option(
        RAY,
        metavar="[ADDRESS]",
        help="play on a Ray cluster: host:6379, ray://host:10001, or auto (default), the one that runs on this machine",
    ),
]
ShardName = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="play one of N parts of the matches, for batch queues"),
]


class Command(TyperCommand):
    """A command whose ``--ray`` may stand without an address, and ``--tutor`` without a level.

    What follows is its value if it looks like one and, of an address, is no file; else it is the command's next
    argument.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments as Typer does, an empty value put after an option without one."""
        for option, fits in ((RAY, is_address), (TUTOR, _is_level)):
            args = _with_values(args, option, fits) if option in args else args
        return super().parse_args(ctx, args)


def is_address(text: str) -> bool:
    """Return whether ``text`` can only be meant as the address of a cluster, right or wrong, and is no file."""
    from dicegym.arena.ray_executor import RUNNING

    looks = "://" in text or re.fullmatch(r"[\w.\-\[\]:]+:\d+", text) is not None
    return text == RUNNING or (looks and not os.path.exists(text))


def _is_level(text: str) -> bool:
    return bool(text) and not text.startswith("-")  # what is none is refused with those that there are


def _with_values(args: list[str], option: str, fits: Callable[[str], bool]) -> list[str]:
    end = args.index("--") if "--" in args else len(args)
    whole: list[str] = []
    for number, one in enumerate(args):
        follows = args[number + 1] if number + 1 < end else ""
        bare = number < end and one == option and not fits(follows)
        whole.append(f"{option}=" if bare else one)
    return whole


def chosen_executors(workers: int | None = None, ray: str | None = None, shard: str | None = None) -> Executors:
    """Return what makes the executors of a command that was given these options.

    Args:
        workers: processes, or processors of a cluster.
        ray: a cluster's address; empty: the one that runs here; None: no cluster.
        shard: which part of the matches, such as "2/8"; None: all of them.

    Raises:
        ParameterError: there is no such shard.
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
