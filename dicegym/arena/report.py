"""The report of a contest as text, Markdown and plain values.

Pages show the same report as HTML (`dicegym.arena.pages`); `dicegym.arena.csv_tables` writes the figures as CSV.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym import escape
from dicegym.arena.entries import Disqualified
from dicegym.columns import numeric_columns, plain_table
from dicegym.escape import harmless, one_line

WIDTH = 80
"""Default width of text in columns."""
LONGEST_NAME = 24
"""Most characters of a name in a matrix."""
LONGEST_NOTE = 4000
"""Most characters of a line below the tables."""
ReportTable = tuple[str, list[str], list[list[str]]]
"""Heading, column titles, rows."""


class Matrix(NamedTuple):
    """A square table: entries against the same entries."""

    heading: str
    names: Sequence[str]
    cells: Sequence[Sequence[str]]
    shades: Sequence[Sequence[float | None]] = ()
    """For pages: how far the row is ahead of the column in each cell, -1 .. 1; None: unknown. Empty: no colours."""

    def lines(self, width: int = WIDTH) -> Iterator[str]:
        """Yield the lines, in blocks of as many columns as fit into ``width`` characters."""
        numbers = [str(number) for number in range(1, len(self.names) + 1)]
        names = [one_line(name, LONGEST_NAME) for name in self.names]
        left = max(map(len, numbers), default=1)
        middle = max(map(len, names), default=1)
        cell = 1 + max(map(len, (*numbers, *(text for row in self.cells for text in row))), default=1)
        at_once = max(1, (width - left - middle - 3) // cell)
        for first in range(0, len(names), at_once):
            columns = range(first, min(first + at_once, len(names)))
            if first:
                yield ""
            yield " " * (left + 2 + middle + 1) + "".join(numbers[j].rjust(cell) for j in columns)
            for number, name, row in zip(numbers, names, self.cells, strict=True):
                yield f"{number:>{left}}  {name:<{middle}} " + "".join(row[j].rjust(cell) for j in columns)

    def table(self) -> ReportTable:
        """Return the matrix as a table with a column for each entry."""
        numbered = [f"{number}. {name}" for number, name in enumerate(self.names, 1)]
        rows = [[name, *row] for name, row in zip(numbered, self.cells, strict=True)]
        return self.heading, ["Entry", *map(str, range(1, len(self.names) + 1))], rows


class Report(NamedTuple):
    """What is shown of a contest of any format, in this order."""

    heading: str
    """One line that says what was played."""
    tables: Sequence[ReportTable | Matrix]
    """The ranking first."""
    disqualified: Sequence[Disqualified] = ()
    """Shown below the first table."""
    faults: Sequence[str] = ()
    """What went wrong, a line each."""
    remarks: Sequence[str] = ()
    """Further lines, such as how ties were broken."""
    words: Sequence[str] = ()
    """Sentences: what the numbers mean, and what to try next."""
    facts: Sequence[tuple[str, str]] = ()
    """What was played, by which rules and with what, as (name, value); shown last."""

    def parts(self) -> Iterator[ReportTable | Matrix | list[tuple[str, str]] | list[str]]:
        """Yield the parts below the heading: tables, lists of marked lines (mark, line), and lists of sentences."""
        failed = [("disqualified: ", one_line(f"{bad.name}: {bad.reason}", LONGEST_NOTE)) for bad in self.disqualified]
        yield from self.tables[:1]
        yield failed
        yield from self.tables[1:]
        faults = [("fault: ", line) for line in self.faults]
        yield [(mark, one_line(line, LONGEST_NOTE)) for mark, line in (*(("", line) for line in self.remarks), *faults)]
        yield list(self.words)
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts if name != "seed")  # it is in the heading
        yield [facts] if facts else list[str]()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, from which `from_json` makes the report again."""
        tables = [
            {"matrix": list(table)} if isinstance(table, Matrix) else {"table": list(table)} for table in self.tables
        ]
        failed = [[bad.name, bad.reason] for bad in self.disqualified]
        return self._asdict() | {"tables": tables, "disqualified": failed}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Report:
        """Return the report from plain values: all others become text. Raises ValueError, TypeError or LookupError."""
        tables: list[ReportTable | Matrix] = []
        for one in plain["tables"]:
            if "matrix" in one:
                heading, names, cells, shades = one["matrix"]
                cells = [_texts(row) for row in cells]
                shades = [[None if shade is None else float(shade) for shade in row] for row in shades]
                lines = [cells, *cells, *([shades, *shades] if shades else [])]
                tables.append(Matrix(str(heading), names := _texts(names), cells, shades))
            else:
                heading, names, lines = one["table"]
                lines = [_texts(row) for row in lines]
                tables.append((str(heading), names := _texts(names), lines))
            if any(len(line) != len(names) for line in lines):
                raise ValueError("a row does not fit its table")
        return cls(
            str(plain["heading"]),
            tables,
            [Disqualified(*_texts(one)) for one in plain["disqualified"]],
            _texts(plain["faults"]),
            _texts(plain["remarks"]),
            _texts(plain["words"]),
            [(str(name), str(value)) for name, value in plain["facts"]],
        )


def _texts(values: Any) -> list[str]:
    return list(map(str, values))


def percent(rate: float | None) -> str:
    """Return a rate as a percentage with one decimal, or a dash for None."""
    return "-" if rate is None else f"{100 * rate:.1f}%"


def _wrapped(part: Sequence[str | tuple[str, str]], width: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of a part other than a table: (mark, line)."""
    for one in part:
        if isinstance(one, tuple):
            yield one
        else:
            lines = textwrap.wrap(harmless(one), width, break_long_words=False, break_on_hyphens=False)
            yield from (("", line) for line in lines)


def plain_text(report: Report, width: int = WIDTH) -> str:
    """Return the report as plain text; sentences and matrices fit into ``width`` if possible."""
    paragraphs = [[harmless(report.heading)]]
    for part in report.parts():
        if isinstance(part, list):
            paragraphs.append([mark + line for mark, line in _wrapped(part, width)])
        elif isinstance(part, Matrix):
            paragraphs += [[harmless(part.heading)], list(part.lines(width))]
        else:
            heading, titles, rows = part
            paragraphs += [[harmless(heading)], plain_table(titles, rows)]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines)


def markdown_text(report: Report) -> str:
    """Return the report as GitHub Markdown; names and texts of others are escaped."""
    paragraphs = [[f"# {escape.markdown(report.heading)}"]]
    for part in report.parts():
        if isinstance(part, list):
            paragraphs.append([f"- {mark}{escape.markdown(line)}" for mark, line in _wrapped(part, LONGEST_NOTE)])
        else:
            heading, titles, rows = part.table() if isinstance(part, Matrix) else part
            sides = ["--:" if right else "---" for right in numeric_columns(rows) or [False] * len(titles)]
            lines = ["| " + " | ".join(map(escape.markdown, row)) + " |" for row in (titles, *rows)]
            lines.insert(1, "|" + "|".join(sides) + "|")
            paragraphs += [[f"## {escape.markdown(heading)}"], lines]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines) + "\n"
