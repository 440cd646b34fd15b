"""Rows as CSV, for spreadsheets and data frames: one column for each figure, names of others harmless."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dicegym.escape import cell
from dicegym.files import write_text, writing

if TYPE_CHECKING:
    from dicegym.arena.results import ContestResult


def csv_text(rows: Iterable[Any]) -> str:
    """Return rows as CSV, as RFC 4180 has it, with a line of titles.

    Args:
        rows: dataclasses, named tuples or mappings; what is nested in them has columns such as ``could_be.best``, and
            the values of a sequence share one cell with spaces between. None is an empty cell.
    """
    flat = [dict(_cells(row)) for row in rows]
    titles = list(dict.fromkeys(title for row in flat for title in row))
    nested = {title.rpartition(".")[0] for title in titles}
    titles = [title for title in titles if title not in nested]  # None in one row, and full of figures in another
    return "".join(_lines(titles, flat))


def write_sheet(path: Path, rows: Iterable[Any], titles: Sequence[str]) -> None:
    """Write rows to a file of CSV as they come, however many; ``titles`` are all their columns."""
    with writing(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="", errors="replace") as file:
        file.writelines(_lines(titles, (dict(_cells(row)) for row in rows)))


def result_sheets(result: ContestResult, path: Path) -> list[Path]:
    """Write a contest's ranking to a sheet, and its matches to another one beside it; return both.

    The second is called like the first, with ``-matches``, and has a row for each entry of each match.
    """
    beside = path.with_name(f"{path.stem}-matches{path.suffix}")
    write_text(path, csv_text(row.to_json() for row in result.standings))
    matches = [
        {
            "match": number,
            "number": row.number,
            "seed": row.seed,
            "games": row.games,
            "entry": name,
            "wins": row.wins[player],
            "share": row.won[player],
            "faults": row.faults[player] if row.faults else 0,
            "seats": row.seats[player] if row.seats else (),
        }
        for number, row in enumerate(result.matches, 1)
        for player, name in enumerate(row.entries)
    ]
    write_text(beside, csv_text(matches))
    return [path, beside]


def _lines(titles: Sequence[str], flat: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\r\n")

    def written(cells: Iterable[Any]) -> str:
        line.seek(0)
        line.truncate()
        writer.writerow(cells)
        return line.getvalue()

    yield written(map(cell, titles))
    for row in flat:
        yield written(row.get(title, "") for title in titles)


def _cells(row: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (title, value) of every cell of a row."""
    for name, value in _items(row):
        title = f"{before}{name}"
        if isinstance(value, Mapping) or is_dataclass(value) or hasattr(value, "_asdict"):
            yield from _cells(value, f"{title}.")
        else:
            yield title, _shown(value)


def _items(row: Any) -> Iterable[tuple[str, Any]]:
    if is_dataclass(row):
        return [(field.name, getattr(row, field.name)) for field in fields(row)]
    found: Mapping[str, Any] = row if isinstance(row, Mapping) else row._asdict()
    return found.items()


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return cell(value)
    if isinstance(value, Sequence):
        return cell(" ".join(map(str, value)))
    return "" if value is None else value
