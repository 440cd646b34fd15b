"""What an entry may use and do: limits, and the customs of all bots in words for those who write one."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from dicegym.bots.bot_files import LARGEST, MOST_FILES
from dicegym.engine import jit
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import ParameterError, one_line

PATIENCE = 10
"""How much more time an entry has on the clock than on a processor."""


@dataclass(frozen=True)
class Limits:
    """What an entry may use, by its referee's clocks.

    Attributes:
        seconds: processor time for all its moves of a match together, and for the contest's whole
            test. A clock on the wall `PATIENCE` times as generous catches what hangs; it leaves out the wait for a
            processor (`dicegym.sandbox.heartbeat.is_late`).
        memory: bytes beyond what the program itself needs (enforced on Linux).
        start: processor time to load; None: as ``seconds``.
        move: processor time for one move; None: as ``seconds``.

    Raises:
        ParameterError: not positive numbers.

    Example:
        >>> from dicegym.contest import Limits
        >>> Limits(seconds=60, memory=1 << 30).seconds
        60.0
    """

    seconds: float = 10.0
    memory: int = 512 << 20
    start: float | None = None
    move: float | None = None

    @classmethod
    def of(cls, given: Limits | None) -> Limits:
        """Return the limits that were given, by default those of contests. Raises ParameterError for anything else."""
        if not isinstance(given, cls | None):
            raise ParameterError(f"limits={one_line(given, 60)} cannot be used: give dicegym.contest.Limits(seconds=5)")
        return given or cls()

    @staticmethod
    def wall_of(seconds: float) -> float:
        """Return the seconds on the clock for some seconds of processor time, sleep and waiting included."""
        return PATIENCE * seconds

    @property
    def start_seconds(self) -> float:
        """Processor time to load."""
        return self.seconds if self.start is None else self.start

    @property
    def move_seconds(self) -> float:
        """Processor time for one move."""
        return self.seconds if self.move is None else self.move

    def __post_init__(self) -> None:
        """Check the values, and keep them as Python's: they are written as JSON, and 5 and 5.0 otherwise."""
        given = {"seconds": self.seconds, "start": self.start, "move": self.move}
        for name, seconds in given.items():
            if seconds is not None and seconds != math.inf:
                object.__setattr__(self, name, finite_number(name, seconds, "seconds for a bot", above=0))
        memory = whole_number("memory", self.memory, 1 << 20, 1 << 50, "the memory of an entry in bytes")
        object.__setattr__(self, "memory", memory)


def warn_of_kernels() -> None:
    """Warn that bots' files can write all that this user can write (RuntimeWarning)."""
    if jit.CACHE_FOLDER:
        warnings.warn(
            "compiled kernels are not protected from bots' files, which nothing keeps from files of yours here: they "
            f"could change what later runs load from {jit.CACHE_FOLDER}; let none play that you do not trust",
            RuntimeWarning,
            stacklevel=3,
        )


_CUSTOMS = """\
Printing costs nothing, in any game, to either stream: print() and what goes to sys.stdout or sys.stderr is kept for
the bot's author, the first 2,000 characters of it; `dicegym check FILE --show` shows it beside each call. Only the
time is the bot's own.

Time: {seconds:g} s to load, as much for the whole test, and as much for all moves of a match together.
It is processor time of the bot's own, so that other load on the machine costs nobody anything; a clock {patience}
times as generous catches what sleeps or hangs. Memory: {memory} MiB.

Files: a bot may import files beside it, and read its own: all in its folder if its file is called as the interface
says, else what is called like it (ann.py: ann.json and the folder ann). In the latter case Python's modules and
installed ones come before files of the same name, as the folder may be shared; no bot sees the file of another entry.
It may write into a temporary folder (`tempfile`), and that is all. At most {files} files of source, of {largest} MiB
each; no links out of the folder.

Every bot plays in a process of its own which ends with the match, so nothing is kept from one match to the next.
There it can start threads, but no processes (subprocess, multiprocessing and os.fork raise PermissionError), and has
no network. It has `random`, `print` and streams of `sys` of its own, and input() is answered by nobody.

Chance: `random`, and what NumPy draws without a generator (np.random.random()), are seeded for each game, and the same
contest comes out the same. What cannot be repeated: os.urandom, secrets, np.random.default_rng() without a seed, time.

PURE = True at the margin of the file says that the same question always gets the same answer: nothing is
remembered, and nothing drawn. Environments then ask one copy of the bot for all games of a batch and, where a game
has few situations, look its answers up: there `dicegym check` asks everything twice, and says if the line is wrong.

To look inside: `dicegym check FILE --show` writes down what the bot is called with, answers and prints; `dicegym
check FILE --debug` plays here and now, so that breakpoint() stops in the bot.
"""


def customs() -> str:
    """Return what every bot may do, may use, and is asked for; plain text."""
    limits = Limits()
    return _CUSTOMS.format(
        seconds=limits.seconds, patience=PATIENCE, memory=limits.memory >> 20, files=MOST_FILES, largest=LARGEST >> 20
    )
