"""A game seen in a terminal: the table changes in its place, and keys pause it, go back, hasten and leave it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from dicegym.cli.console import out, print_lines
from dicegym.cli.single_keys import keys
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Group

    from dicegym.pictures.watched import WatchedMove

Delay = Annotated[
    float | None, Option(min=0, help="seconds for each move (default: 1; 0 if the output is not a terminal)")
]
DELAY = 1.0
"""Seconds for each move in a terminal and in films by default."""
SHORTEST, LONGEST = 0.03, 30.0
"""Seconds from move to move that keys lead to."""
PAUSE, FASTER, SLOWER = frozenset(" "), frozenset("+="), frozenset("-_")
LEAVE = frozenset({"q", "Q", "\x1b", "\x04"})
NEXT = frozenset(
    {"n", "l", "j", "\r", "\n", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB", "\xe0M", "\x00M", "\xe0P", "\x00P"}
)
BACK = frozenset(
    {"p", "h", "k", "\x7f", "\b", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\xe0K", "\x00K", "\xe0H", "\x00H"}
)
FIRST = frozenset({"g", "\x1b[H", "\x1bOH", "\x1b[1~", "\xe0G", "\x00G"})
LAST = frozenset({"G", "\x1b[F", "\x1bOF", "\x1b[4~", "\xe0O", "\x00O"})
"""Keys: letters, and what terminals and Windows send for arrows, Home and End."""
ALL = 1 << 30
"""More moves than a game has."""
HELP = "space: pause   n or →: next   p or ←: back   +: faster   -: slower   q: leave"


class ViewerPace:
    """How long each move is shown, as keys have it.

    Args:
        delay: seconds from move to move.
        key: waits that many seconds for a key and returns it, or "".
        paused: whether every move waits for a key.
    """

    def __init__(self, delay: float, key: Callable[[float], str], paused: bool = False) -> None:
        self.delay = delay
        self.paused = paused
        self._key = key

    def wait(self, changed: Callable[[], None]) -> int | None:
        """Wait until another move is to be shown; ``changed`` is called when the pace has changed.

        Returns:
            How many moves to go on, negative to go back; None to leave.
        """
        until = time.monotonic() + self.delay
        while self.paused or time.monotonic() < until:
            pressed = self._key(1.0 if self.paused else until - time.monotonic())
            for pressing, moves in ((NEXT, 1), (BACK, -1), (FIRST, -ALL), (LAST, ALL), (LEAVE, None)):
                if pressed in pressing:
                    self.paused = self.paused or moves not in (1, None)  # going back is for looking
                    return moves
            if pressed in PAUSE:
                self.paused = not self.paused
                until = time.monotonic() + self.delay
            elif pressed in FASTER:
                self.delay = max(SHORTEST, self.delay / 2)
                until = min(until, time.monotonic() + self.delay)
            elif pressed in SLOWER:
                self.delay = min(LONGEST, max(SHORTEST, self.delay) * 2)
                until = time.monotonic() + self.delay
            if pressed:
                changed()
        return 1


def record(moves: Iterator[WatchedMove], path: Path, delay: float | None) -> None:
    """Write a game as a GIF, ``delay`` seconds a move. Raises ParameterError for none."""
    from dicegym.envs.film import LAST, write_gif

    delay = DELAY if delay is None else delay
    if not delay:
        raise ParameterError("a film whose pictures last no time cannot be seen: give --delay more than 0")
    every = list(moves)
    write_gif(every, path, delay)
    out.print(f"wrote {path}: {len(every)} pictures, {delay * (len(every) - 1 + LAST):.0f} s")


def show(moves: Iterator[WatchedMove], delay: float | None, paused: bool = False) -> bool:
    """Print a game move by move; return whether it was seen to its end.

    On a terminal the table changes in its place, below what was done; elsewhere it follows each move.

    Args:
        moves: the game's, made when they are first shown.
        delay: seconds from move to move; None: `DELAY` on a terminal.
        paused: whether each move waits for a key, the last one too.
    """
    if not out.is_terminal:
        for move in moves:
            print_lines([*move.done, f"{move.scene.text()}\n"])
            time.sleep(delay or 0.0)
        return True
    from rich.live import Live

    seen = [next(moves)]
    with keys() as key, Live(console=out, auto_refresh=False) as live:
        pace = ViewerPace(DELAY if delay is None else delay, key or _no_keys, paused)
        now = 0
        print_lines(seen[0].done)
        while True:
            move = seen[now]

            def draw(now: int = now, move: WatchedMove = move) -> None:
                status = _status(now, pace) if key is not None and (pace.paused or not move.over) else ""
                live.update(_table(move, status, now < len(seen) - 1), refresh=True)

            draw()
            if move.over and not pace.paused:
                return True
            moves_on = pace.wait(draw)
            if moves_on is None or (moves_on > 0 and move.over):
                live.update(_table(move, ""), refresh=True)
                return seen[-1].over
            now = max(0, now + moves_on)
            while now >= len(seen) and not seen[-1].over:
                seen.append(next(moves))
                print_lines(seen[-1].done)
            now = min(now, len(seen) - 1)


def _no_keys(seconds: float) -> str:
    time.sleep(max(0.0, seconds))
    return ""


def _status(number: int, pace: ViewerPace) -> str:
    return f"move {number}, {'paused' if pace.paused else f'{pace.delay:.3g} s a move'}   {HELP}"


def _table(move: WatchedMove, status: str, again: bool = False) -> Group:
    """Return the table, the player to move in bold; ``again``: with what was done, as it is not the newest line."""
    from rich.console import Group
    from rich.text import Text

    from dicegym.escape import lines

    shown = [
        Text(line, style="bold" if line.startswith(">") else "", no_wrap=True, overflow="ellipsis")
        for line in lines(move.scene.text()).splitlines()
    ]
    done = [Text(lines("\n".join(move.done)), style="bold")] if again and move.done else []
    below = [Text(status, style="dim", no_wrap=True, overflow="ellipsis")] if status else []
    return Group(Text(""), *done, *shown, *below)
