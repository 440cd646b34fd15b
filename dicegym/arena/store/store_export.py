"""Export a contest from a store as one JSON file, in little memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.files import writing

VERSION = 1
"""Version of the form of the JSON file: raised when a key goes or changes its meaning, not when one is added."""


def export_json(reader: StoreReader, contest: StoredContest, path: Path, ratings: Any = None) -> None:
    """Write a contest with its entries, standings, matches, games and faults to a file, a line for each match.

    ``ratings`` are plain values. Raises OSError as `open` does.
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
            played = [game._asdict() for game in games]
            more = {"played": played, "misplays": [_without("match", one) for one in misplays]}
            file.write(between + json.dumps(match._asdict() | more))
            between = ",\n"
        file.write("\n]\n}\n")


def _without(name: str, row: Any) -> dict[str, Any]:
    """Return a named tuple as a dict without one field."""
    return {key: value for key, value in row._asdict().items() if key != name}
