"""All that a store has of a contest, as one JSON file or several CSV files, in little memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.csv_tables import csv_text, write_sheet
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest, StoredMatch, StoredMisplay
from dicegym.files import write_text, writing

VERSION = 1
"""Of the form of the JSON file: raised when a key goes or means something else, not when one is added."""


class SeatRow(NamedTuple):
    """What an entry got in a match: a row of the sheet of matches, one for each entry that played it."""

    match: int
    key: str
    number: int
    seed: int
    games: int
    entry: str
    identity: str
    wins: int
    share: float
    faults: int
    failed: str | None
    reason: str | None


class GameRow(NamedTuple):
    """What an entry got in a game: a row of the sheet of games."""

    match: int
    game: int
    """From 0, as ``game.new_game(seed, game)`` has it."""
    seat: int
    entry: str
    returns: float
    actions: tuple[int, ...]
    """Of all seats in the order in which they were played; with the first seat alone."""


def export_json(reader: StoreReader, contest: StoredContest, path: Path, ratings: Any = None) -> None:
    """Write a contest with its entries, standings, matches, games and faults to a file, a line for each match.

    Args:
        reader: the store.
        contest: one of it.
        path: the file.
        ratings: plain values of its ratings, if it has any.

    Raises:
        OSError: as `open` does.
    """
    about = {
        "version": VERSION,
        "contest": contest._asdict(),
        "entries": [_without("contest", entry) for entry in reader.entries(contest.id)],
        "standings": reader.standings(contest.id),
        "result": reader.result(contest.id),
        "ratings": ratings,
    }
    with writing(path) as unfinished, open(unfinished, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("{\n" + "".join(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in about.items()))
        file.write('"matches": [')
        between = "\n"
        for match, _, games, misplays in reader.whole(reader.matches(contest.id)):
            played = [_without("match", game) for game in games]
            wrong = [_without("match", misplay) for misplay in misplays]
            file.write(between + json.dumps(match._asdict() | {"played": played, "misplays": wrong}))
            between = ",\n"
        file.write("\n]\n}\n")


def export_csv(reader: StoreReader, contest: StoredContest, path: Path) -> list[Path]:
    """Write a contest's settings, entries, matches, games and faults to sheets beside ``path``; return them.

    Raises OSError as `open` does.
    """
    files = [path.with_stem(f"{path.stem}-{name}") for name in ("contest", "entries", "matches", "games", "faults")]
    about, entries, matches, games, faults = files
    write_text(about, csv_text([contest._asdict()]))
    who = reader.entries(contest.id)
    write_text(entries, csv_text(_without("contest", entry) | {"files": " ".join(entry.files)} for entry in who))
    write_sheet(matches, seat_rows(reader.matches(contest.id)), SeatRow._fields)
    write_sheet(games, _game_rows(reader, contest.id), GameRow._fields)
    write_sheet(faults, reader.misplays_in(contest.id), StoredMisplay._fields)
    return files


def seat_rows(matches: Iterable[StoredMatch]) -> Iterator[SeatRow]:
    """Yield a row for each entry in each match."""
    for match in matches:
        about = match.id, match.key, match.number, match.seed, match.games
        own = zip(match.entries, match.identities, match.wins, match.shares, match.faults, strict=True)
        for entry, identity, wins, share, faults in own:
            yield SeatRow(*about, entry, identity, wins, share, faults, match.failed, match.reason)


def _game_rows(reader: StoreReader, contest: int) -> Iterator[GameRow]:
    for match, _, games, _ in reader.whole(reader.matches(contest)):
        for game in games:
            for seat, player in enumerate(game.seats):
                actions = () if seat else game.actions
                yield GameRow(match.id, game.number, seat, match.entries[player], game.returns[player], actions)


def _without(name: str, row: Any) -> dict[str, Any]:
    """Return a named tuple as a dict without one of its values."""
    return {key: value for key, value in row._asdict().items() if key != name}
