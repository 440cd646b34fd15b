"""The participants of a contest: how entries are named, found and recorded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.provenance import EntryRecord
from dicegym.arena.submissions import Submission, is_folder_of_submissions, names_for, read_folder
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, UnknownNameError, one_line
from dicegym.players.roster import Origin, Spec, agent_name, resolve
from dicegym.sandbox.jobs import Entry, digest_of, entry, seal_files

AgentSpec = Spec | Any
"""Names an agent, as for `dicegym.agent`; also a model in memory, which has no type here."""


@dataclass(frozen=True)
class Disqualified:
    """A disqualified entry.

    Attributes:
        name: the entry.
        reason: the reason, in one line.
    """

    name: str
    reason: str


class Named(NamedTuple):
    """An agent with a name, for a list of entries.

    Example:
        >>> from dicegym.contest import Named, contest
        >>> entries = [Named("five", "always_roll(5)"), Named("six", "always_roll(6)")]
        >>> sorted(row.name for row in contest("hog", entries, seed=1, workers=1, games=3).standings)
        ['five', 'six']
    """

    name: str
    spec: AgentSpec


class Field(NamedTuple):
    """Everything that was entered for a contest."""

    entries: list[Entry]
    """Those that can be checked."""
    broken: list[Disqualified]
    """Those that cannot: models that do not fit, folders without a bot."""
    records: tuple[EntryRecord, ...]
    """A record of each of both, by name."""
    remarks: tuple[str, ...]
    """Remarks for the organiser of the contest."""


def entries_of(game: Game, given: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec]) -> Field:
    """Return the entries, sorted by name; ``given`` as for `dicegym.arena.contest`.

    Raises:
        ParameterError: two entries have one name, a folder holds no entry, or a Player cannot be sent to another
            process.
        UnknownNameError: an agent or file does not exist.
    """
    specs, submitted, remarks = _named(game, given)
    empty = {name: one for name, one in submitted.items() if one.problem}
    entries: list[Entry] = []
    broken = [Disqualified(name, one.problem) for name, one in empty.items()]
    records = [EntryRecord(name, str(one.path), "missing", {}) for name, one in empty.items()]
    origins: dict[str, Origin] = {}
    for name, spec in specs.items():
        try:
            origins[name] = resolve(game, spec)
        except AgentError as error:
            raise UnknownNameError(error.reason) from None
    files = [origin.file for origin in origins.values() if isinstance(origin, Source)]
    bots = [os.path.realpath(file) for file in files]
    models = [os.path.realpath(origin) for origin in origins.values() if isinstance(origin, Path)]
    folders = (os.path.realpath(file.parent) for file in files)  # differ from those of ``bots`` if the file is a link
    whole = (os.path.realpath(one.whole) for one in submitted.values())
    others = sorted({*bots, *map(os.path.dirname, bots), *folders, *models, *whole})
    for name, spec in sorted(specs.items()):
        made = None
        try:
            entries.append(made := entry(game, name, spec, others))
        except AgentError as error:
            broken.append(Disqualified(name, error.reason))
        records.append(_record(name, spec, origins[name], made))
    records.sort(key=lambda record: record.name)
    same: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        if record.files:
            same.setdefault(tuple(record.files.values()), []).append(record.name)
    remarks += [f"the same file: {', '.join(names)}" for names in same.values() if len(names) > 1]
    return Field(entries, broken, tuple(records), tuple(remarks))


def _record(name: str, given: object, origin: Origin, made: Entry | None) -> EntryRecord:
    """Return the record of an entry; ``made`` is None if it cannot be made, and its files are read here."""
    trusted = made is not None and made.trusted
    if isinstance(origin, Source):
        seal = made.seal if made else ()
        with contextlib.suppress(BadFileError):  # loading it reports that
            seal = seal or seal_files(origin)[0]
        return EntryRecord(name, str(given), "bot", dict(seal), trusted)
    if isinstance(origin, Path):
        return EntryRecord(name, str(given), "model", {origin.name: digest_of(origin)}, trusted)
    named = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
    return EntryRecord(name, named, "player", {}, trusted)


def _named(
    game: Game, given: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec]
) -> tuple[dict[str, AgentSpec], dict[str, Submission], list[str]]:
    """Return the entries by name, the submissions by name, also those without a bot, and remarks on folders."""
    if isinstance(given, Mapping):
        given = [Named(name, spec) for name, spec in given.items()]
    elif isinstance(given, str | Named) or not isinstance(given, Iterable):  # a single agent
        given = [given]
    plain, submitted, remarks = [], list[Submission](), []
    for spec in given:
        if isinstance(spec, Named):
            plain.append((one_line(spec.name), spec.spec))
        elif is_folder_of_submissions(game, spec):
            folder = read_folder(game, spec)  # type: ignore[arg-type]  # a path
            submitted += folder.submissions
            if folder.left_out:
                remarks.append(f"no entries in {spec}: {', '.join(folder.left_out)}")
        else:
            plain.append((one_line(agent_name(game, spec)), spec))
    specs, named = dict[str, AgentSpec](), {}
    for name, spec in plain:
        if name in specs:
            raise ParameterError(
                f"two entries are called {name!r}: {specs[name]} and {spec}. Results are kept by name: rename one, "
                "or name them yourself: {'name': 'path', ...}, name=path on the command line"
            )
        specs[name] = spec
    for name, one in zip(names_for(submitted, specs), submitted, strict=True):
        named[name] = one
        if not one.problem:
            specs[name] = one.path
    return specs, named, remarks
