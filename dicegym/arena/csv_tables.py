"""Rows as CSV, for spreadsheets and data frames: one column for each figure, names of others harmless."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from dicegym.escape import cell
from dicegym.files import write_text


def csv_text(rows: Iterable[Any]) -> str:
    """Return rows as CSV, as RFC 4180 has it, with a line of titles.

    Args:
        rows: dataclasses, named tuples or mappings; what is nested in them has columns such as ``exact.wins``, and
            the values of a sequence share one cell with spaces between. None is an empty cell.
    """
    flat = [dict(_cells(row)) for row in rows]
    titles = list(dict.fromkeys(title for row in flat for title in row))
    nested = {title.rpartition(".")[0] for title in titles}  # None in one row, and full of figures in another
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    titles = [title for title in titles if title not in nested]
    writer.writerow(map(cell, titles))
    writer.writerows([row.get(title, "") for title in titles] for row in flat)
    return written.getvalue()


def _cells(row: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (title, value) of every cell of a row."""
    if is_dataclass(row) and not isinstance(row, type):
        row = asdict(row)
    for name, value in (row if isinstance(row, Mapping) else row._asdict()).items():
        title = f"{before}{name}"
        if isinstance(value, Mapping) or is_dataclass(value) or hasattr(value, "_asdict"):
            yield from _cells(value, f"{title}.")
        elif isinstance(value, str):
            yield title, cell(value)
        elif isinstance(value, Sequence):
            yield title, cell(" ".join(map(str, value)))
        else:
            yield title, "" if value is None else value


def name_of_matches(path: Path) -> Path:
    """Return what the sheet of a contest's matches is called, beside that of its ranking."""
    return path.with_name(f"{path.stem}-matches{path.suffix}")


def result_sheets(result: Mapping[str, Any], path: Path) -> list[Path]:
    """Write a contest's ranking to a sheet, and its matches to another one beside it; return both.

    The second has a row for each entry of each match. ``result`` is as `dicegym.arena.results.ContestResult.to_json`
    has it.
    """
    beside = name_of_matches(path)
    matches = [
        {
            "match": number,
            "number": row["number"],
            "seed": row["seed"],
            "games": row["games"],
            "entry": name,
            "wins": row["wins"][player],
            "share": row["shares"][player],
            "faults": row["faults"][player],
        }
        for number, row in enumerate(result["matches"], 1)
        for player, name in enumerate(row["entries"])
    ]
    write_text(path, csv_text(result["standings"]))
    write_text(beside, csv_text(matches))
    return [path, beside]
