"""Bots that end or stop themselves in various ways, or try to end or stop others."""

from __future__ import annotations

from zoo.hostile import GAMES, Hostile, Pays

ENDED = r"ended its process"
DENIED = r"raised PermissionError|ended its process|took more than"


def _ends(name: str, how: str, reason: str, games: tuple[str, ...] = GAMES[:2], **rest: object) -> Hostile:
    return Hostile(name, Pays.ASKED, reason, f"import os, signal, sys\nif late:\n    {how}", games=games, **rest)  # type: ignore[arg-type]  # as Hostile has them


ENDINGS = (
    _ends("exits", "sys.exit(0)", r"called sys\.exit"),
    _ends("exits_at_once", "os._exit(0)", rf"{ENDED} \(exit status 0\)", GAMES),
    _ends("exits_with_a_word", "sys.exit('\\x1b[2J' + 'x' * 10**6)", r"called sys\.exit", GAMES[2:3]),
    _ends("quits", "quit()", r"called sys\.exit", GAMES[3:4]),
    _ends("aborts", "os.abort()", rf"{ENDED} \(SIGABRT\)", GAMES[3:]),
    _ends("segfaults", "import ctypes; ctypes.string_at(0)", rf"{ENDED} \(SIGSEGV\)", GAMES[:3]),
    _ends("kills_itself", "os.kill(os.getpid(), signal.SIGKILL)", rf"{ENDED} \(SIGKILL\)", GAMES),
    _ends("asks_itself_to_end", "os.kill(os.getpid(), signal.SIGTERM)", rf"{ENDED} \(SIGTERM\)", GAMES[:1]),
    _ends("stops_itself", "os.kill(os.getpid(), signal.SIGSTOP)", r"took more than", GAMES),
    _ends("kills_its_parent", "os.kill(os.getppid(), signal.SIGKILL)", DENIED, GAMES),
    _ends("stops_its_parent", "os.kill(os.getppid(), signal.SIGSTOP)", DENIED, GAMES[3:]),
    _ends("kills_its_group", "os.killpg(0, signal.SIGKILL)", DENIED, GAMES[:2]),
    _ends("kills_everybody", "os.kill(-1, signal.SIGKILL)", DENIED, GAMES),
    _ends("stops_everybody", "os.kill(-1, signal.SIGSTOP)", DENIED, GAMES[1:4]),
    _ends("interrupts", "raise KeyboardInterrupt('\\x1b[2J')", r"KeyboardInterrupt"),
    _ends("own_exit", "raise type('Mine', (SystemExit,), {})(0)", r"called sys\.exit|raised Mine", GAMES[4:]),
    _ends("own_error", "raise type('Mine', (BaseException,), {})('x')", r'raised Mine \(says: "x"\)', GAMES[3:4]),
    _ends("memory_error", "raise MemoryError", r"raised MemoryError", GAMES[4:]),
    Hostile(
        "exits_at_the_start", Pays.LOADING, r"called sys\.exit while it was loaded", head="import sys\nsys.exit(0)"
    ),
    Hostile("ends_at_the_start", Pays.LOADING, rf"{ENDED}.* while it was loaded", head="import os\nos._exit(7)"),
    Hostile(
        "overflows_the_stack",
        Pays.ASKED,
        rf"{ENDED}|MemoryError|RecursionError",
        "if late:\n    repr(Deep())",
        "import sys\nsys.setrecursionlimit(10**9)\nclass Deep:\n    __repr__ = lambda self: repr(self)",
        games=("hog", "liarsdice_spot_on"),
    ),
    Hostile(
        "rings_an_alarm",
        Pays.ASKED,
        rf"{ENDED} \(SIGALRM\)|took more than",
        "if late:\n    signal.setitimer(signal.ITIMER_REAL, 0.001)\n    time.sleep(60)",
        "import signal, time",
        games=("liarsdice", "yatzy"),
    ),
    Hostile(
        "error_within_an_alarm",
        Pays.ASKED,
        r"now!|took more than|ended its process",
        "if late:\n    time.sleep(60)",
        """
        import signal, time

        def ring(*_):
            raise Found("now!")

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.01)
        """,
        games=("lucky",),
    ),
    Hostile(
        "error_that_cannot_be_told",
        Pays.ASKED,
        r"raised Untold",
        "if late:\n    raise Untold()",
        """
        class Untold(Exception):
            def __str__(self):
                raise self

            __repr__ = __str__
        """,
        games=("hog", "lucky", "yatzy"),
    ),
    Hostile(
        "error_that_takes_for_ever_to_tell",
        Pays.ASKED,
        r"took more than|raised Untold",
        "if late:\n    raise Untold()",
        """
        import time

        class Untold(Exception):
            def __str__(self):
                time.sleep(60)

            __repr__ = __str__
        """,
        games=("liarsdice",),
    ),
    Hostile(
        "error_with_a_terrible_name",
        Pays.ASKED,
        r"raised ",
        "if late:\n    raise type('\\x1b[2J' + 'x' * 10**6, (Exception,), {})('\\x1b]0;owned\\x07\\n' * 10**5)",
        games=("liarsdice_spot_on", "yatzy"),
    ),
    Hostile(
        "blames_another",
        Pays.ASKED,
        r"it was he|took more than",
        """
        if late:
            try:
                from dicegym.errors import AgentError
            except ImportError:
                raise Found("it was he")
            raise AgentError("trusted", "it was he")
        """,
        games=("hog", "liarsdice"),
    ),
    Hostile(
        "endless_chain_of_errors",
        Pays.ASKED,
        r"raised|took more than|ended",
        """
        if late:
            error = Found("x")
            for _ in range(100_000):
                error, error.__context__ = Found("x"), error
            raise error
        """,
        games=("lucky",),
    ),
)
