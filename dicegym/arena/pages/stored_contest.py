"""The page and the report of a stored contest."""

from __future__ import annotations

import shlex

from dicegym.arena.compare.comparison import FORMAT
from dicegym.arena.pages.contest_page import MOST_MATCHES, ContestPage, contest_page, moment, page_title
from dicegym.arena.provenance import limits_in_words, name_game
from dicegym.arena.ratings import MatchPlaces
from dicegym.arena.report import Report, percent
from dicegym.arena.storage import default_store
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.columns import write_count


def build_page(reader: StoreReader, contest: StoredContest) -> ContestPage:
    """Return the page of a stored contest, by its games so far if it has not ended.

    Each match has the command that shows its games.
    """
    report = build_report(reader, contest)
    date = ("date", moment(contest.ended) if contest.ended else f"begun {moment(contest.began)}, not ended")
    matches = list(reader.matches(contest.id, last=MOST_MATCHES))
    return contest_page(
        page_title(report, contest.format, contest.label),
        report._replace(facts=[*report.facts, date]),
        places_to_rate(reader, contest),
        matches,
        max(contest.played, len(matches)),
        at="" if reader.name == default_store() else f" --store {shlex.quote(reader.name)}",
    )


def places_to_rate(reader: StoreReader, contest: StoredContest) -> list[MatchPlaces]:
    """Return the input of a stored contest's ratings; empty for a comparison, see `Comparison`."""
    return [] if contest.format == FORMAT else reader.match_places(contest.id)


def build_report(reader: StoreReader, contest: StoredContest) -> Report:
    """Return the stored report of a contest; if it has not ended, a report of the results so far."""
    if (report := reader.report(contest.id)) is not None:
        return report
    found = [(row.shares / max(1, row.games), row) for row in reader.figures(contest.id)]
    rows = [
        [row.name, str(row.matches), str(row.games), str(row.wins), percent(share), str(row.faults)]
        for share, row in sorted(found, key=lambda one: (-one[0], one[1].name))
    ]
    titles = ["Entry", "Matches", "Games", "Wins", "Games won", "Faults"]
    more = "The same command again continues it."
    of = f"{contest.played:,} of " if contest.planned > contest.played else ""
    matches = of + write_count(contest.planned if of else contest.played, "match")
    facts = [
        ("game", name_game(contest.game, contest.parameters)),
        ("seats", str(contest.players)),
        ("format", contest.format.replace("_", "-")),
        ("seed", str(contest.seed)),
        ("rules", contest.fingerprint),
        ("limits", limits_in_words(contest.limits)),
        ("versions", f"dicegym {contest.version}"),
    ]
    return Report(
        f"{contest.game}: not ended, {matches} played, seed {contest.seed}",
        [("So far", titles, rows)] if rows else [],
        words=[more] if rows else ["No match has finished yet.", more],
        facts=facts,
    )
