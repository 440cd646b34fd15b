"""Who has a contest: one process at a time, until it ends in whatever way."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from filelock import FileLock, Timeout

from dicegym.arena.store.store import ContestStore
from dicegym.errors import ParameterError

_log = logging.getLogger("dicegym.store")
WHOLE = (1, 1)
"""The share of a contest that is all of it."""
SECONDS_BETWEEN = 0.2
"""Between two attempts to have what another process has."""
SECONDS_TO_NOTICE = 1.0
"""A server may take so long to see that a process which had a contest has been killed."""


@contextlib.contextmanager
def lock_contest(
    store: ContestStore, contest: int, share: tuple[int, int] | None = WHOLE, waits: bool = False
) -> Iterator[None]:
    """Reserve a contest, or a share of it, for this process within the context.

    Args:
        store: where.
        contest: its number.
        share: which of how many shares; None: the whole contest, and nobody has any share of it.
        waits: whether to wait, with words, while another process has it.

    Raises:
        ParameterError: another process has it.
    """
    words = f"contest {contest} of {store.name} is being held by another process"
    told = False
    while True:
        with contextlib.ExitStack() as stack:
            try:
                if store.path is None:
                    _hold_on_server(stack, store, contest, share)
                else:
                    for file in _files(store.path, contest, share):
                        lock = FileLock(file, timeout=0)
                        stack.enter_context(lock)
                        stack.callback(_remove, file)
            except Timeout:
                if not waits:
                    raise ParameterError(f"{words}: wait for it, or begin another contest") from None
            else:
                yield
                return
        if not told:
            _log.warning("dicegym: %s: waiting until that has ended", words)
        told = True
        time.sleep(SECONDS_BETWEEN)


def lock_files(store: Path, contest: int) -> list[Path]:
    """Return the files beside a store that are there, and locked, while somebody has a contest or shares of it."""
    return sorted({*_files(store, contest, WHOLE), *_files(store, contest, None)} & {*store.parent.iterdir()})


def _files(store: Path, contest: int, share: tuple[int, int] | None) -> list[Path]:
    """Return the files that are locked; they lie beside the store."""
    whole = store.with_name(f"{store.name}-contest-{contest}-lock")
    if share is None:
        return [whole, *sorted(store.parent.glob(f"{store.name}-contest-{contest}-*-lock"))]
    return [whole if share == WHOLE else store.with_name(f"{store.name}-contest-{contest}-{share[0]}-lock")]


def _hold_on_server(
    stack: contextlib.ExitStack, store: ContestStore, contest: int, share: tuple[int, int] | None
) -> None:
    """Hold a contest as long as a connection lasts. Raises Timeout if another process has it."""
    connection = stack.enter_context(store.connected()).execution_options(isolation_level="AUTOCOMMIT")
    stack.callback(connection.invalidate)  # else it would go on in the pool, and have the lock
    end = time.monotonic() + SECONDS_TO_NOTICE
    taken = sa.select(sa.func.pg_try_advisory_lock(contest, (share or WHOLE)[0]))
    while not connection.execute(taken).scalar():
        if time.monotonic() > end:
            raise Timeout(store.name)
        time.sleep(0.05)
    others = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = :contest AND objsubid = 2 "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    if share is None and connection.execute(sa.text(others), {"contest": contest}).scalar_one() > 1:
        raise Timeout(store.name)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
