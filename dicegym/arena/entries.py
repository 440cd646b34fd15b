"""The participants of a contest: entries as they are named, found and disqualified."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.provenance import EntryRecord, record_of
from dicegym.arena.submissions import KINDS, Submission, is_folder_of_submissions, names_for, read_folder
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, UnknownNameError, one_line
from dicegym.players.roster import PLACEHOLDERS, Origin, Spec, agent_name, agent_names, resolve
from dicegym.sandbox.jobs import Entry, Seal, entry

AgentSpec = Spec | Any
"""Names an agent, as for `dicegym.agent`: a model in memory, which has no type of ours, is one too."""


@dataclass(frozen=True)
class Disqualified:
    """An entry that was disqualified.

    Attributes:
        name: the entry.
        reason: why, in one line.
    """

    name: str
    reason: str


class Named(NamedTuple):
    """An agent under a name of its own, in a list of entries.

    Example:
        >>> from dicegym.contest import Named, contest
        >>> entries = [Named("five", "always_roll(5)"), Named("six", "always_roll(6)")]
        >>> sorted(row.name for row in contest("hog", entries, seed=1, workers=1, games=3).standings)
        ['five', 'six']
    """

    name: str
    spec: AgentSpec


class Field(NamedTuple):
    """All that was entered for a contest."""

    entries: list[Entry]
    """Those that can be tried."""
    broken: list[Disqualified]
    """Those that cannot: models that do not fit, folders without a bot."""
    records: tuple[EntryRecord, ...]
    """What each of both is, by name."""
    remarks: tuple[str, ...]
    """What the organiser of the contest should know of them."""


def entries_of(game: Game, given: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec]) -> Field:
    """Return the entries, sorted by name; ``given`` as for `dicegym.arena.contest`.

    Raises:
        ParameterError: two entries have one name, a folder holds no entry, or a Player cannot be sent to another
            process.
        UnknownNameError: there is no such agent or file.
    """
    specs, empty, remarks = _named(game, given)
    entries: list[Entry] = []
    broken = [Disqualified(name, one.problem) for name, one in empty.items()]
    records = [EntryRecord(name, str(one.path), "missing", {}) for name, one in empty.items()]
    origins: dict[str, Origin] = {}
    for name, spec in specs.items():
        try:
            origins[name] = resolve(game, spec)
        except AgentError as error:
            raise UnknownNameError(f"{error.reason}{_guess(game, str(spec))}") from None
    bots = [os.path.realpath(origin.file) for origin in origins.values() if isinstance(origin, Source)]
    others = {*bots, *map(os.path.dirname, bots)}
    for name, spec in sorted(specs.items()):
        seal: Seal = ()
        trusted = False
        try:
            entries.append(entry(game, name, spec, others))
            seal, trusted = entries[-1].seal, entries[-1].trusted
        except AgentError as error:
            broken.append(Disqualified(name, error.reason))
        records.append(replace(record_of(name, spec, origins[name], seal), beside_referee=trusted))
    records.sort(key=lambda record: record.name)
    same: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        if record.files:
            same.setdefault(tuple(record.files.values()), []).append(record.name)
    remarks += [f"the same file: {', '.join(names)}" for names in same.values() if len(names) > 1]
    return Field(entries, broken, tuple(records), tuple(remarks))


def _named(
    game: Game, given: Mapping[str, AgentSpec] | AgentSpec | Iterable[AgentSpec]
) -> tuple[dict[str, AgentSpec], dict[str, Submission], list[str]]:
    """Return the entries by name, the submissions without a bot, and what there is to say of folders."""
    if isinstance(given, Mapping):
        return _without_doubles((one_line(name), spec) for name, spec in given.items()), {}, []
    if isinstance(given, str | Named) or not isinstance(given, Iterable):  # an agent alone, whatever kind of one
        given = [given]
    plain, submitted, remarks = [], list[Submission](), []
    for spec in given:
        if isinstance(spec, Named):
            plain.append((one_line(spec.name), spec.spec))
        elif is_folder_of_submissions(game, spec):
            folder = read_folder(game, spec)  # type: ignore[arg-type]  # it is a path, then
            submitted += folder.submissions
            if folder.left_out:
                remarks.append(f"no entries in {spec}: {', '.join(folder.left_out)}")
        else:
            plain.append((one_line(agent_name(game, spec)), spec))
    counts = Counter(name for name, _ in plain)
    for number, (name, spec) in enumerate(plain):
        if counts[name] > 1 and isinstance(spec, str | os.PathLike) and Path(spec).stem in PLACEHOLDERS:
            plain[number] = f"{name}/{Path(spec).name}", spec  # it shares its folder's name with another one
    specs, empty = _without_doubles(plain), {}
    for raw_name, one in zip(names_for(submitted, specs), submitted, strict=True):
        name = one_line(raw_name)
        if one.problem:
            empty[name] = one
        else:
            specs[name] = one.path
    return specs, empty, remarks


def _without_doubles(named: Iterable[tuple[str, AgentSpec]]) -> dict[str, AgentSpec]:
    specs: dict[str, AgentSpec] = {}
    for name, spec in named:
        if name in specs:
            raise ParameterError(
                f"two entries are called {name!r}: {specs[name]} and {spec}. Results are kept by name: rename one, "
                "or name them yourself: {'name': 'path', ...}, name=path on the command line"
            )
        specs[name] = spec
    return specs


def _guess(game: Game, text: str) -> str:
    """Return what may be meant by a path that does not exist, as the rest of a sentence."""
    path = Path(os.path.expanduser(text.partition(":")[0]))
    if not os.path.isdir(path.parent):
        return f", as there is no folder {path.parent}"
    beside = sorted(one.name for one in path.parent.iterdir() if one.suffix in KINDS or one.is_dir())
    names = difflib.get_close_matches(path.name, beside, n=3, cutoff=0.6)
    guesses = [str(path.with_name(name)) for name in names]
    guesses += [name for name in agent_names(game) if name in (path.stem, text)]
    return f". Did you mean {' or '.join(map(repr, guesses[:3]))}?" if guesses else ""
