"""Write rows as CSV for spreadsheets and data frames: a column for each figure; texts of others are made harmless."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dicegym.escape import cell
from dicegym.files import write_text


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV (RFC 4180) with a line of titles.

    A nested mapping has columns such as ``exact.wins``. The values of a sequence share one cell, separated by spaces.
    None is an empty cell.
    """
    flat = [dict(_cells(row)) for row in rows]
    titles = list(dict.fromkeys(title for row in flat for title in row))
    nested = {title.rpartition(".")[0] for title in titles}  # a column that is None in one row and nested in another
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    titles = [title for title in titles if title not in nested]
    writer.writerow(map(cell, titles))
    writer.writerows([row.get(title, "") for title in titles] for row in flat)
    return written.getvalue()


def _cells(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (title, value) of every cell of a row."""
    for name, value in row.items():
        title = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from _cells(value, f"{title}.")
        elif isinstance(value, str):
            yield title, cell(value)
        elif isinstance(value, Sequence):
            yield title, cell(" ".join(map(str, value)))
        else:
            yield title, "" if value is None else value


def name_of_matches(path: Path) -> Path:
    """Return the path of the sheet of a contest's matches, beside that of its ranking."""
    return path.with_name(f"{path.stem}-matches{path.suffix}")


def result_sheets(result: Mapping[str, Any], path: Path) -> list[Path]:
    """Write a contest's ranking to a sheet, and its matches to another, with a row for each entry; return both paths.

    ``result`` is as from `dicegym.arena.results.ContestResult.to_json`.
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
