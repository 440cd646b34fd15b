"""Running a contest, in a store where it is to be kept: the store's libraries are loaded then, and not before."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from dicegym.arena.director import Director
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Settings, Storage
from dicegym.errors import DependencyError

if TYPE_CHECKING:
    from dicegym.arena.store.book import Book

_Result = TypeVar("_Result", bound=ContestResult)


def run_contest(
    play: Callable[[Director], _Result],
    settings: Settings,
    entries: Any,
    seed: int | None,
    storage: Storage | None,
    actions: bool = False,
    **how: Any,
) -> _Result:
    """Check entries and run a contest; begin it in a store, or continue it there, and keep its result.

    Args:
        play: plays and ranks.
        settings: of the contest.
        entries: as for `Director`.
        seed: of the contest; None: that of the stored contest, or drawn.
        storage: where it is kept; None: nowhere.
        actions: whether outcomes that the store knows say what was played, too, from which luck is computed.
        how: further arguments of `Director`.

    Raises what `Director`, `dicegym.arena.store.store.ContestStore` and `Book` raise, and DependencyError if a library
    of stores is missing.
    """
    with (
        _opened(storage, settings, seed, actions) as book,
        Director(
            settings.game, entries, seed if book is None else book.seed, limits=settings.limits, book=book, **how
        ) as director,
    ):
        result = play(director)
        if book is not None:
            book.finish(result, director.struck)
            result = replace(result, stored=book.stored)
        return result


@contextlib.contextmanager
def _opened(storage: Storage | None, settings: Settings, seed: int | None, actions: bool) -> Iterator[Book | None]:
    """Yield the book of a contest, begun or continued; None if it is kept nowhere."""
    if storage is None:
        yield None
        return
    try:
        from dicegym.arena.store.book import Book
        from dicegym.arena.store.store import ContestStore
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "keeping a contest") from error
    with (
        ContestStore(storage.where) as store,
        contextlib.closing(Book(store, settings, seed, storage.new, actions)) as book,
    ):
        yield book
