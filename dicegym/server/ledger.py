"""What a server knows of its players while it runs: ratings, and results on their way to the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from dicegym.arena.ratings import START, updated
from dicegym.errors import DicegymError
from dicegym.server.results import GameResult, PlayerRating, SeatResult, ServerState, winners

if TYPE_CHECKING:
    from dicegym.server.store import Store

UNKNOWN = PlayerRating(START, 0, 0)


class Ledger:
    """The ratings as they are now, and a thread that writes results in the order in which they came.

    Results that come while others are being written go to the disk together.
    """

    def __init__(self, store: Store) -> None:
        self.ratings = store.ratings()
        self._store = store
        self._thread = ThreadPoolExecutor(1, "results")
        self._waiting: list[tuple[GameResult, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

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
        return places

    def write(self, result: GameResult) -> asyncio.Future[None]:
        """Return what is done when the result is on the disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((result, done))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return done

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await loop.run_in_executor(self._thread, self._store.write, [result for result, _ in batch])
            except Exception as error:
                failed = DicegymError(f"results cannot be written to {self._store.path} ({error}): the server stops")
                for _, done in batch:
                    done.set_exception(failed)
            else:
                for _, done in batch:
                    done.set_result(None)
        self._writing = None

    async def note(self, state: ServerState, ended: bool = False) -> None:
        """Have the store keep what the run is doing, in turn with the results."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._store.note, state, ended)

    async def drain(self) -> None:
        """Wait until everything is written."""
        while self._writing is not None:
            await self._writing

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()
