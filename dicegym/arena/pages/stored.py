"""The page of a contest that is stored, with as many of its games as there is room for, to be read there."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.arena.compare.comparison import FORMAT
from dicegym.arena.facts import limits_in_words
from dicegym.arena.pages.contests import MOST_MATCHES, contest_page, moment, page_title, winners
from dicegym.arena.pages.page import ContestPage, ShownGame, ShownMatch
from dicegym.arena.pages.replays import BUDGET, shown_games
from dicegym.arena.ratings import MatchPlaces
from dicegym.arena.report import Report, percent
from dicegym.arena.storage import default_store
from dicegym.arena.store.reading import StoredContest, StoredMatch, StoreReader


def stored_page(reader: StoreReader, contest: StoredContest, budget: int = BUDGET) -> ContestPage:
    """Return the page of a stored contest; of one that has not ended, as far as it got.

    Games can be read on it until there is no room: those of matches in which something went wrong first, then those
    between the entries that came first. All others name the command that shows them.

    Args:
        reader: of the store.
        contest: which.
        budget: characters of games.
    """
    report = stored_report(reader, contest)
    matches = list(reader.matches(contest.id, last=MOST_MATCHES))
    places = {row["name"]: row["place"] for row in reader.standings(contest.id)}

    def interest(match: StoredMatch) -> tuple[bool, float, int]:
        return not any(match.faults), sum(places.get(name, len(places) + 1) for name in match.entries), match.id

    games = shown_games(reader, sorted(matches, key=interest), budget)
    rows = [_shown(reader, match, games.get(match.id, ())) for match in matches]
    title = page_title(report.heading.partition(":")[0], contest.format)
    page = contest_page(title, report, places_to_rate(reader, contest), rows, max(contest.played, len(rows)))
    date = ("date", moment(contest.ended) if contest.ended else f"begun {moment(contest.began)}, not ended")
    return page._replace(report=page.report._replace(facts=[*page.report.facts, date]))


def places_to_rate(reader: StoreReader, contest: StoredContest) -> list[MatchPlaces]:
    """Return what ratings of a stored contest are computed from; of a comparison nothing, see `Comparison`."""
    return [] if contest.format == FORMAT else reader.match_places(contest.id)


def stored_report(reader: StoreReader, contest: StoredContest) -> Report:
    """Return the report of a stored contest as it was shown; of one that has not ended, what its matches come to."""
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
    planned = f" of {contest.planned:,}" if contest.planned > contest.played else ""
    heading = f"{contest.game}: not ended, {contest.played:,}{planned} matches played, seed {contest.seed}"
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
    return Report(heading, [table], words=["The same command again goes on with it."], facts=facts)


def _shown(reader: StoreReader, match: StoredMatch, games: Sequence[ShownGame]) -> ShownMatch:
    store = "" if reader.name == default_store() else f" --store {reader.name}"
    failed = match.failed is not None
    return ShownMatch(
        str(match.id),
        match.entries,
        tuple("failed" if name == match.failed else "" for name in match.entries)
        if failed
        else tuple(map(str, match.wins)),
        winners(match.wins),
        0 if failed else match.games,
        sum(match.faults),
        "" if failed else f"dicegym arena replay {match.id}{store}",
        games,
    )
