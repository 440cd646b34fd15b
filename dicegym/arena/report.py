"""Results as text: plain when piped, tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dicegym.arena.entries import Disqualified
from dicegym.arena.incidents import Misplay, misplay_lines

if TYPE_CHECKING:
    from rich.console import Console

ReportTable = tuple[str, list[str], list[list[str]]]
"""Heading, column titles, rows."""


class Report(NamedTuple):
    """What a contest has to show, whatever its format."""

    heading: str
    """One line that says what was played."""
    tables: Sequence[ReportTable]
    disqualified: Sequence[Disqualified] = ()
    misplays: Sequence[Misplay] = ()
    remarks: Sequence[str] = ()
    """Further lines, such as how ties were broken."""

    def notes(self) -> list[tuple[str, str]]:
        """Return what stands below the tables: (kind, line)."""
        return [
            *(("", remark) for remark in self.remarks),
            *(("disqualified: ", f"{bad.name}: {bad.reason}") for bad in self.disqualified),
            *(("fault: ", line) for line in misplay_lines(self.misplays)),
        ]


def percent(rate: float | None) -> str:
    """Return a rate with one decimal, or a dash for None."""
    return "-" if rate is None else f"{100 * rate:.1f}%"


def plain_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, columns aligned: numbers to the right, names to the left."""
    columns = list(zip(titles, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [bool(rows) and all(_is_number(cell) for cell in column[1:]) for column in columns]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(titles), *(line(row) for row in rows)]


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.removesuffix("%").replace(",", "").replace(".", "", 1).isdigit()


def plain_text(report: Report) -> str:
    """Return the whole report as plain text."""
    lines = [report.heading]
    for heading, titles, rows in report.tables:
        lines += ["", heading, "", *plain_table(titles, rows)]
    notes = [kind + line for kind, line in report.notes()]
    return "\n".join([*lines, "", *notes] if notes else lines)


def show(report: Report, console: Console) -> None:
    """Print the report: tables on a terminal, plain text into a pipe."""
    if not console.is_terminal:
        console.file.write(plain_text(report) + "\n")
        return
    from rich.markup import escape
    from rich.table import Table

    console.print(escape(report.heading), highlight=False)
    for heading, titles, rows in report.tables:
        table = Table(title=heading, title_justify="left")
        for index, title in enumerate(titles):
            numeric = bool(rows) and all(_is_number(row[index]) for row in rows)
            table.add_column(escape(title), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)
    for kind, line in report.notes():
        console.print(f"[red]{kind}[/red]{escape(line)}", highlight=False)
