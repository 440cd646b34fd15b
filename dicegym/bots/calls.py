"""A bot's calls, answers and output, shown to its author.

Adapters pass the bot's function through `report_calls`. It returns the function itself, at no cost, except within
`watch_calls`, where a witness notes every call.
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
"""How many of the first and last calls a `CallLog` keeps."""
LONGEST = 2000
"""Characters of a call, of an answer, and of what is printed in between."""
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
FRAMES = 5
"""Innermost lines of an error's traceback."""


CALL, ANSWER, PRINT = "call", "answer", "print"
"""What a `Witness` notes: a call such as ``final_strategy(0, 17)``; its answer, or the error and the bot's lines that
raised it; and what the bot wrote to either stream."""


class Witness:
    """Receives every call of the bots that play within `watch_calls`. This one does nothing."""

    def note(self, kind: str, text: str) -> None:
        """Note a `CALL`, an `ANSWER` or a `PRINT`."""


_WITNESS: ContextVar[Witness | None] = ContextVar("witness", default=None)


@contextlib.contextmanager
def watch_calls(witness: Witness) -> Iterator[None]:
    """Report calls and output to ``witness``, for bots that sit down within the context."""
    token = _WITNESS.set(witness)
    try:
        yield
    finally:
        _WITNESS.reset(token)


def note_print(text: str) -> None:
    """Report a bot's output to the witness."""
    if (witness := _WITNESS.get()) is not None:
        witness.note(PRINT, text)


def without_addresses(text: str) -> str:
    """Return the text of a ``repr`` without memory addresses, which differ between runs."""
    return _ADDRESS.sub("", text)


def show_value(value: object, limit: int = 200) -> str:
    """Return ``repr(value)`` on one line of at most ``limit`` characters, even if ``repr`` fails."""
    try:
        text = repr(value)
    except Exception:
        return f"something of type {type(value).__name__}"
    return one_line(without_addresses(text), limit)


def call_text(name: str, arguments: tuple[object, ...], limit: int = LONGEST) -> str:
    """Return a call as code."""
    return one_line(f"{name}({', '.join(show_value(argument, limit) for argument in arguments)})", limit)


def report_calls(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a bot's function or class, wrapped if there is a witness."""
    witness = _WITNESS.get()
    if witness is None:
        return function

    @functools.wraps(function, updated=())
    def note(*arguments: Any) -> Any:
        witness.note(CALL, call_text(name, arguments))
        try:
            answer = function(*arguments)
        except BaseException as error:
            witness.note(ANSWER, _error_text(error))
            raise
        witness.note(ANSWER, show_value(answer, LONGEST))
        return answer

    return note


def _error_text(error: BaseException) -> str:
    """Return the error, and the bot's lines in its traceback."""
    import linecache  # rarely needed, and slow to import
    import traceback

    lines = [describe_raised(error)]
    for frame, number in list(traceback.walk_tb(error.__traceback__))[1:][-FRAMES:]:
        if not str(frame.f_globals.get("__name__", "")).startswith("dicegym."):
            file, line = frame.f_code.co_filename, linecache.getline(frame.f_code.co_filename, number).strip()
            lines.append(f"  {Path(file).name}, line {number}, in {frame.f_code.co_name}: {line}")
    return "\n".join(lines)


class Echo(Witness):
    """Prints the output of bots to the terminal, for debugging."""

    def note(self, kind: str, text: str) -> None:
        """Print what a bot writes."""
        if kind == PRINT:
            sys.stdout.write(text)


class CallLog(Witness):
    """Writes the first and last calls to the existing file ``path``, after each call, as a bot may end its process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        self._number, self._first, self._entry = 0, "", ""
        self._last: deque[str] = deque(maxlen=LAST)
        self._room = LONGEST

    def note(self, kind: str, text: str) -> None:
        """Begin an entry for a call, complete it by the answer, or add what is printed: each text begins a line."""
        if kind == CALL:
            if self._number <= FIRST:
                self._first += self._entry
            else:
                self._last.append(self._entry)
            self._number += 1
            self._entry, self._room = f"{self._number:>6}  {text}\n", LONGEST
        elif kind == ANSWER:
            lead = f"{self._entry[:-1]} -> " if self._entry.count("\n") == 1 else f"{self._entry}        -> "
            self._entry = lead + text.replace("\n", "\n           ") + "\n"
        elif self._room > 0 and text.strip("\r\n"):
            self._entry = self._entry or "        while it was loaded\n"
            kept, self._room = text[: self._room], self._room - len(text)
            self._entry += "".join(f"        printed: {line}\n" for line in kept.splitlines())
            self._entry += "        printed: ... (and more)\n" if self._room <= 0 else ""
        else:
            return
        self._save()

    def _save(self) -> None:
        left_out = self._number - 1 - FIRST - len(self._last)
        between = f"        ... {left_out:,} calls left out ...\n" if left_out > 0 else ""
        data = "".join((self._first, between, *self._last, self._entry)).encode("utf-8", "backslashreplace")
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, data)
        os.ftruncate(self._file, len(data))
