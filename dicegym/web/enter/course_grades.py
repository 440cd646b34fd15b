"""The results of a contest by bot, as rows: the grades of a course."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

from dicegym.arena.store.reading import StoreReader
from dicegym.escape import cell
from dicegym.web.enter.course_contests import OpenContest, TakingPart


class GradeRow(NamedTuple):
    """What became of one bot."""

    owner: str
    bot: str
    version: int | None
    """None: none passed its check."""
    handed_in: str
    place: int | None
    of: int
    """Ranked entries, our agents among them."""
    matches: int
    games: int
    games_won: int
    share: float | None
    """Of games won, a shared first place shared out; None: it has played none."""
    faults: int
    disqualified: str
    """Why; empty: it is not."""


def grade_rows(contest: OpenContest, taking_part: list[TakingPart], reader: StoreReader | None) -> list[GradeRow]:
    """Return what became of each bot in a contest, the best first, unranked ones last."""
    places: dict[str, int] = {}
    figures, struck = {}, {}
    if reader is not None and contest.stored is not None:
        places = {str(row["name"]): int(row["place"]) for row in reader.standings(contest.stored)}
        figures = {row.name: row for row in reader.figures(contest.stored)}
        struck = {one.name: one.reason for one in reader.entries(contest.stored) if one.reason and not one.withdrawn}
    rows = []
    for one in taking_part:
        found = figures.get(one.bot.called)
        rows.append(
            GradeRow(
                one.bot.owner,
                one.bot.name,
                None if one.version is None else one.version.number,
                "" if one.version is None else one.version.made,
                places.get(one.bot.called),
                len(places),
                found.matches if found else 0,
                found.games if found else 0,
                found.wins if found else 0,
                round(found.shares / found.games, 4) if found and found.games else None,
                found.faults if found else 0,
                struck.get(one.bot.called) or ("" if one.version else "no version passed its check"),
            )
        )
    return sorted(rows, key=lambda row: (row.place is None, row.place or 0, row.owner, row.bot))


def as_csv(rows: list[GradeRow]) -> str:
    """Return rows as CSV with a line of titles; no cell is a formula to a program that opens it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(GradeRow._fields)
    for row in rows:
        writer.writerow([cell(value) if isinstance(value, str) else value for value in row])
    return out.getvalue()
