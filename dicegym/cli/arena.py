"""Commands about stored contests: list, show, matches, replay, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines, print_table
from dicegym.cli.replay_command import replay
from dicegym.columns import write_count

if TYPE_CHECKING:
    from dicegym.arena.store.reading import StoreReader
    from dicegym.arena.store.stored_rows import StoredContest, StoredMatch

ContestNumber = Annotated[int | None, Argument(metavar="ID", help="number of the contest (default: the latest)")]
SHOWN = 20
"""Matches shown by default."""
IDENTITY = 12
"""Shown digits of an entry's identity."""


def list_contests(
    game: Annotated[str | None, Option(help="only this game's", autocompletion=shared_options.complete_game)] = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
) -> None:
    """List stored contests.

    Example: dicegym arena list --game hog
    """
    with shared_options.read_store(store) as reader:
        found = reader.contests(game)
    if found:
        titles = ["ID", "Game", "Format", "Entries", "Matches", "Seed", "Ended", "Label"]
        rows = [
            [
                str(one.id),
                one.game,
                one.format.replace("_", "-"),
                str(one.entries),
                _progress(one),
                str(one.seed),
                _moment(one.ended) or "no",
                one.label,
            ]
            for one in found
        ]
        print_table(titles, rows)
    else:
        out.print(f"{reader.name} has no contest{f' of {game}' if game else ''}: `dicegym tournament` stores one")
    plain = [contest._asdict() for contest in found]
    written.csv(plain)
    written.json(plain)


def show(
    contest: ContestNumber = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv", ".html", ".md"] = NO_FILES,
) -> None:
    """Show a contest: settings, entries, ranking, ratings.

    A .json file contains everything stored, also each fault. A .csv file contains the ranking, and a second file beside
    it the matches.

    Examples: dicegym arena show 3; dicegym arena show 3 -o contest.html -o contest.json
    """
    from dicegym.arena.report import markdown_text, plain_text
    from dicegym.files import write_text

    with shared_options.read_store(store) as reader:
        from dicegym.arena.pages.stored_contest import build_report, places_to_rate
        from dicegym.arena.ratings import fit
        from dicegym.arena.ratings.rating_tables import rating_table, rating_words

        found = reader.contest(contest)
        _show_settings(reader, found)
        report = build_report(reader, found)
        tables, words = list(report.tables), list(report.words)
        played = places_to_rate(reader, found)
        ratings = fit(played) if played else None
        if ratings is not None:
            tables.append(rating_table(ratings))
            words += rating_words(ratings)
        report = report._replace(tables=tables, words=list(dict.fromkeys(words)))
        out.print(plain_text(report, out.width))
        if (text := written[".md"]) is not None:
            write_text(text, markdown_text(report))
            out.print(f"wrote {text}")
        _write_contest(reader, found, ratings, written)


def _show_settings(reader: StoreReader, found: StoredContest) -> None:
    """Print the settings of a contest, and its entries with their figures."""
    figures = {row.name: row for row in reader.figures(found.id)}
    out.print(f"contest {found.id} of {reader.name}" + (f", {found.label}" if found.label else ""))
    settings = {"players": found.players, **found.parameters}
    out.print(f"{found.game}, {', '.join(f'{name}={value}' for name, value in settings.items())}")
    runs = f" by dicegym {found.version}" + (f", in {found.run} runs" if found.run > 1 else "")
    ended = f"{_moment(found.ended)} UTC" if found.ended else "no: run the same command again to finish it"
    out.print(f"began {_moment(found.began)} UTC{runs}; ended {ended}; matches: {_progress(found)}")
    out.print("")
    rows = []
    for entry in reader.entries(found.id):
        own = None if entry.withdrawn else figures.get(entry.name)
        state = "withdrawn" if entry.withdrawn else f"disqualified: {entry.reason}" if entry.reason else ""
        counted = [str(own.matches), str(own.games), str(own.faults)] if own else ["-", "-", "-"]
        rows.append([entry.name, entry.kind, entry.identity[:IDENTITY], *counted, entry.given, state])
    print_table(["Entry", "Kind", "Identity", "Matches", "Games", "Faults", "Given as", ""], rows)
    out.print("")


def _write_contest(reader: StoreReader, found: StoredContest, ratings: Any, written: Outputs) -> None:
    from dicegym.arena.store.store_export import export_json

    if (file := written[".json"]) is not None:
        export_json(reader, found, file, None if ratings is None else ratings.to_json())
        out.print(f"wrote {file}")
    if (sheet := written[".csv"]) is not None:
        from dicegym.arena.csv_tables import result_sheets

        result = reader.result(found.id)
        if result is None:
            written.csv([one._asdict() for one in reader.figures(found.id)])
        print_lines(f"wrote {file}" for file in ([sheet] if result is None else result_sheets(result, sheet)))
    if written[".html"]:
        from dicegym.arena.pages.contest_page import write_page
        from dicegym.arena.pages.stored_contest import build_page

        written.html(lambda page: write_page(build_page(reader, found), page))


def matches(
    contest: ContestNumber = None,
    entry: Annotated[str | None, Option(metavar="NAME", help="only the matches of this entry")] = None,
    last: Annotated[int, Option(min=0, help="list the newest N; 0: all")] = SHOWN,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
) -> None:
    """List a contest's matches, with the IDs that `replay` takes.

    Example: dicegym arena matches 3 --entry bacon --last 5
    """
    with shared_options.read_store(store) as reader:
        found = reader.contest(contest)
        listed = list(reader.matches(found.id, entry, last or None))
        print_table(["Match", "Games", "Won", "Faults", ""], [_match_cells(match) for match in listed])
        if last and found.played > last and entry is None:
            out.print(f"the newest {last} of {found.played:,}; --last 0 lists all")
        plain = [match._asdict() for match in listed]
        written.csv(plain)
        written.json(plain)


def rm(
    contest: Annotated[int, Argument(metavar="ID", help="number of the contest")],
    yes: Annotated[bool, Option("--yes", help="do not ask for confirmation")] = False,
    store: shared_options.StoreName = None,
) -> None:
    """Remove a contest; matches that other contests share are kept.

    Example: dicegym arena rm 3 --yes
    """
    with shared_options.read_store(store) as reader:
        found = reader.contest(contest)
    from dicegym.arena.store.store import ContestStore, remove

    what = f"contest {found.id} ({found.game}, {write_count(found.played, 'match')})"
    if not yes and not typer.confirm(f"Remove {what} from {reader.name}?"):
        raise typer.Exit(1)
    with ContestStore(shared_options.store_name(store)) as opened:
        gone = remove(opened, found.id)
    left = ", matches of withdrawn entries included" if gone > found.played else ""
    out.print(f"removed {what} and deleted {write_count(gone, 'match')}{left}; matches of other contests stay")


arena = group(
    "Show stored contests, their matches and games.",
    list=list_contests,
    show=show,
    matches=matches,
    replay=replay,
    rm=rm,
)


def _progress(contest: StoredContest) -> str:
    if contest.ended is None and contest.planned > contest.played:
        return f"{contest.played:,} of {contest.planned:,}"
    return f"{contest.played:,}"


def _moment(text: str | None) -> str:
    """Return a stored time to the minute."""
    return (text or "")[:16].replace("T", " ")


def _match_cells(match: StoredMatch) -> list[str]:
    won = ", ".join(f"{name} {wins}" for name, wins in zip(match.entries, match.wins, strict=True))
    if match.failed is not None:
        return [str(match.id), "-", ", ".join(match.entries), "-", f"{match.failed}: {match.reason}"]
    return [str(match.id), str(match.games), won, str(sum(match.faults)), ""]
