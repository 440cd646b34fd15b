"""What an entry may use and do: its limits, and the rules of all bots as text for their authors."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from dicegym.bots.bot_files import LARGEST, MOST_FILES
from dicegym.engine import jit
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import ParameterError, one_line

PATIENCE = 10  # an entry's wall-clock time, as a multiple of its processor time


@dataclass(frozen=True)
class Limits:
    """What an entry may use; its referee measures it.

    Attributes:
        seconds: seconds of processor time for all moves of a match together, and for the contest's whole test. Trusted
            entries (shipped agents, models and the caller's players) have as long for each move. A wall-clock limit
            `PATIENCE` times as long stops entries that hang; it excludes the wait for a processor
            (`dicegym.sandbox.heartbeat.is_late`).
        memory: bytes beyond what the program itself needs (enforced on Linux).
        start: seconds of processor time of an untrusted bot to load; None: as ``seconds``.
        move: seconds of processor time of an untrusted bot for one move; None: as ``seconds``.

    Raises:
        ParameterError: a value is not a positive number.

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
        """Return the given limits, by default those of contests. Raises ParameterError for anything else."""
        if not isinstance(given, cls | None):
            raise ParameterError(f"limits={one_line(given, 60)} cannot be used: give dicegym.contest.Limits(seconds=5)")
        return given or cls()

    @staticmethod
    def wall_of(seconds: float) -> float:
        """Return the wall-clock limit for ``seconds`` of processor time; it includes sleep and waiting."""
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
        """Check the values, and store them as float and int: they are written as JSON."""
        given = {"seconds": self.seconds, "start": self.start, "move": self.move}
        for name, seconds in given.items():
            if seconds is not None and seconds != math.inf:
                object.__setattr__(self, name, finite_number(name, seconds, "seconds for a bot", above=0))
        memory = whole_number("memory", self.memory, 1 << 20, 1 << 50, "the memory of an entry in bytes")
        object.__setattr__(self, "memory", memory)


def warn_of_kernels() -> None:
    """Warn (RuntimeWarning) that bots' files can write everything that this user can write."""
    if jit.CACHE_FOLDER:
        warnings.warn(
            "compiled kernels are not protected: bots' files can write all your files here, so they could change what "
            f"later runs load from {jit.CACHE_FOLDER}; let only bots that you trust play",
            RuntimeWarning,
            stacklevel=3,
        )


_CUSTOMS = """\
Printing costs nothing, in any game: print() and writes to sys.stdout and sys.stderr are kept for the bot's author, the
first 2,000 characters; `dicegym check FILE --show` shows them beside each call. The bot is charged for the time.

Time: {seconds:g} s to load, {seconds:g} s for the whole test, and {seconds:g} s for all moves of a match together. Only
the bot's own processor time counts, so other load on the machine costs nothing. A wall-clock limit {patience} times as
long stops bots that sleep or hang. Shipped agents, models and players made in Python have {seconds:g} s for each move.
Memory: {memory} MiB.

Files: a bot may import files beside it, and read its own files. These are all files in its folder if its file has the
name of the interface; otherwise those with its name (ann.py: ann.json and the folder ann). In the latter case the
folder may be shared, so Python's modules and installed ones come before files of the same name. No bot sees the files
of another entry. A bot may write only to a temporary folder (`tempfile`). At most {files} files of source, of
{largest} MiB each; no links out of the folder.

Every bot plays in its own process, which ends with the match, so nothing is kept from one match to the next. The bot
can start threads, but no processes (subprocess, multiprocessing and os.fork raise PermissionError), and has no
network. `random`, `print` and the streams of `sys` are its own, and input() gets no answer.

Randomness: `random`, and NumPy without a generator (np.random.random()), are seeded for each game, so the same contest
has the same results. Not repeatable: os.urandom, secrets, np.random.default_rng() without a seed, time.

PURE = True at the left margin of the file says that the same question always gets the same answer: the bot remembers
nothing and draws nothing. Environments then ask one copy of the bot for all games of a batch. In games with few
situations they look its answers up; there `dicegym check` asks every question twice, and reports a wrong PURE line.

To look inside: `dicegym check FILE --show` prints the bot's calls, answers and output; `dicegym check FILE --debug`
plays in the command's own process, so that breakpoint() stops in the bot.
"""


def customs() -> str:
    """Return what every bot may do, may use, and is asked for, as plain text."""
    limits = Limits()
    return _CUSTOMS.format(
        seconds=limits.seconds, patience=PATIENCE, memory=limits.memory >> 20, files=MOST_FILES, largest=LARGEST >> 20
    )
