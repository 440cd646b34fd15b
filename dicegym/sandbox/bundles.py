"""Entries that travel to another machine, with the files that a bot may read."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path

from dicegym.bots import bot_files
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ParameterError, one_line
from dicegym.sandbox.jobs import LARGEST_DATA, MOST_DATA, Entry, Failure
from dicegym.sandbox.readable import files_of
from dicegym.sandbox.sandbox import JobOutcome
from dicegym.shipped import shipped_folder

Bundle = tuple[Entry, dict[str, bytes | str]]
"""An entry, with the file of an agent that ships relative to all others; and its files by their absolute paths: their
bytes, or where a link leads."""


def bundle(game: Game, entry: Entry) -> Bundle:
    """Return an entry ready to travel. Raises ParameterError if its files are too many or too large."""
    origin = entry.origin
    if not isinstance(origin, Source):
        return entry, {}
    if entry.trusted:
        path = origin.file.resolve().relative_to(shipped_folder("agents").resolve())
        return entry._replace(origin=origin._replace(file=path)), {}
    origin = origin._replace(file=Path(os.path.abspath(origin.file)))
    contents: dict[str, bytes | str] = {}
    found: list[Path] = []
    size = 0
    with contextlib.suppress(BadFileError):  # loading it there fails in the same way
        found = files_of(game, origin, MOST_DATA + 1)
    for file in found:
        with contextlib.suppress(OSError, BadFileError):  # what cannot be read here cannot be read there
            size += file.stat().st_size
            contents[str(file)] = bot_files.read(file, LARGEST_DATA) if size <= LARGEST_DATA else ""
    if size > LARGEST_DATA or len(found) > MOST_DATA:
        raise ParameterError(
            f"entry {entry.name!r} cannot be sent to a cluster: what it may read in {one_line(origin.file.parent)} is "
            f"more than {LARGEST_DATA >> 20} MiB or {MOST_DATA:,} files; keep only the bot's own files there"
        )
    real = os.path.realpath(origin.file)
    if os.path.dirname(real) != os.path.realpath(origin.file.parent):  # a link, whose helpers are where it leads
        contents[real] = contents.pop(str(origin.file), b"")
        contents[str(origin.file)] = os.path.relpath(real, origin.file.parent)
    return entry._replace(origin=origin), contents


def unbundle(sent: Bundle, folder: Path) -> Entry:
    """Return an entry as it is on this machine, where its files are below ``folder`` by their old paths.

    Raises DependencyError if it is an agent that ships with the package, and another one here.
    """
    entry, contents = sent
    if not isinstance(entry.origin, Source):
        return entry
    for path, content in contents.items():
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(content) if isinstance(content, str) else target.write_bytes(content)
    file = entry.origin.file
    here = folder / str(file).lstrip("/") if file.is_absolute() else shipped_folder("agents") / file
    there = entry._replace(origin=entry.origin._replace(file=here))
    if entry.seal and not file.is_absolute() and not there.trusted:
        raise DependencyError(f"agent {entry.name!r} is another one there: install the same dicegym everywhere")
    return there


def with_home_paths(outcome: JobOutcome, folder: Path) -> JobOutcome:
    """Return an outcome in which a bot says where its files are at home, and not in a folder below ``folder``."""
    text = json.dumps(outcome, ensure_ascii=False)
    if str(folder) not in text:
        return outcome
    plain = json.loads(re.sub(f"{re.escape(str(folder))}/[0-9a-f]+", "", text))
    return Failure(*plain) if isinstance(outcome, Failure) else plain
