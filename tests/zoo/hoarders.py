"""Bots that want a gigabyte of memory in every form, of files, or of output."""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

FULL = r"raised (Memory|OS|Permission|FileNotFound)Error|ended its process|took more than"

HOARDERS = (
    Hostile("private_memory", Pays.ASKED, r"MemoryError|memory", "if late:\n    hold = bytearray(1 << 30)"),
    Hostile(
        "small_objects", Pays.ASKED, FULL, "if late:\n    hold = [[] for _ in range(10**8)]", games=("hog", "yatzy")
    ),
    Hostile(
        "shared_memory",
        Pays.ASKED,
        FULL,
        """
        import mmap
        if late:
            hold = mmap.mmap(-1, 1 << 30)
            for place in range(0, 1 << 30, 4096):
                hold[place] = 1
        """,
        games=("hog", "liarsdice", "lucky"),
    ),
    Hostile(
        "memory_file",
        Pays.ASKED,
        FULL,
        """
        import os
        if late:
            file = os.memfd_create("hold")
            for _ in range(1 << 10):
                os.write(file, bytes(1 << 20))
        """,
        games=("liarsdice_spot_on", "lucky"),
    ),
    Hostile(
        "files_in_memory",
        Pays.ASKED,
        FULL,
        """
        if late:
            with open("/dev/shm/hold", "wb") as file:
                for _ in range(1 << 10):
                    file.write(bytes(1 << 20))
        """,
        games=("liarsdice", "yatzy"),
    ),
    Hostile(
        "files",
        Pays.ASKED,
        FULL,
        """
        import os, tempfile
        if late:
            for number in range(64):
                with open(os.path.join(tempfile.gettempdir(), f"hold{number}"), "wb") as file:
                    for _ in range(1 << 4):
                        file.write(bytes(1 << 20))
        """,
        games=("hog", "lucky"),
    ),
    Hostile(
        "many_descriptors",
        Pays.NOTHING,
        ask="""
        import os
        if asked == 2:
            try:
                for _ in range(100_000):
                    hold.append(os.pipe())
            except OSError:
                pass
        """,
        head="hold = []",
        games=("yatzy",),
    ),
    Hostile("prints", Pays.NOTHING, ask="if late:\n    print('x' * 1_000_000)", games=("hog", "liarsdice", "lucky")),
    Hostile(
        "writes_to_its_streams",
        Pays.NOTHING,
        ask="""
        import os
        if asked == 2:
            for stream in (1, 2):
                try:
                    for _ in range(1 << 9):
                        os.write(stream, bytes(1 << 20))
                except OSError:
                    pass
        """,
        games=("hog", "yatzy"),
    ),
    Hostile(
        "logs", Pays.NOTHING, ask="import logging\nif late:\n    logging.warning('x' * 1_000_000)", games=("lucky",)
    ),
    Hostile(
        "prints_between_the_questions",
        Pays.NOTHING,
        head="""
        import os, sys, threading, time

        def chatter():
            while True:
                print("x" * 1_000)
                sys.__stdout__.write("x" * 1_000)
                try:
                    os.write(1, b"x" * 1_000)
                except OSError:
                    pass
                time.sleep(0.001)

        threading.Thread(target=chatter, daemon=True).start()
        """,
        games=("liarsdice", "liarsdice_spot_on"),
    ),
    Hostile(
        "prints_to_the_terminal",
        Pays.NOTHING,
        ask=r"""
        if asked == 1:
            print("\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e")
            try:
                open("/dev/tty", "w").write("\x1b[2J")
            except OSError:
                pass
        """,
        games=("hog", "liarsdice_spot_on"),
    ),
)
