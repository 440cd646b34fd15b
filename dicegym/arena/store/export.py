"""All that a store has of a contest, as one JSON file or several CSV files, in little memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.sheets import csv_text, write_sheet
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored import PlayedGame, StoredContest, StoredMatch, StoredMisplay
from dicegym.files import write_text, writing

VERSION = 1
"""Of the form of the JSON file: raised when a key goes or means something else, not when one is added."""
TOGETHER = 1_000
"""Matches whose games are in memory at once."""


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
        "entries": [entry._asdict() for entry in reader.entries(contest.id)],
        "standings": reader.standings(contest.id),
        "result": reader.result(contest.id),
        "ratings": ratings,
    }
    with writing(path) as unfinished, open(unfinished, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("{\n" + "".join(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in about.items()))
        file.write('"matches": [')
        between = "\n"
        for match, games, misplays in whole_matches(reader, contest.id):
            file.write(between + json.dumps(_plain(match, games, misplays)))
            between = ",\n"
        file.write("\n]\n}\n")


def export_csv(reader: StoreReader, contest: StoredContest, path: Path) -> list[Path]:
    """Write a contest's settings, entries, matches, games and faults to sheets beside ``path``; return them.

    Raises OSError as `open` does.
    """
    files = [path.with_stem(f"{path.stem}-{name}") for name in ("contest", "entries", "matches", "games", "faults")]
    about, entries, matches, games, faults = files
    write_text(about, csv_text([contest._asdict()]))
    write_text(
        entries, csv_text(entry._asdict() | {"files": " ".join(entry.files)} for entry in reader.entries(contest.id))
    )
    write_sheet(matches, seat_rows(reader.matches(contest.id)), SeatRow._fields)
    write_sheet(games, _game_rows(reader, contest.id), GameRow._fields)
    write_sheet(faults, reader.misplays_in(contest.id), StoredMisplay._fields)
    return files


def seat_rows(matches: Iterator[StoredMatch]) -> Iterator[SeatRow]:
    """Yield a row for each entry in each match."""
    for match in matches:
        for player, entry in enumerate(match.entries):
            yield SeatRow(
                match.id,
                match.key,
                match.number,
                match.seed,
                match.games,
                entry,
                match.identities[player],
                match.wins[player],
                match.shares[player],
                match.faults[player],
                match.failed,
                match.reason,
            )


def whole_matches(
    reader: StoreReader, contest: int
) -> Iterator[tuple[StoredMatch, list[PlayedGame], list[StoredMisplay]]]:
    """Yield the matches of a contest, each with its games and what went wrong in it."""
    matches = reader.matches(contest)
    while some := list(itertools.islice(matches, TOGETHER)):
        numbers = [match.id for match in some]
        games: dict[int, list[PlayedGame]] = {}
        for game in reader.games(numbers):
            games.setdefault(game.match, []).append(game)
        misplays: dict[int, list[StoredMisplay]] = {}
        for misplay in reader.misplays(numbers):
            misplays.setdefault(misplay.match, []).append(misplay)
        for match in some:
            yield match, games.get(match.id, []), misplays.get(match.id, [])


def _plain(match: StoredMatch, games: list[PlayedGame], misplays: list[StoredMisplay]) -> dict[str, Any]:
    def without_match(row: Any) -> dict[str, Any]:
        return {name: value for name, value in row._asdict().items() if name != "match"}

    return match._asdict() | {
        "played": [without_match(game) for game in games],
        "misplays": [without_match(misplay) for misplay in misplays],
    }


def _game_rows(reader: StoreReader, contest: int) -> Iterator[GameRow]:
    for match, games, _ in whole_matches(reader, contest):
        for game in games:
            for seat, player in enumerate(game.seats):
                actions = () if seat else game.actions
                yield GameRow(match.id, game.number, seat, match.entries[player], game.returns[player], actions)
