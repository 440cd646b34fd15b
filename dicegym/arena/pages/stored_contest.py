"""The page of a contest that is stored."""

from __future__ import annotations

from dicegym.arena.compare.comparison import FORMAT
from dicegym.arena.pages.contest_page import (
    MOST_MATCHES,
    ContestPage,
    ShownMatch,
    contest_page,
    moment,
    page_title,
    winners,
)
from dicegym.arena.provenance import limits_in_words
from dicegym.arena.ratings import MatchPlaces
from dicegym.arena.report import Report, percent
from dicegym.arena.storage import default_store
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest, StoredMatch
from dicegym.columns import write_count


def build_page(reader: StoreReader, contest: StoredContest) -> ContestPage:
    """Return the page of a stored contest; of one that has not ended, by its games so far.

    Each match names the command that shows its games.
    """
    report = build_report(reader, contest)
    rows = [list_match(match, reader.name) for match in reader.matches(contest.id, last=MOST_MATCHES)]
    title = page_title(report.heading.partition(":")[0], contest.format)
    page = contest_page(title, report, places_to_rate(reader, contest), rows, max(contest.played, len(rows)))
    date = ("date", moment(contest.ended) if contest.ended else f"begun {moment(contest.began)}, not ended")
    return page._replace(report=page.report._replace(facts=[*page.report.facts, date]))


def places_to_rate(reader: StoreReader, contest: StoredContest) -> list[MatchPlaces]:
    """Return what ratings of a stored contest are computed from; of a comparison nothing, see `Comparison`."""
    return [] if contest.format == FORMAT else reader.match_places(contest.id)


def build_report(reader: StoreReader, contest: StoredContest) -> Report:
    """Return the report of a stored contest as it was shown; of one that has not ended, the results so far."""
    found = reader.report(contest.id)
    if found is not None:
        return found
    figures = sorted(reader.figures(contest.id), key=lambda row: (-row.shares / max(1, row.games), row.name))
    rows = [
        [
            row.name,
            *map(str, (row.matches, row.games, row.wins)),
            percent(row.shares / max(1, row.games)),
            str(row.faults),
        ]
        for row in figures
    ]
    of = f"{contest.played:,} of " if contest.planned > contest.played else ""
    matches = of + write_count(contest.planned if of else contest.played, "match")
    heading = f"{contest.game}: not ended, {matches} played, seed {contest.seed}"
    parameters = ", ".join(f"{name}={value}" for name, value in contest.parameters.items())
    facts = [
        ("game", f"{contest.game} ({parameters})"),
        ("seats", str(contest.players)),
        ("format", contest.format.replace("_", "-")),
        ("seed", str(contest.seed)),
        ("rules", contest.fingerprint),
        ("limits", limits_in_words(contest.limits)),
        ("versions", f"dicegym {contest.version}"),
    ]
    table = ("So far", ["Entry", "Matches", "Games", "Wins", "Games won", "Faults"], rows)
    return Report(heading, [table], words=["The same command again continues it."], facts=facts)


def list_match(match: StoredMatch, store: str = "") -> ShownMatch:
    """Return a match as a row of a list.

    Args:
        match: from a store.
        store: the store's name, if the row says which command shows the games.
    """
    given = "" if store == default_store() else f" --store {store}"
    failed = match.failed is not None
    won = ["failed" if name == match.failed else "" for name in match.entries] if failed else map(str, match.wins)
    command = "" if failed or not store else f"dicegym arena replay {match.id}{given}"
    games, faults = 0 if failed else match.games, sum(match.faults)
    return ShownMatch(str(match.id), match.entries, tuple(won), winners(match.wins), games, faults, command)
