"""Going through a game by keys, forwards and back, on a screen of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Group
from rich.text import Text

from dicegym.cli.common import out
from dicegym.escape import lines

if TYPE_CHECKING:
    from dicegym.pictures.watched import WatchedMove

FORWARD, BACK, FIRST, LAST, LEAVE = "forward", "back", "first", "last", "leave"
KEYS = {
    FORWARD: (
        "\r",
        "\n",
        " ",
        "n",
        "l",
        "j",
        "\x1b[C",
        "\x1b[B",
        "\x1bOC",
        "\x1bOB",
        "\xe0M",
        "\x00M",
        "\xe0P",
        "\x00P",
    ),
    BACK: ("\x7f", "\b", "p", "h", "k", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\xe0K", "\x00K", "\xe0H", "\x00H"),
    FIRST: ("g", "\x1b[H", "\x1bOH", "\x1b[1~", "\xe0G", "\x00G"),
    LAST: ("G", "\x1b[F", "\x1bOF", "\x1b[4~", "\xe0O", "\x00O"),
    LEAVE: ("q", "Q", "\x1b", "\x04"),
}
"""What the keys do: letters, and what terminals and Windows send for arrows, Home and End."""
_MEANINGS = {key: meaning for meaning, keys in KEYS.items() for key in keys}
_ONE_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO.|[\x00\xe0].|.", re.DOTALL)
HELP = "Enter or → on, ← back, Home, End, q leaves"


def page_through(moments: Sequence[WatchedMove], key: Callable[[], str] = typer.getchar) -> None:
    """Show a game from its beginning, one moment at a time, until its user leaves.

    Args:
        moments: the game's; at least one.
        key: waits for a key, and returns what the terminal sends for it, and for those pressed since. EOFError leaves,
            KeyboardInterrupt passes.
    """
    now, last = 0, len(moments) - 1
    with out.screen() as screen:
        while True:
            screen.update(_screen(moments[now], now, last))
            try:
                pressed = key()
            except EOFError:
                return
            for one in _ONE_KEY.findall(pressed):  # who presses quickly is heard late, and all at once
                meaning = _MEANINGS.get(one, "")
                if meaning == LEAVE:
                    return
                now = {FORWARD: min(now + 1, last), BACK: max(now - 1, 0), FIRST: 0, LAST: last}.get(meaning, now)


def _screen(moment: WatchedMove, now: int, last: int) -> Group:
    """Return what is shown; where one is stands first, as what does not fit is cut off below."""
    # A place for what is done also where nothing is, so that the table stays where it was.
    done = Text(lines("\n".join(moment.done)) or ("" if now else "The game begins."), style="bold")
    return Group(
        Text(f"move {now} of {last}   {HELP}", style="dim"), Text(), done, Text(), Text(lines(moment.scene.text()))
    )
