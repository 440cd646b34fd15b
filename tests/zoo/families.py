"""Bots that start processes and threads, which must end with them. They are few and end by themselves soon."""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

SECONDS = 20
"""After this time all their processes end by themselves."""

_FORK = f"""
import os, time

def fork(work):
    try:
        pid = os.fork()
    except OSError:
        return None
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    return pid

def linger():
    time.sleep({SECONDS})
"""

FAMILIES = (
    Hostile("leaves_a_child", Pays.NOTHING, ask="if asked == 2:\n    fork(linger)", head=_FORK),
    Hostile(
        "leaves_a_daemon",
        Pays.NOTHING,
        ask="if asked == 1:\n    fork(daemon)",
        head=f"""{_FORK}
def daemon():
    os.setsid()
    os.closerange(0, 64)
    fork(linger)
""",
    ),
    Hostile(
        "leaves_a_program",
        Pays.NOTHING,
        ask=f"""
        import subprocess
        if asked == 2:
            try:
                subprocess.Popen(["sleep", "{SECONDS}"], start_new_session=True)
            except OSError:
                pass
        """,
        games=("hog", "lucky"),
    ),
    Hostile(
        "chain_of_forks",
        Pays.NOTHING,
        ask="if asked == 2:\n    chain(8)",
        head=f"""{_FORK}
def chain(left):
    if left:
        time.sleep(0.1)
        fork(lambda: chain(left - 1))
""",
        games=("hog", "liarsdice"),
    ),
    Hostile(
        "many_threads",
        Pays.NOTHING,
        ask=f"""
        import threading, time
        if asked == 2:
            try:
                for _ in range(500):
                    threading.Thread(target=time.sleep, args=({SECONDS},), daemon=True).start()
            except RuntimeError:
                pass
        """,
        games=("yatzy",),
    ),
    Hostile(
        "child_waits_for_the_next_match",
        Pays.NOTHING,
        ask=f"""
        import os, sys
        if asked == 1:
            try:
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    if b"{SECONDS}.4321" in open(f"/proc/{{pid}}/cmdline", "rb").read():
                        raise Found(f"a child of the last match: {{pid}}")
            except OSError:
                pass
            if not fork(lambda: None) is None:
                fork(lambda: os.setsid() and os.execvp("sleep", ["sleep", "{SECONDS}.4321"]))
        """,
        head=_FORK,
        games=("liarsdice", "lucky"),
        twice=True,
    ),
    Hostile(
        "becomes_another_program",
        Pays.ASKED,
        r"took more than|ended|PermissionError",
        ask=f"""
        import os
        if late:
            os.execvp("sleep", ["sleep", "{SECONDS}"])
        """,
        games=("hog", "liarsdice_spot_on"),
    ),
)
