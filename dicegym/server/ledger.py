"""What a server knows of its players while it runs: ratings, and results on their way to the store."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from dicegym.arena.ratings.elo import START, updated
from dicegym.arena.store.trouble import Trouble, called, trouble_of
from dicegym.errors import DicegymError
from dicegym.server.names import fold_name
from dicegym.server.results import GameResult, PlayerRating, SeatResult, ServerState, winners

if TYPE_CHECKING:
    from dicegym.server.store import Store

T = TypeVar("T")

UNKNOWN = PlayerRating(START, 0, 0)
RETRY = 0.5
"""Seconds between two attempts at a store that could not be written."""


class Ledger:
    """The ratings as they are now, and a thread that writes results in the order in which they came.

    Results that come while others are being written are stored together, in one transaction. While the store is locked,
    full or out of reach they wait, and so does whoever played them; other games go on.

    Args:
        store: where to.
        wait: seconds for which the store may be locked, full or out of reach; then the server stops.
        log: takes lines for the operator.

    Attributes:
        failed: called with the error when nothing can be written any more.
    """

    def __init__(self, store: Store, wait: float = 0.0, log: Callable[[str], None] = lambda text: None) -> None:
        self.ratings = store.ratings()
        self._spellings = {fold_name(name): name for name in self.ratings}
        self.failed: Callable[[Exception], None] = lambda error: None
        self._store = store
        self._wait, self._log = wait, log
        self._trouble: Trouble | None = None  # what is the matter with the store
        self._since = 0.0
        self._closing = asyncio.Event()
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
        """Return what is done when the result is stored."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((result, done))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return done

    async def _write(self) -> None:
        """Store what waits, until nothing does."""
        try:
            while self._waiting:
                batch = list(self._waiting)
                try:
                    await self._in_thread(self._store.write, [result for result, _ in batch])
                except Exception as error:
                    self._meet(error)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._closing.wait(), RETRY)
                    continue
                if self._trouble is not None:
                    self._log(f"{called(self._store.name)} can be written again: {len(batch)} results are stored")
                    self._trouble = None
                del self._waiting[: len(batch)]
                for _, done in batch:
                    done.set_result(None)
        except Exception as error:
            self._fail(error)
        finally:
            self._writing = None

    def _meet(self, error: Exception) -> None:
        """Take note that results cannot be stored. Raises DicegymError if it is in vain to wait longer."""
        found, new = trouble_of(error), self._trouble is None
        if found is None:
            raise error
        self._trouble = found
        if new:
            self._since = time.monotonic()
        name, way_out = called(self._store.name), found.instead.replace("FILE", str(self._store.name))
        if not found.passes or self._closing.is_set() or time.monotonic() >= self._since + self._wait:
            since = f" for {time.monotonic() - self._since:.1f} s" if found.passes else ""
            lost = f"{len(self._waiting)} unannounced results are lost"
            raise DicegymError(f"{name} {found.reason}{since}, and the server stops: {way_out}; {lost}")
        if new:
            waits = f"results wait for at most {self._wait:g} s until they are told, and other games go on"
            self._log(f"{name} {found.reason}: {waits}; {way_out}")

    def _fail(self, error: Exception) -> None:
        """Give up: whose results wait learn of it, and the server."""
        if not isinstance(error, DicegymError):
            error = DicegymError(f"results cannot be written to {self._store.name} ({error}): the server stops")
        if self._closing.is_set():
            self._log(str(error))
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done.set_exception(error)
        self.failed(error)

    async def note(self, state: ServerState, ended: bool = False) -> bool:
        """Have the store keep what the run is doing, in turn with the results; return whether that was possible."""
        if self._trouble is not None:
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
        """Wait until everything is stored, as far as that can be; then nothing is waited for any more."""
        self._closing.set()
        while self._writing is not None:
            await self._writing

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    async def _in_thread(self, do: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do, *arguments)
