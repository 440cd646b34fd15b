"""What the operator of a server sees: a live scoreboard on a terminal, plain lines elsewhere.

All printing is done by a thread of its own, so that a terminal that does not take it (or a full pipe) stops no game.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dicegym.escape import one_line
from dicegym.server.game_results import PlayerRating
from dicegym.server.game_table import Table as GameTable
from dicegym.server.server import Server, stamp

REFRESH = 0.5
"""Seconds between two pictures."""
MOST_LINES = 10_000
"""Lines that are kept for a pipe that takes none; later ones are lost."""
LONGEST_LINE = 1000
"""Characters of a line that are shown."""


class Scoreboard:
    """Shows what happens on a server.

    Args:
        console: where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._jobs: queue.Queue[Callable[[], object] | None] = queue.Queue(MOST_LINES)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        self._speed = Speed()
        self._live: Live | None = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with contextlib.suppress(OSError, ValueError):  # its reader has gone
                job()

    def _do(self, job: Callable[[], object]) -> None:
        with contextlib.suppress(queue.Full):
            self._jobs.put_nowait(job)

    def log(self, text: str) -> None:
        """Print a line, where there is no picture that shows it."""
        if self._live is None:
            line = one_line(f"{stamp()} {text}", LONGEST_LINE)
            self._do(lambda: self._console.print(line, markup=False, highlight=False, soft_wrap=True))

    @contextlib.asynccontextmanager
    async def showing(self, server: Server) -> AsyncIterator[None]:
        """Show the server while it runs; the last picture stays."""
        if not self._console.is_terminal:
            yield
            return
        live = self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")
        self._do(live.start)
        task = asyncio.get_running_loop().create_task(self._refresh(server, live))
        try:
            yield
        finally:
            task.cancel()
            self._show(server, live)
            self._do(live.stop)
            self._live = None

    def close(self) -> None:
        """Print what is left to print, unless that takes long."""
        with contextlib.suppress(queue.Full):
            self._jobs.put_nowait(None)
        self._thread.join(1)

    async def _refresh(self, server: Server, live: Live) -> None:
        while True:
            if self._jobs.empty():  # else the terminal has not taken the last picture yet
                self._show(server, live)
            await asyncio.sleep(REFRESH)

    def _show(self, server: Server, live: Live) -> None:
        shown = picture(server, self._speed.after(server.seconds, server.lobby.turns), self._console.size.height)
        self._do(lambda: live.update(shown, refresh=True))


class Speed:
    """Turns a second, over the last few pictures."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def after(self, seconds: float, turns: int) -> float:
        """Return the mean since about five seconds ago, given all turns so far."""
        self._seen = [*self._seen[-10:], (seconds, turns)]
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return (after - before) / (last - first) if last > first else 0.0


def picture(server: Server, speed: float, height: int) -> RenderableType:
    """Return the scoreboard for a terminal of ``height`` lines."""
    lobby, best, lines = server.lobby, server.store.best(), list(server.lines)
    rows = max(height - 12, 6)  # what headings and frames leave
    tables, ratings, last = _shares(rows, len(lobby.tables), len(best), len(lines))
    parts: list[RenderableType] = [
        Text(f"{server.title} server on {', '.join(server.addresses)}", style="bold"),
        Text(
            f"{len(lobby.clients)} connections, {len(lobby.waiting)} waiting, "
            f"{len(lobby.tables)} games in progress, {lobby.finished} finished, {speed:,.0f} turns/s"
            + (" - resting: no remote bot is here" if lobby.resting else "")
        ),
        _ratings(best, ratings),
    ]
    if lobby.tables:
        parts.append(_tables(sorted(lobby.tables, key=lambda table: table.number), tables))
    parts += [
        Text(one_line(text, LONGEST_LINE), overflow="ellipsis", no_wrap=True) for text in lines[len(lines) - last :]
    ]
    return Group(*parts)


def _shares(rows: int, *wanted: int) -> list[int]:
    """Share out ``rows``: everybody gets a third of them, and what others leave."""
    shares = [min(want, rows // len(wanted)) for want in wanted]
    for i, want in enumerate(wanted):
        shares[i] += min(want - shares[i], rows - sum(shares))
    return shares


def _frame(title: str, there: int, rows: int, columns: dict[str, Any]) -> Table:
    """Return an empty table that is to show ``rows`` of what is ``there``."""
    more = f" (and {there - rows} more)" if there > rows else ""
    table = Table(title=f"{title}{more}", title_justify="left", title_style="bold")
    for name, justify in columns.items():
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")
    return table


def _ratings(best: list[tuple[str, PlayerRating]], rows: int) -> Table:
    columns = {"": "right", "Player": "left", "Rating": "right", "Games": "right", "Wins": "right"}
    table = _frame("Ratings", len(best), rows, columns)
    for place, (name, known) in enumerate(best[:rows], 1):
        table.add_row(str(place), Text(name), known.shown, str(known.games), str(known.wins))
    return table


def _tables(playing: list[GameTable], rows: int) -> Table:
    columns = {"Game": "right", "Points so far, the player to move marked": "left"}
    table = _frame("Games in progress", len(playing), rows, columns)
    for one in playing[:rows]:
        line = Text()
        for seat, total in enumerate(one.totals):
            moves = seat == one.mover and not one.over
            line.append(f"{'>' if moves else ' '}{one.seats[seat].name} {total}   ", style="bold" if moves else "")
        table.add_row(str(one.number + 1), line)
    return table
