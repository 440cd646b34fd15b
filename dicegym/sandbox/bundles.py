"""Entries that are sent to another machine, with the files that a bot may read."""

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
from dicegym.sandbox.jobs import MOST_DATA, Entry, Failure
from dicegym.sandbox.readable import files_of
from dicegym.sandbox.sandbox import JobOutcome
from dicegym.shipped import shipped_folder

LARGEST_BUNDLE = 128 << 20
"""Bytes of an entry's files."""
Bundle = tuple[Entry, dict[str, bytes | str]]
"""An entry, and its files: absolute path -> bytes, or the target of a link. The file of an agent that ships with the
package is relative to the folder of agents."""


def bundle(game: Game, entry: Entry) -> Bundle:
    """Return an entry ready to be sent. Raises ParameterError if its files are too many or too large."""
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
    with contextlib.suppress(BadFileError):  # loading it there will raise the same error
        found = files_of(game, origin, MOST_DATA + 1)
    for file in found:
        with contextlib.suppress(OSError, BadFileError):  # what cannot be read here cannot be read there
            size += file.stat().st_size
            contents[str(file)] = bot_files.read(file, LARGEST_BUNDLE) if size <= LARGEST_BUNDLE else ""
    if size > LARGEST_BUNDLE or len(found) > MOST_DATA:
        raise ParameterError(
            f"entry {entry.name!r} cannot be sent to a cluster: the files that it may read in "
            f"{one_line(origin.file.parent)} are more than {LARGEST_BUNDLE >> 20} MiB or {MOST_DATA:,} files; keep "
            "only the bot's own files there"
        )
    real = os.path.realpath(origin.file)
    if os.path.dirname(real) != os.path.realpath(origin.file.parent):  # a link: the helpers are beside its target
        contents[real] = contents.pop(str(origin.file), b"")
        contents[str(origin.file)] = os.path.relpath(real, origin.file.parent)
    return entry._replace(origin=origin), contents


def unbundle(sent: Bundle, folder: Path) -> Entry:
    """Write a received entry's files below ``folder``, under their old paths; return the entry for this machine.

    Raises DependencyError if it is an agent of the package that differs on this machine.
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
        raise DependencyError(f"agent {entry.name!r} differs on another machine: install the same dicegym everywhere")
    return there


def with_home_paths(outcome: JobOutcome, folder: Path) -> JobOutcome:
    """Return an outcome in which paths below ``folder`` are replaced by those on the sending machine."""
    text = json.dumps(outcome, ensure_ascii=False)
    if str(folder) not in text:
        return outcome
    plain = json.loads(re.sub(f"{re.escape(str(folder))}/[0-9a-f]+", "", text))
    return Failure(*plain) if isinstance(outcome, Failure) else plain
