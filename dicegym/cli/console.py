"""Consoles, tables, and the files of ``--output``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from dicegym.errors import ParameterError
from dicegym.escape import lines
from dicegym.files import refuse_database, write_text

LONGEST_LINE = 100_000
"""Most characters of a printed line; exported bots have long tables."""


class Terminal(Console):
    """A console that prints text literally: names and messages of strangers cannot control the terminal."""

    def print(self, *objects: Any, markup: bool | None = False, **options: Any) -> None:
        """Print as `rich.console.Console.print` does, without markup and with escaped control characters.

        Raises OSError with the name of the stream if it cannot be written.
        """
        shown = (lines(thing, LONGEST_LINE) if isinstance(thing, str) else thing for thing in objects)
        try:
            super().print(*shown, markup=markup, **options)
        except OSError as error:
            raise OSError(error.errno, error.strerror, getattr(self.file, "name", "the output")) from None


out = Terminal(highlight=False, soft_wrap=True)
"""Standard output: results."""
err = Terminal(stderr=True, highlight=False, soft_wrap=True)
"""Standard error: errors and progress."""


def print_lines(texts: Iterable[str]) -> None:
    """Print each text on a line."""
    for text in texts:
        out.print(text)


def print_table(titles: list[str], rows: list[list[str]]) -> None:
    """Print a table with aligned columns."""
    from dicegym.columns import plain_table

    print_lines(plain_table(titles, rows))


def write_new(path: Path, text: str) -> None:
    """Write ``text`` to a file, and print that."""
    write_text(path, text)
    out.print(f"wrote {path}")


class Outputs:
    """The output files of a command by their endings.

    Args:
        given: the values of ``--output``.
        endings: the endings that the command supports, such as ".json".

    Raises:
        ParameterError: another ending, two files with one ending, or a file that cannot be written.
    """

    def __init__(self, given: Iterable[Path] | None = None, endings: Sequence[str] = ()) -> None:
        self._files: dict[str, Path] = {}
        for path in given or ():
            ending = path.suffix.lower()
            if ending not in endings:
                raise ParameterError(f"--output {path} must end in {' or '.join(endings)}, which chooses the format")
            if ending in self._files:
                raise ParameterError(f"--output {self._files[ending]} and {path} both end in {ending}: leave one out")
            check_writable(path)
            self._files[ending] = path

    def __iter__(self) -> Iterator[Path]:
        return iter(self._files.values())

    def __bool__(self) -> bool:
        return bool(self._files)

    def __getitem__(self, ending: str) -> Path | None:
        return self._files.get(ending)

    def json(self, value: Any) -> None:
        """Write ``value`` as indented JSON to the .json file, if there is one."""
        if (path := self[".json"]) is not None:
            write_text(path, json.dumps(value, indent=1) + "\n")

    def csv(self, rows: list[dict[str, Any]]) -> None:
        """Write ``rows`` to the .csv file, if there is one."""
        if (path := self[".csv"]) is not None:
            from dicegym.arena.csv_tables import csv_text

            write_text(path, csv_text(rows))

    def html(self, write: Callable[[Path], object]) -> None:
        """Call ``write`` for the .html file, if there is one, and print its name."""
        if (path := self[".html"]) is not None:
            write(path)
            out.print(f"wrote {path}: open it in a browser")


NO_FILES = Outputs()
"""The default of a command's `Outputs`."""


def check_writable(path: Path, force: bool = True) -> None:
    """Raise ParameterError if ``path`` cannot be written; commands check this before they start."""
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: give --force to replace it, or another path")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    refuse_database(path)
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be written: the folder {path.parent} does not exist. Make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"you have no permission to write {path}: give another path")
