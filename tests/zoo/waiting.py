"""Bots that exceed their time."""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

LATE = r"took more than"

WAITING = (
    Hostile("sleeps", Pays.ASKED, LATE, "import time\nif late:\n    time.sleep(60)"),
    Hostile("sleeps_at_the_start", Pays.LOADING, LATE, head="import time\ntime.sleep(60)", games=("hog", "lucky")),
    Hostile("spins", Pays.ASKED, LATE, "while asked == 2:\n    pass"),
    Hostile("spins_at_the_start", Pays.LOADING, LATE, head="while True:\n    pass", games=("hog", "yatzy")),
    Hostile(
        "cannot_be_interrupted",
        Pays.ASKED,
        LATE,
        "import re\nif late:\n    re.match('(a+)+$', 'a' * 60 + 'b')",
        games=("hog", "liarsdice"),
    ),
    Hostile(
        "takes_nearly_all_time_each_time", Pays.ASKED, LATE, "import time\ntime.sleep(@MOVE * 7)", games=("yatzy",)
    ),
    Hostile(
        "deaf_to_signals",
        Pays.ASKED,
        LATE,
        """
        while late:
            try:
                time.sleep(60)
            except BaseException:
                pass
        """,
        """
        import signal, time
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        """,
        games=("liarsdice_spot_on",),
    ),
    Hostile(
        "ponders_while_others_move",
        Pays.NOTHING,
        head="""
        import threading

        def ponder():
            while True:
                sum(range(100))

        threading.Thread(target=ponder, daemon=True).start()
        """,
        games=("liarsdice", "lucky"),
    ),
    Hostile(
        "never_ends_its_last_words",
        Pays.NOTHING,
        head="""
        import atexit, threading, time
        atexit.register(time.sleep, 60)
        threading.Thread(target=time.sleep, args=(60,)).start()

        class Last:
            def __del__(self):
                time.sleep(60)

        last = Last()
        """,
        games=("hog", "yatzy"),
    ),
    Hostile(
        "thinks_of_a_number",
        Pays.ASKED,
        rf"{LATE}|MemoryError",
        "if late:\n    return 10 ** 10 ** 9",
        games=("liarsdice",),
    ),
    Hostile(
        "sets_its_own_clock",
        Pays.ASKED,
        LATE,
        "time.sleep(0 if not late else 60)",
        """
        import time
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "time_ns", "monotonic_ns"):
            setattr(time, name, lambda: 0)
        """,
        games=("lucky",),
    ),
)
