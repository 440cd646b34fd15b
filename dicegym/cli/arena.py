"""What stands in a store of contests: lists, standings, matches, exports; and removing a contest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dicegym.cli.common import (
    HtmlFile,
    JsonFile,
    StoreName,
    check_writable,
    complete_game,
    out,
    print_table,
    write_json,
)
from dicegym.cli.merging import merge, verify
from dicegym.errors import DependencyError, ParameterError
from dicegym.files import write_text

if TYPE_CHECKING:
    from dicegym.arena.store.reading import StoreReader
    from dicegym.arena.store.stored import StoredContest, StoredMatch

arena = typer.Typer(help="See the contests that are stored.", no_args_is_help=True)

ContestNumber = Annotated[int | None, typer.Argument(metavar="ID", help="number of the contest (default: the latest)")]
CsvFile = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="write the rows as CSV to this file too")]
SHOWN = 20
"""Matches, and things that went wrong, that are shown unless more are asked for."""
IDENTITY = 12
"""Digits of an identity that are shown."""


@arena.command("list")
def list_contests(
    game: Annotated[str | None, typer.Option(help="contests of this game alone", autocompletion=complete_game)] = None,
    store: StoreName = None,
    csv_file: CsvFile = None,
    json_file: JsonFile = None,
) -> None:
    """List stored contests, and what game servers held.

    Example: dicegym arena list --game hog
    """
    _check(csv_file, json_file)
    with _reader(store) as reader:
        from dicegym.arena.store.served import servers

        found, held = reader.contests(game), servers(reader, game)
    if not found:
        out.print(f"{reader.name} holds no contest{f' of {game}' if game else ''}: `dicegym tournament` stores them")
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
    if held:
        out.print("")
        rows = [
            [one.game, str(one.runs), str(one.games), str(one.rated), _moment(one.began), _moment(one.ended) or "no"]
            for one in held
        ]
        print_table(["Server of", "Runs", "Games", "Rated", "Began last", "Ended"], rows)
    _write_rows([contest._asdict() for contest in found], csv_file, json_file)


@arena.command()
def show(contest: ContestNumber = None, store: StoreName = None, json_file: JsonFile = None) -> None:
    """Show what a contest is, who takes part, and what went wrong.

    Example: dicegym arena show 3
    """
    _check(json_file)
    with _reader(store) as reader:
        found = reader.contest(contest)
        entries = reader.entries(found.id)
        figures = {row.name: row for row in reader.figures(found.id)}
        misplays = reader.misplays_in(found.id, SHOWN)
    for name, value in _facts(found, reader.name):
        out.print(f"{name:<12}{value}")
    out.print("")
    rows = []
    for entry in entries:
        own = None if entry.withdrawn else figures.get(entry.name)
        state = "withdrawn" if entry.withdrawn else f"disqualified: {entry.reason}" if entry.reason else ""
        counted = [str(own.matches), str(own.games), str(own.faults)] if own else ["-", "-", "-"]
        rows.append([entry.name, entry.kind, entry.identity[:IDENTITY], *counted, entry.given, state])
    print_table(["Entry", "Kind", "Identity", "Matches", "Games", "Faults", "Given as", ""], rows)
    if misplays:
        out.print("")
        for misplay in misplays:
            turn = f", turn {misplay.turn}" if misplay.turn else ""
            out.print(f"fault: {misplay.name}: match {misplay.match}, game {misplay.game}{turn}: {misplay.reason}")
        more = sum(row.faults for row in figures.values()) - len(misplays)
        if more > 0:
            out.print(f"and {more:,} more: dicegym arena export {found.id} --json FILE has them")
    write_json(
        json_file,
        {
            "contest": found._asdict(),
            "entries": [entry._asdict() for entry in entries],
            "figures": [row._asdict() for row in figures.values()],
            "misplays": [misplay._asdict() for misplay in misplays],
        },
    )


@arena.command()
def standings(
    contest: ContestNumber = None,
    store: StoreName = None,
    csv_file: CsvFile = None,
    html_file: HtmlFile = None,
    json_file: JsonFile = None,
) -> None:
    """Show how a contest came out, with ratings and their intervals.

    Example: dicegym arena standings 3 --html contest.html
    """
    from dicegym.arena.report import show as show_report
    from dicegym.arena.report import without_options

    _check(csv_file, html_file, json_file)
    with _reader(store) as reader:
        from dicegym.arena.pages.stored import places_to_rate, stored_report
        from dicegym.arena.ratings import fit
        from dicegym.arena.ratings.shown import rating_table, rating_words

        found = reader.contest(contest)
        report = stored_report(reader, found)
        played = places_to_rate(reader, found)
        plain: dict[str, Any] = {"contest": found._asdict(), "standings": reader.standings(found.id)}
        ratings = None
        tables, words = list(report.tables), without_options(report.words)
        if played:
            ratings = fit(played)
            tables.append(rating_table(ratings))
            words += rating_words(ratings)
            plain["ratings"] = ratings.to_json()
        show_report(report._replace(tables=tables, words=list(dict.fromkeys(words))), out)
        if csv_file is not None:
            by_name = {row.name: row for row in ratings.rows} if ratings else {}
            rows = plain["standings"] or [{"name": name} for name in by_name]
            _write_rows([row | {"rated": by_name.get(row["name"])} for row in rows], csv_file, None)
        write_json(json_file, plain)
        if html_file is not None:
            _write_page(reader, found, html_file)


@arena.command()
def matches(
    contest: ContestNumber = None,
    entry: Annotated[str | None, typer.Option(metavar="NAME", help="those of this entry alone")] = None,
    last: Annotated[int, typer.Option(min=0, help="so many of the newest; 0: all")] = SHOWN,
    store: StoreName = None,
    csv_file: CsvFile = None,
    json_file: JsonFile = None,
) -> None:
    """List a contest's matches, by the numbers that `replay` takes.

    Files have a row for each entry of each match.

    Example: dicegym arena matches 3 --entry bacon --last 5
    """
    from dicegym.arena.sheets import write_sheet
    from dicegym.arena.store.export import SeatRow, seat_rows
    from dicegym.columns import plain_table

    _check(csv_file, json_file)
    with _reader(store) as reader:
        found = reader.contest(contest)

        def asked() -> Iterator[StoredMatch]:
            return reader.matches(found.id, entry, last or None)

        titles = ["Match", "Games", "Won", "Faults", ""]
        shown = False
        for some in _parts(asked()):  # as they come: there may be a million
            for line in plain_table(titles, [_match_cells(match) for match in some])[shown:]:
                out.print(line)
            shown = True
        if not shown:
            out.print(f"no match of contest {found.id} is stored")
        elif last and found.played > last and entry is None:
            out.print(f"the newest {last} of {found.played:,}; --last 0 lists all")
        if csv_file is not None:
            write_sheet(csv_file, seat_rows(asked()), SeatRow._fields)
        if json_file is not None:
            write_json(json_file, [match._asdict() for match in asked()])


arena.command()(merge)
arena.command()(verify)


@arena.command()
def export(
    contest: ContestNumber = None,
    store: StoreName = None,
    csv_folder: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FOLDER", help="write sheets to this folder, one for each kind of row"),
    ] = None,
    html_file: HtmlFile = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="write all there is to this file")
    ] = None,
) -> None:
    """Write a contest to files: entries, matches, games, faults.

    Example: dicegym arena export 3 --json contest.json --csv contest
    """
    if csv_folder is html_file is json_file is None:
        raise ParameterError("name what is to be written: --json FILE, --csv FOLDER, --html FILE")
    _check(html_file, json_file)
    with _reader(store) as reader:
        from dicegym.arena.store.export import export_csv, export_json

        found = reader.contest(contest)
        if json_file is not None:
            export_json(reader, found, json_file)
            out.print(f"wrote {json_file}")
        if csv_folder is not None:
            for file in export_csv(reader, found, csv_folder):
                out.print(f"wrote {file}")
        if html_file is not None:
            _write_page(reader, found, html_file)


@arena.command()
def rm(
    contest: Annotated[int, typer.Argument(metavar="ID", help="number of the contest")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    store: StoreName = None,
) -> None:
    """Remove a contest; matches that other contests have too stay.

    Example: dicegym arena rm 3 --yes
    """
    with _reader(store) as reader:
        found = reader.contest(contest)
    from dicegym.arena.store.removing import remove
    from dicegym.arena.store.store import ContestStore

    what = f"contest {found.id} ({_game(found)}, {found.entries} entries, {_matches(found.played)})"
    if not yes and not typer.confirm(f"Remove {what} from {reader.name}?"):
        out.print("nothing was removed")
        raise typer.Exit(1)
    with ContestStore(_where(store)) as opened:
        gone = remove(opened, found.id)
    kept = f"; {gone.kept:,} matches stay, as other contests have them too" if gone.kept else ""
    out.print(
        f"removed {what}: {_matches(gone.matches)} with {gone.games:,} games, and {gone.entries} entries that had no "
        f"other contest{kept}"
    )


def _matches(number: int) -> str:
    return f"{number:,} match{'es' * (number != 1)}"


def format_name(name: str) -> str:
    """Return what a format is called on the command line."""
    return name.replace("_", "-")


def _where(store: str | None) -> str:
    from dicegym.arena.storage import named_store

    return named_store(store)


def _reader(store: str | None) -> StoreReader:
    """Open the store. Raises DependencyError if a library is missing."""
    try:
        from dicegym.arena.store.reading import StoreReader
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "reading stored contests") from error
    return StoreReader(_where(store), waits=True)


def _check(*files: Path | None) -> None:
    for file in files:
        check_writable(file)


def _write_rows(rows: list[dict[str, Any]], csv_file: Path | None, json_file: Path | None) -> None:
    if csv_file is not None:
        from dicegym.arena.sheets import csv_text

        write_text(csv_file, csv_text(rows))
    write_json(json_file, rows)


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


def _facts(contest: StoredContest, store: str) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a contest in a few words each."""
    from dicegym.arena.facts import limits_in_words

    yield "contest", f"{contest.id} of {store}" + (f", {contest.label}" if contest.label else "")
    yield (
        "game",
        f"{contest.game}, {contest.players} seats"
        + "".join(f", {name}={value}" for name, value in contest.parameters.items()),
    )
    options = ", ".join(f"{name}={value}" for name, value in contest.options.items() if value is not None)
    yield "format", format_name(contest.format) + (f", {options}" if options else "")
    yield "seed", str(contest.seed)
    yield "matches", _progress(contest)
    yield "rules", contest.fingerprint
    yield "limits", limits_in_words(contest.limits)
    runs = f" by dicegym {contest.version}" + (f", in {contest.run} runs" if contest.run > 1 else "")
    yield "began", f"{_moment(contest.began)} UTC{runs}"
    yield "ended", f"{_moment(contest.ended)} UTC" if contest.ended else "no: the same command again goes on with it"


def _match_cells(match: StoredMatch) -> list[str]:
    won = ", ".join(f"{name} {wins}" for name, wins in zip(match.entries, match.wins, strict=True))
    if match.failed is not None:
        return [str(match.id), "-", ", ".join(match.entries), "-", f"{match.failed}: {match.reason}"]
    return [str(match.id), str(match.games), won, str(sum(match.faults)), ""]


def _write_page(reader: StoreReader, contest: StoredContest, file: Path) -> None:
    from dicegym.arena.pages.contests import write_page
    from dicegym.arena.pages.stored import stored_page

    write_page(stored_page(reader, contest), file)
    out.print(f"wrote {file}: open it in a browser")
