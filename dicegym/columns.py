"""Tables as plain text, their columns aligned."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.escape import harmless


def plain_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, escaped, with numbers aligned right and names left."""
    titles, rows = list(map(harmless, titles)), [list(map(harmless, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    right = numeric_columns(rows) or [False] * len(titles)

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(titles), *(line(row) for row in rows)]


def write_count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 match``, ``1,204 matches``, ``2 entries``."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith(("ch", "s", "x")) else f"{noun}s"
    return f"{number:,} {plural}"


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, a percentage, or a dash for a missing one."""
    return cell == "-" or cell.removesuffix("%").replace(",", "").replace(".", "", 1).isdigit()


def numeric_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Return for each column whether all its cells are numbers; empty for no rows."""
    return [all(map(is_number, column)) for column in zip(*rows, strict=True)]


def clock(seconds: float) -> str:
    """Return a time as ``m:ss``, or ``h:mm:ss`` from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
