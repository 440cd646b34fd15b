"""Stored contests and games: lists, results, matches, replays; removing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines, print_table
from dicegym.cli.replay_command import replay
from dicegym.columns import plain_table, write_count

if TYPE_CHECKING:
    from dicegym.arena.store.reading import StoreReader
    from dicegym.arena.store.stored_rows import StoredContest, StoredMatch

ContestNumber = Annotated[int | None, Argument(metavar="ID", help="number of the contest (default: the latest)")]
SHOWN = 20
"""Matches and faults that are shown unless more are asked for."""
IDENTITY = 12
"""Digits of an identity that are shown."""


def list_contests(
    game: Annotated[
        str | None, Option(help="only those of this game (default: all)", autocompletion=shared_options.complete_game)
    ] = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
) -> None:
    """List stored contests.

    Example: dicegym arena list --game hog
    """
    with shared_options.read_store(store) as reader:
        found = reader.contests(game)
    if not found:
        out.print(f"{reader.name} has no contest{f' of {game}' if game else ''}: `dicegym tournament` stores them")
    else:
        labels = any(contest.label for contest in found)
        titles = ["ID", "Game", "Format", "Entries", "Matches", "Seed", "Ended", *["Label"] * labels]
        rows = [
            [
                str(contest.id),
                _game(contest),
                format_name(contest.format),
                str(contest.entries),
                _progress(contest),
                str(contest.seed),
                _moment(contest.ended) or "no",
                *[contest.label] * labels,
            ]
            for contest in found
        ]
        print_table(titles, rows)
    plain = [contest._asdict() for contest in found]
    written.csv(plain)
    written.json(plain)


def show(
    contest: ContestNumber = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv", ".html"] = NO_FILES,
) -> None:
    """Show a contest: settings, entries, ranking, ratings, faults.

    A .json file holds all that is stored of it. A .csv file holds its ranking, and a second one beside it the matches.

    Examples: dicegym arena show 3; dicegym arena show 3 -o contest.html -o contest.json
    """
    from dicegym.arena.report import show as show_report

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
        show_report(report._replace(tables=tables, words=list(dict.fromkeys(words))), out)
        _write_contest(reader, found, ratings, written)


def _show_settings(reader: StoreReader, found: StoredContest) -> None:
    """Print the settings of a contest, its entries and their faults."""
    figures = {row.name: row for row in reader.figures(found.id)}
    misplays = reader.misplays_in(found.id, SHOWN)
    out.print(f"contest {found.id} of {reader.name}" + (f", {found.label}" if found.label else ""))
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
    for misplay in misplays:
        turn = f", turn {misplay.turn}" if misplay.turn else ""
        out.print(f"fault: {misplay.name}: match {misplay.match}, game {misplay.game}{turn}: {misplay.reason}")
    more = sum(row.faults for row in figures.values()) - len(misplays)
    if misplays and more > 0:
        out.print(f"and {more:,} more: dicegym arena show {found.id} -o FILE.json has them")
    if misplays:
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

        def asked() -> Iterator[StoredMatch]:
            return reader.matches(found.id, entry, last or None)

        titles = ["Match", "Games", "Won", "Faults", ""]
        shown = False
        for some in _parts(asked()):  # as they come: there may be a million
            print_lines(plain_table(titles, [_match_cells(match) for match in some])[shown:])
            shown = True
        if not shown:
            out.print(f"no match of contest {found.id} is stored")
        elif last and found.played > last and entry is None:
            out.print(f"the newest {last} of {found.played:,}; --last 0 lists all")
        if written:
            plain = [match._asdict() for match in asked()]
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

    size = f"{write_count(found.entries, 'entry')}, {write_count(found.played, 'match')}"
    what = f"contest {found.id} ({_game(found)}, {size})"
    if not yes and not typer.confirm(f"Remove {what} from {reader.name}?"):
        out.print("nothing was removed")
        raise typer.Exit(1)
    with ContestStore(shared_options.store_name(store)) as opened:
        gone = remove(opened, found.id)
    out.print(f"removed {what}; {write_count(gone, 'match')} went with it, and those of other contests stay")


arena = group(
    "Show stored contests, their matches and games.",
    list=list_contests,
    show=show,
    matches=matches,
    replay=replay,
    rm=rm,
)


def format_name(name: str) -> str:
    """Return what a format is called on the command line."""
    return name.replace("_", "-")


def _parts(found: Iterator[StoredMatch]) -> Iterator[list[StoredMatch]]:
    while some := list(itertools.islice(found, 1000)):
        yield some


def _game(contest: StoredContest) -> str:
    """Return the game with its parameters, and how many play it."""
    told = [f"players={contest.players}"] if contest.players != 2 else []
    told += [f"{name}={value}" for name, value in contest.parameters.items() if _unusual(contest.game, name, value)]
    return f"{contest.game} ({', '.join(told)})" if told else contest.game


def _unusual(game: str, name: str, value: int) -> bool:
    """Return whether a parameter is another than usual; also of a game that is not installed any more."""
    import dicegym
    from dicegym.errors import DicegymError

    try:
        return dicegym.game(game).parameters.get(name) != value
    except DicegymError:
        return True


def _progress(contest: StoredContest) -> str:
    if contest.ended is None and contest.planned > contest.played:
        return f"{contest.played:,} of {contest.planned:,}"
    return f"{contest.played:,}"


def _moment(text: str | None) -> str:
    """Return a time to the minute."""
    return (text or "")[:16].replace("T", " ")


def _match_cells(match: StoredMatch) -> list[str]:
    won = ", ".join(f"{name} {wins}" for name, wins in zip(match.entries, match.wins, strict=True))
    if match.failed is not None:
        return [str(match.id), "-", ", ".join(match.entries), "-", f"{match.failed}: {match.reason}"]
    return [str(match.id), str(match.games), won, str(sum(match.faults)), ""]
