"""What a server knows of its players while it runs: ratings, and results on their way to the disk."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from dicegym.arena.ratings.elo import START, updated
from dicegym.arena.store.trouble import trouble_of
from dicegym.errors import DicegymError
from dicegym.server.keeper import RETRY, Keeper
from dicegym.server.names import fold_name
from dicegym.server.results import GameResult, PlayerRating, SeatResult, ServerState, winners

if TYPE_CHECKING:
    from dicegym.server.store import Store

T = TypeVar("T")

UNKNOWN = PlayerRating(START, 0, 0)


class Ledger:
    """The ratings as they are now, and a thread that writes results in the order in which they came.

    Results that come while others are being written go to the disk together.

    Args:
        store: where to.
        wait: seconds for which the store may be locked or full.
        log: takes lines for the operator.

    Attributes:
        failed: called with the error when nothing can be written any more.
    """

    def __init__(self, store: Store, wait: float = 0.0, log: Callable[[str], None] = lambda text: None) -> None:
        self.ratings = store.ratings()
        self._spellings = {fold_name(name): name for name in self.ratings}
        self.failed: Callable[[Exception], None] = lambda error: None
        self._store = store
        self._keeper = Keeper(store, wait, log)
        self._news = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(1, "results")
        self._waiting: list[tuple[GameResult, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""
        return name if name in self.ratings else self._spellings.get(fold_name(name))

    def rate(self, names: Sequence[str], totals: Sequence[int], counts: Sequence[bool]) -> tuple[SeatResult, ...]:
        """Return what a game came to, and let it count.

        It does not for those whom ``counts`` leaves out, and for nobody where that leaves but one: ratings are what
        they would be if these had not been there.
        """
        seats = [seat for seat, one in enumerate(counts) if one]
        if len(seats) == 1:
            seats = []
        before = [self.ratings.get(name, UNKNOWN) for name in names]
        after = [known.rating for known in before]
        new = updated([after[seat] for seat in seats], [totals[seat] for seat in seats])
        for seat, rating in zip(seats, new, strict=True):
            after[seat] = rating
        places = tuple(
            SeatResult(
                names[seat],
                total,
                1 + sum(other > total for other in totals),
                before[seat].rating,
                after[seat],
                seat in seats,
            )
            for seat, total in enumerate(totals)
        )
        for place, old, won in zip(places, before, winners(places), strict=True):
            if place.rated:
                self.ratings[place.name] = PlayerRating(place.after, old.games + 1, old.wins + won)
                self._spellings.setdefault(fold_name(place.name), place.name)
        return places

    def write(self, result: GameResult) -> asyncio.Future[None]:
        """Return what is done when the result is on the disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((result, done))
        self._news.set()
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return done

    async def _write(self) -> None:
        """Bring to the disk what waits, until nothing does."""
        keeper = self._keeper
        try:
            while self._waiting or keeper.trouble is not None:
                self._news.clear()
                if self._waiting:
                    batch, self._waiting = self._waiting, []
                    try:
                        told = await self._in_thread(keeper.keep, [result for result, _ in batch])
                    except Exception:
                        self._waiting[:0] = batch
                        raise
                    if told:
                        for _, done in batch:
                            done.set_result(None)
                    else:
                        self._waiting[:0] = batch
                if keeper.trouble is not None:
                    keeper.despair(not self._waiting)
                    await self._in_thread(keeper.retry)
                if keeper.trouble is not None:
                    if self._closing:
                        break
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), RETRY)
        except Exception as error:
            self._fail(error)
        finally:
            self._writing = None

    def _fail(self, error: Exception) -> None:
        """Give up: whose results wait learn of it, and the server."""
        if not isinstance(error, DicegymError):
            error = DicegymError(f"results cannot be written to {self._store.name} ({error}): the server stops")
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done.set_exception(error)
        self.failed(error)

    async def note(self, state: ServerState, ended: bool = False) -> bool:
        """Have the store keep what the run is doing, in turn with the results; return whether that was possible."""
        if self._keeper.trouble is not None:
            return False
        try:
            await self._in_thread(self._store.note, state, ended)
        except Exception as error:
            trouble = trouble_of(error)
            if trouble is None or not trouble.passes:
                raise
            return False
        return True

    async def drain(self) -> None:
        """Wait until everything is on the disk, as far as that can be; then nothing is waited for any more."""
        self._closing = True
        self._news.set()
        while self._writing is not None:
            await self._writing
        if self._waiting:
            self._fail(DicegymError(f"results cannot be written to {self._store.name}: the server stops"))

    def remains(self) -> str:
        """Return what waits beside the file, in words, or nothing."""
        return self._keeper.remains(True).removeprefix("; ")

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    async def _in_thread(self, do: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do, *arguments)
