"""A game that is watched in a terminal: the table changes in its place, and keys pause, hasten and leave it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dicegym.cli.common import out
from dicegym.cli.keys import keys

if TYPE_CHECKING:
    from rich.console import Group

    from dicegym.pictures.watched import WatchedMove

LEAST, MOST = 0.03, 30.0
"""Seconds from move to move that keys lead to."""
PAUSE, ON, FASTER, SLOWER, LEAVE = " ", "n", "+", "-", "q"
NEXT = frozenset({ON, "\r", "\n", "\x1b[C"})
"""Keys that ask for the next move at once; the last is the arrow to the right."""
HELP = "space: pause   n: next move   +: faster   -: slower   q: leave"


class WatchPace:
    """How long each move is seen, as keys have it.

    Args:
        delay: seconds from move to move.
        key: waits so long for a key and returns it, or nothing.
    """

    def __init__(self, delay: float, key: Callable[[float], str]) -> None:
        self.delay = delay
        self.paused = False
        self._key = key

    def wait(self, changed: Callable[[], None]) -> bool:
        """Wait until the next move is due; return False if there is to be none. ``changed``: something was pressed."""
        until = time.monotonic() + self.delay
        while self.paused or time.monotonic() < until:
            pressed = self._key(1.0 if self.paused else until - time.monotonic())
            if pressed in NEXT:
                return True
            if pressed.lower() == LEAVE:
                return False
            if pressed == PAUSE:
                self.paused = not self.paused
                until = time.monotonic() + self.delay
            elif pressed in (FASTER, "="):  # without shift
                self.delay = max(LEAST, self.delay / 2)
                until = min(until, time.monotonic() + self.delay)
            elif pressed in (SLOWER, "_"):
                self.delay = min(MOST, max(LEAST, self.delay) * 2)
                until = time.monotonic() + self.delay
            if pressed:
                changed()
        return True


def show(every: Iterator[WatchedMove], delay: float) -> bool:
    """Print a game move by move; return whether it was seen to its end.

    On a terminal the table changes in its place, below what was done; elsewhere it follows each move.
    """
    if not out.is_terminal:
        for moment in every:
            _tell(moment)
            out.print(f"{moment.scene.text()}\n")
            time.sleep(delay)
        return True
    from rich.live import Live

    with keys() as key, Live(console=out, auto_refresh=False) as live:
        clock = WatchPace(delay, key or _no_keys)
        for number, moment in enumerate(every):
            _tell(moment)

            def draw(number: int = number, moment: WatchedMove = moment) -> None:
                told = "" if moment.over or key is None else _status(number, clock)
                live.update(_table(moment, told), refresh=True)

            draw()
            if not moment.over and not clock.wait(draw):
                live.update(_table(moment, ""), refresh=True)
                return False
    return True


def _no_keys(seconds: float) -> str:
    time.sleep(max(0.0, seconds))
    return ""


def _tell(moment: WatchedMove) -> None:
    for line in moment.done:
        out.print(line)


def _status(number: int, clock: WatchPace) -> str:
    pace = "paused" if clock.paused else f"{clock.delay:.3g} s a move"
    return f"move {number}, {pace}   {HELP}"


def _table(moment: WatchedMove, told: str) -> Group:
    """Return the table, whoever is to move in bold, and what keys do."""
    from rich.console import Group
    from rich.text import Text

    from dicegym.escape import lines

    shown = [
        Text(line, style="bold" if line.startswith(">") else "", no_wrap=True, overflow="ellipsis")
        for line in lines(moment.scene.text()).splitlines()
    ]
    return Group(Text(""), *shown, *([Text(told, style="dim", no_wrap=True, overflow="ellipsis")] if told else []))
