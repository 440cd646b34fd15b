"""What a bot is asked, answers and prints, for its author.

An adapter asks `report_calls` for the function that it hands out, and gets the bot's own, at no cost, unless somebody
looks: within `watch_calls` a witness notes every call.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from dicegym.errors import one_line
from dicegym.escape import describe_raised

FIRST, LAST = 10, 5
"""Calls that a `CallLog` keeps: of more than these it leaves out those in between."""
LONGEST = 2000
"""Characters of a call, an answer, or what is printed meanwhile."""
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
FRAMES = 5
"""Innermost lines of an error's traceback."""


class Witness:
    """Is told of every call of the bots that play within `watch_calls`; these methods do nothing."""

    def note_call(self, call: str) -> None:
        """Take note of a call, such as ``final_strategy(0, 17)``."""

    def note_answer(self, answer: str) -> None:
        """Take note of what came back, or of the error and where in the bot it was raised, a line each."""

    def note_print(self, text: str) -> None:
        """Take note of what the bot wrote to either stream."""


_WITNESS: ContextVar[Witness | None] = ContextVar("witness", default=None)


@contextlib.contextmanager
def watch_calls(witness: Witness) -> Iterator[None]:
    """Let ``witness`` be told of bots' calls, of those that sit down from now on, and of what they print."""
    token = _WITNESS.set(witness)
    try:
        yield
    finally:
        _WITNESS.reset(token)


def note_print(text: str) -> None:
    """Let the witness note that a bot has printed ``text``."""
    if (witness := _WITNESS.get()) is not None:
        witness.note_print(text)


def without_addresses(text: str) -> str:
    """Return the text of a ``repr`` without places in memory, which are others in each run."""
    return _ADDRESS.sub("", text)


def show_value(value: object, limit: int = 200) -> str:
    """Return ``repr(value)`` on one line of at most ``limit`` characters, whatever the bot's own class makes of it."""
    try:
        text = repr(value)
    except Exception:
        return f"something of type {type(value).__name__}"
    return one_line(without_addresses(text), limit)


def call_text(name: str, arguments: tuple[object, ...], limit: int = LONGEST) -> str:
    """Return a call as it would be typed."""
    return one_line(f"{name}({', '.join(show_value(argument, limit) for argument in arguments)})", limit)


def report_calls(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a bot's function or class: itself, or a wrapper that lets the witness note each call."""
    witness = _WITNESS.get()
    if witness is None:
        return function

    @functools.wraps(function, updated=())
    def note(*arguments: Any) -> Any:
        witness.note_call(call_text(name, arguments))
        try:
            answer = function(*arguments)
        except BaseException as error:
            witness.note_answer(_error_text(error))
            raise
        witness.note_answer(show_value(answer, LONGEST))
        return answer

    return note


def _error_text(error: BaseException) -> str:
    """Return the error, and the bot's lines that it passed through."""
    import linecache  # only who watches needs them, and each process of a bot would wait for them
    import traceback

    lines = [describe_raised(error)]
    for frame, number in list(traceback.walk_tb(error.__traceback__))[1:][-FRAMES:]:
        if not str(frame.f_globals.get("__name__", "")).startswith("dicegym."):
            file, line = frame.f_code.co_filename, linecache.getline(frame.f_code.co_filename, number).strip()
            lines.append(f"  {Path(file).name}, line {number}, in {frame.f_code.co_name}: {line}")
    return "\n".join(lines)


class Echo(Witness):
    """Passes on what bots print to the terminal, for authors who debug."""

    def note_print(self, text: str) -> None:
        """Print it."""
        sys.stdout.write(text)


class CallLog(Witness):
    """Writes the first and the last calls to a file, which is up to date at any moment: bots may end their process.

    Args:
        path: the file, which exists.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        self._number, self._first, self._entry = 0, "", ""
        self._last: deque[str] = deque(maxlen=LAST)
        self._room = LONGEST

    def note_call(self, call: str) -> None:
        """Begin an entry."""
        if self._number <= FIRST:
            self._first += self._entry
        else:
            self._last.append(self._entry)
        self._number += 1
        self._entry, self._room = f"{self._number:>6}  {call}\n", LONGEST
        self._save()

    def note_answer(self, answer: str) -> None:
        """Complete the entry."""
        lead = f"{self._entry[:-1]} -> " if self._entry.count("\n") == 1 else f"{self._entry}        -> "
        self._entry = lead + answer.replace("\n", "\n           ") + "\n"
        self._save()

    def note_print(self, text: str) -> None:
        """Add to the entry: each text begins a line."""
        self._entry = self._entry or "        while it was loaded\n"
        if self._room > 0 and text.strip("\r\n"):
            kept, self._room = text[: self._room], self._room - len(text)
            self._entry += "".join(f"        printed: {line}\n" for line in kept.splitlines())
            self._entry += "        printed: ... (and more)\n" if self._room <= 0 else ""
            self._save()

    def _save(self) -> None:
        left_out = self._number - 1 - FIRST - len(self._last)
        between = f"        ... {left_out:,} calls left out ...\n" if left_out > 0 else ""
        data = "".join((self._first, between, *self._last, self._entry)).encode("utf-8", "backslashreplace")
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, data)
        os.ftruncate(self._file, len(data))
