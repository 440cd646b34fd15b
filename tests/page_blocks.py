"""Runs blocks of pages, each in a process of its own: tests/project/test_docs.py starts it and says which.

Run as a program, it imports `PRELOADED`. Then it reads a request from each line of its input, as JSON, runs it in a
fork of itself, and prints with what status that ended. It imports nothing of dicegym, so a block finds what a new
process finds, and PyTorch is imported once.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

PRELOADED = ("numba", "gymnasium", "pettingzoo", "sb3_contrib", "torch._dynamo", "pyspiel", "typer", "rich", "PIL")
"""What takes long to import and is not of dicegym; PyTorch's optimizers import ``torch._dynamo``, which takes 2.5 s."""


class Processes:
    """Starts processes that have imported `PRELOADED` and nothing of dicegym."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def run(self, folder: Path, **request: Any) -> None:
        """Run ``file=PATH`` as ``python PATH`` does, or ``commands=[WORDS, ...]``, in ``folder``.

        Raises AssertionError, with what was said, if it ends badly.
        """
        log = folder / "log.txt"
        print(json.dumps(request | {"folder": str(folder), "log": str(log)}), file=self._server.stdin, flush=True)
        status = self._server.stdout.readline().strip()
        assert status == "0", f"ended with {status}:\n{log.read_text('utf-8')}"


@contextlib.contextmanager
def started() -> Iterator[Processes]:
    """Yield what starts processes."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        yield Processes(server)


def serve() -> None:
    """Run what the input asks for, each in a fork."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # or each fork would copy what it looks through for garbage
    while line := sys.stdin.readline():
        process = os.fork()
        if process == 0:
            end_with(functools.partial(run, **json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def end_with(do: Callable[[], None]) -> NoReturn:
    """Do something and end this process as Python does, but for taking PyTorch to pieces, which takes a second."""
    status = 0
    try:
        do()
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of Python does
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run(folder: str, log: str, file: str = "", commands: list[list[str]] | None = None) -> None:
    """Run a file, or commands until one ends badly; what they say goes to ``log``."""
    os.chdir(folder)
    nothing, said = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for new, old in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(new, old)
    if file:
        sys.argv, sys.path[0] = [file], folder
        runpy.run_path(file, run_name="__main__")
        return
    from dicegym.cli.app import main

    for words in commands or ():
        print("$ dicegym", *words, flush=True)
        sys.argv = ["dicegym", *words]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise


if __name__ == "__main__":
    serve()
