"""Where commands print: the two consoles, tables and written files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from dicegym.escape import lines
from dicegym.files import write_text

LONGEST_LINE = 100_000
"""Characters of a line that is printed at most: exported bots hold long tables."""


class Terminal(Console):
    """A console that prints text as it is: names and messages of strangers neither colour it nor control it."""

    def print(self, *objects: Any, markup: bool | None = False, **options: Any) -> None:
        """Print as `rich.console.Console.print` does, texts without markup and harmless (`dicegym.escape`)."""
        shown = (lines(thing, LONGEST_LINE) if isinstance(thing, str) else thing for thing in objects)
        super().print(*shown, markup=markup, **options)


out = Terminal(highlight=False, soft_wrap=True)
"""Standard output: results."""
err = Terminal(stderr=True, highlight=False, soft_wrap=True)
"""Standard error: mistakes, and what is being done."""


def print_table(titles: list[str], rows: list[list[str]]) -> None:
    """Print a table with aligned columns."""
    from dicegym.columns import plain_table

    for line in plain_table(titles, rows):
        out.print(line)


def print_commands(*ideas: tuple[str, str]) -> None:
    """Print commands to try next, and what each does."""
    width = max(len(command) for command, _ in ideas)
    out.print("Next:")
    for command, what in ideas:
        out.print(f"  {command:{width}}  {what}")


def write_json(path: Path | None, value: Any) -> None:
    """Write ``value`` as indented JSON, if there is a path."""
    if path is not None:
        write_text(path, json.dumps(value, indent=1) + "\n")


def write_csv(path: Path | None, rows: list[dict[str, Any]]) -> None:
    """Write ``rows`` as CSV, if there is a path."""
    if path is not None:
        from dicegym.arena.sheets import csv_text

        write_text(path, csv_text(rows))


def write_new(path: Path, text: str) -> None:
    """Write ``text`` to a file, and say so."""
    write_text(path, text)
    out.print(f"wrote {path}")
