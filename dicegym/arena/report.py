"""Results as text: plain when piped, tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dicegym.arena.round_robin import ContestResult

if TYPE_CHECKING:
    from rich.console import Console

Table = tuple[str, list[str], list[list[str]]]
"""Heading, column titles, rows."""


def percent(rate: float | None) -> str:
    """Return a rate with one decimal, or a dash for None."""
    return "-" if rate is None else f"{100 * rate:.1f}%"


def contest_tables(result: ContestResult) -> list[Table]:
    """Return the ranking and the table of matches."""
    ranking = [
        [str(line.place), line.name, str(line.wins), str(line.losses), percent(line.win_rate)]
        for line in result.standings
    ]
    matches = [[*match.entries, *map(str, match.wins)] for match in result.matches]
    rate = f"Winrate against `{result.yardstick}`"
    return [
        ("Rankings", ["Ranking", "Entry", "Wins", "Losses", rate], ranking),
        ("Matches", ["Entry 0", "Entry 1", "Entry 0's wins", "Entry 1's wins"], matches),
    ]


def contest_heading(result: ContestResult) -> str:
    """Return one line that says what was played."""
    return (
        f"{result.title}: {len(result.standings)} entries, {len(result.matches)} matches of "
        f"{result.games_per_match} games, seed {result.seed}"
    )


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


def contest_text(result: ContestResult) -> str:
    """Return the whole report as plain text."""
    lines = [contest_heading(result)]
    for heading, titles, rows in contest_tables(result):
        lines += ["", heading, "", *plain_table(titles, rows)]
    if result.disqualified:
        lines += ["", *(f"disqualified: {bad.name}: {bad.reason}" for bad in result.disqualified)]
    return "\n".join(lines)


def show_contest(result: ContestResult, console: Console) -> None:
    """Print the report: tables on a terminal, plain text into a pipe."""
    if not console.is_terminal:
        console.file.write(contest_text(result) + "\n")
        return
    from rich.markup import escape
    from rich.table import Table as RichTable

    console.print(escape(contest_heading(result)), highlight=False)
    for heading, titles, rows in contest_tables(result):
        table = RichTable(title=heading, title_justify="left")
        for index, title in enumerate(titles):
            numeric = bool(rows) and all(_is_number(row[index]) for row in rows)
            table.add_column(escape(title), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)
    for bad in result.disqualified:
        console.print(f"[red]disqualified:[/red] {escape(bad.name)}: {escape(bad.reason)}", highlight=False)
