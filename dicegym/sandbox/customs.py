"""What holds for the bots of all games, in words for those who write one."""

from __future__ import annotations

from dicegym.sandbox.limits import PATIENCE, Limits

_CUSTOMS = """\
Printing costs nothing, in any game, to either stream: print() and what goes to sys.stdout or sys.stderr is kept for
the bot's author, the first 2,000 characters of it; `dicegym check FILE --show` shows it beside each call. Only the
time is the bot's own.

Time: {seconds:g} s to load, as much for all questions of the test, and as much for all moves of a match together.
It is processor time of the bot's own, so that other load on the machine costs nobody anything; a clock {patience}
times as generous catches what sleeps or hangs. Memory: {memory} MiB.

Files: a bot may import files beside it. It has `random`, `print` and streams of `sys` of its own, and input() is
answered by nobody. Every bot of a match plays in a process which ends with it, so nothing is kept from one match to
the next. A bot may start processes, which end with it; their time is measured by the clock alone. What is sent to
other processes is found by its name (multiprocessing.Pool, say), and so the functions of a bot's own file are not.

PURE = True at the margin of the file says that the same question always gets the same answer: nothing is
remembered, and nothing drawn. Environments then ask one copy of the bot for all games of a batch and, where a game
has few situations, look its answers up. `dicegym check` says it where it finds a bot pure by asking it everything.

To look inside: `dicegym check FILE --show` writes down what the bot is called with, answers and prints; `dicegym
check FILE --debug` plays here and now, so that breakpoint() stops in the bot.
"""


def customs() -> str:
    """Return what every bot may do, may use, and is asked for; plain text."""
    limits = Limits()
    return _CUSTOMS.format(seconds=limits.seconds, patience=PATIENCE, memory=limits.memory >> 20)
