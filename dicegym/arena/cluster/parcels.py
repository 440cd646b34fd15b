"""Entries that travel: a job goes to another machine with its bots' files, and comes back with its outcome.

A job is sent as a pickle in which each entry stands as a `Ticket`. What a ticket cannot hold, files and players, goes
as a `Parcel`, once for each referee: it is named by the hash of what is in it. There its files lie as they lay beside
each other where they come from, read-only, in a folder named by that hash, and texts that name this folder are made to
name the original one. Agents that ship with the package are found there by their path among the others.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.bots import files
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.sandbox.jobs import Entry, Failure, Job, Sent, sealed
from dicegym.sandbox.readable import files_of
from dicegym.shipped import shipped_folder

LARGEST = 128 << 20
"""Bytes of all files of one bot, those it reads included."""
MOST_FILES = 5_000
"""Folders that no bot reads and that grow large."""


class Ticket(NamedTuple):
    """What stands for an entry in a job that travels."""

    fields: tuple[Any, ...]
    """The entry's own; its origin is None if a parcel holds it, and its file relative if it ships with the package."""
    parcel: str = ""
    """Name of the parcel; empty: there is none."""


class Parcel(NamedTuple):
    """What is needed of an entry where it plays."""

    origin: Any
    """Where it comes from: `Source` or the path of a model, its file relative to the parcel; else `Sent`."""
    texts: tuple[tuple[str, bytes], ...] = ()
    """Files, by their paths in the parcel."""
    links: tuple[tuple[str, str], ...] = ()
    """Links in the parcel, and where they lead, relative to their own folders."""
    base: str = ""
    """Folder that the files lay in."""

    @property
    def name(self) -> str:
        """The hash of what is in it."""
        return hashlib.sha256(pickle.dumps(tuple(self))).hexdigest()


def packed(game: Game, entry: Entry) -> tuple[Ticket, Parcel | None]:
    """Return an entry ready to travel.

    Raises:
        ParameterError: it has too many or too large files.
    """
    origin = entry.origin
    if isinstance(origin, Source) and entry.trusted:
        path = origin.file.resolve().relative_to(shipped_folder("agents").resolve())
        return _ticket(entry, origin._replace(file=path)), None
    if isinstance(origin, Source | Path):
        parcel = _parcel(game, entry, origin)
    elif isinstance(origin, Sent):
        parcel = Parcel(origin)
    else:
        return _ticket(entry, origin), None
    return _ticket(entry, None, parcel.name), parcel


def _ticket(entry: Entry, origin: Any, parcel: str = "") -> Ticket:
    return Ticket(tuple(entry._replace(origin=origin)), parcel)


def _parcel(game: Game, entry: Entry, origin: Source | Path) -> Parcel:
    file = Path(os.path.abspath(origin.file if isinstance(origin, Source) else origin))
    try:
        found = files_of(game, origin._replace(file=file), MOST_FILES + 1) if isinstance(origin, Source) else [file]
    except BadFileError:  # whoever loads it there finds the same
        found = []
    real = Path(os.path.realpath(file))
    elsewhere = real.parent != Path(os.path.realpath(file.parent))
    base = os.path.commonpath(
        [*(str(one.parent) for one in found), str(file.parent), *([str(real.parent)] * elsewhere)]
    )
    texts: dict[str, bytes] = {}
    size = 0
    for one in found:
        try:
            size += one.stat().st_size
            if size > LARGEST or len(texts) >= MOST_FILES:
                raise ParameterError(
                    f"entry {entry.name!r} cannot be sent to a cluster: what it may read in {one_line(file.parent)} is "
                    f"more than {LARGEST >> 20} MiB or {MOST_FILES:,} files; keep there what the bot needs alone"
                )
            texts[os.path.relpath(real if elsewhere and one == file else one, base)] = files.read(one, LARGEST)
        except (OSError, BadFileError):
            continue  # what cannot be read here cannot be read there
    path = Path(os.path.relpath(file, base))
    links = ((str(path), os.path.relpath(real, file.parent)),) if elsewhere and found else ()
    inside_origin = origin._replace(file=path) if isinstance(origin, Source) else path
    return Parcel(inside_origin, tuple(sorted(texts.items())), links, base)


class Packer:
    """Makes pickles of jobs, and jobs of what comes back.

    Args:
        game: of the jobs.
        store: puts a parcel where nodes find it, and returns what they are told of it.
    """

    def __init__(self, game: Game, store: Callable[[Parcel], Any]) -> None:
        self._game = game
        self._store = store
        self._tickets: dict[Entry, Ticket] = {}
        self._entries: dict[Ticket, Entry] = {}
        self._stored: dict[str, Any] = {}

    def pack(self, job: Job) -> tuple[bytes, dict[str, Any]]:
        """Return a job as a pickle, and by name what was stored of its entries' parcels. Raises ParameterError."""
        used: dict[str, Any] = {}

        def ticket(entry: Entry) -> Ticket:
            found = self._tickets.get(entry)
            if found is None:
                found, parcel = packed(self._game, entry)
                self._tickets[entry], self._entries[found] = found, entry
                if parcel is not None and found.parcel not in self._stored:
                    self._stored[found.parcel] = self._store(parcel)
            if found.parcel:
                used[found.parcel] = self._stored[found.parcel]
            return found

        return written(job, ticket), used

    def unpack(self, data: bytes) -> Job:
        """Return the job that a node has written with the tickets that it was sent."""
        return read(data, self._entries.__getitem__)


def written(job: Job, ticket: Callable[[Entry], Ticket]) -> bytes:
    """Return a job as a pickle in which tickets stand for its entries."""
    buffer = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: Any) -> Ticket | None:
            return ticket(thing) if type(thing) is Entry else None

    Pickler(buffer).dump(job)
    return buffer.getvalue()


def read(data: bytes, entry: Callable[[Ticket], Entry]) -> Job:
    """Return the job that `written` made a pickle of."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, ticket: Any) -> Entry:
            return entry(ticket)

    job: Job = Unpickler(io.BytesIO(data)).load()
    return job


class Unpacker:
    """Makes entries of tickets, on the node where they play.

    Args:
        folder: takes parcels; whoever made it removes it.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._parcels: dict[str, Any] = {}
        self._bases: dict[str, str] = {}
        self._tickets: dict[Entry, Ticket] = {}
        self._entries: dict[Ticket, Entry] = {}

    def lacks(self, parcel: str) -> bool:
        """Return whether a parcel of this name has not been unpacked."""
        return parcel not in self._parcels

    def take(self, name: str, parcel: Parcel) -> None:
        """Unpack a parcel."""
        origin = parcel.origin
        if not isinstance(origin, Sent):
            top = Path(self._folder, name)
            _unpack(parcel, top)
            self._bases[str(top)] = parcel.base
            origin = origin._replace(file=top / origin.file) if isinstance(origin, Source) else top / origin
        self._parcels[name] = origin

    def entry(self, ticket: Ticket) -> Entry:
        """Return the entry that a ticket stands for, as it is here; its parcel has been taken.

        Raises DicegymError if it is an agent that ships with the package, and another one here.
        """
        if ticket not in self._entries:
            entry = Entry(*ticket.fields)
            if ticket.parcel:
                entry = entry._replace(origin=self._parcels[ticket.parcel])
            elif isinstance(entry.origin, Source) and not entry.origin.file.is_absolute():
                entry = _shipped_here(entry, entry.origin)
            self._entries[ticket], self._tickets[entry] = entry, ticket
        return self._entries[ticket]

    def ticket(self, entry: Entry) -> Ticket:
        """Return the ticket that an entry came with."""
        return self._tickets[entry]

    def as_told_there(self, outcome: Any) -> Any:
        """Return an outcome whose texts name the folders where files lay, and not those where they were unpacked."""
        if isinstance(outcome, Failure):
            return outcome._replace(reason=self._renamed(outcome.reason))
        if self._folder not in json.dumps(outcome, ensure_ascii=False):  # quicker than to look at each of many numbers
            return outcome
        return self._renamed(outcome)

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str):
            for top, base in self._bases.items():
                value = value.replace(f"{top}/", f"{base.rstrip('/')}/").replace(top, base)
            return value
        if isinstance(value, dict):
            return {name: self._renamed(one) for name, one in value.items()}
        return [self._renamed(one) for one in value] if isinstance(value, list) else value


def _shipped_here(entry: Entry, source: Source) -> Entry:
    here = source._replace(file=shipped_folder("agents") / source.file)
    try:
        found = sealed(here)[0]
    except BadFileError as error:
        raise DicegymError(f"agent {entry.name!r} does not ship with the package here: {error}") from None
    if entry.seal and found != entry.seal:
        raise DicegymError(f"agent {entry.name!r} is another one here: install the same sources of dicegym everywhere")
    return entry._replace(origin=here)


def _unpack(parcel: Parcel, top: Path) -> None:
    top.mkdir()
    for path, data in parcel.texts:
        file = top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o444)
    for path, target in parcel.links:
        link = top / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    (top / str(parcel.origin.file if isinstance(parcel.origin, Source) else parcel.origin)).parent.mkdir(
        parents=True, exist_ok=True
    )
    for folder, _, _ in os.walk(top, topdown=False):
        os.chmod(folder, 0o555)
