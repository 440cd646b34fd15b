"""Opening the store of a contest, where somebody wants it kept: its libraries are loaded then, and not before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dicegym.arena.storage import Settings, Storage
from dicegym.errors import DependencyError

if TYPE_CHECKING:
    from dicegym.arena.store.book import Book


@contextlib.contextmanager
def opened(
    storage: Storage | None, settings: Settings, seed: int | None, actions: bool = False
) -> Iterator[Book | None]:
    """Yield the book of a contest, begun or gone on with; None if it is kept nowhere.

    ``actions``: as of `dicegym.arena.store.book.StoredOutcomes`.

    Raises what `dicegym.arena.store.store.ContestStore` and its `begin` raise, and DependencyError if a library is
    missing.
    """
    if storage is None:
        yield None
        return
    try:
        from dicegym.arena.store.book import Book
        from dicegym.arena.store.store import ContestStore
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "keeping a contest") from error
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(ContestStore(storage.where))
        book = Book(store, settings, seed, storage.new, storage.share, actions)
        stack.callback(book.close)
        yield book
