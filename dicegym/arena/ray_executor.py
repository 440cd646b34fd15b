"""The executor of a Ray cluster: a match is a task of Ray's, done by a referee in a process of some node."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.executors import Executor, Executors
from dicegym.arena.ray_cluster import LOOK_EVERY, Cluster, Work, check_address, connected, node_folder
from dicegym.bots import files
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.sandbox import jail
from dicegym.sandbox.jobs import Entry, Failure, Job, sealed
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.readable import files_of
from dicegym.sandbox.sandbox import JobOutcome, Sandbox
from dicegym.shipped import shipped_folder

LARGEST, MOST_FILES = 128 << 20, 5_000
"""Bytes and number of all files of one bot, those it reads included."""


class EntryBundle(NamedTuple):
    """An entry with the files that it is made of."""

    entry: Entry
    """The path of an agent that ships with the package is relative to the other agents."""
    contents: dict[str, bytes | str]
    """Bytes of each file by its absolute path; of a link, where it leads."""


def bundle(game: Game, entry: Entry) -> EntryBundle:
    """Return an entry ready to travel. Raises ParameterError if its files are too many or too large."""
    origin = entry.origin
    if not isinstance(origin, Source):
        return EntryBundle(entry, {})
    if entry.trusted:
        path = origin.file.resolve().relative_to(shipped_folder("agents").resolve())
        return EntryBundle(entry._replace(origin=origin._replace(file=path)), {})
    origin = origin._replace(file=Path(os.path.abspath(origin.file)))
    contents: dict[str, bytes | str] = {}
    size = 0
    with contextlib.suppress(BadFileError):  # whoever loads it there finds the same
        for file in files_of(game, origin, MOST_FILES + 1):
            try:
                size += file.stat().st_size
                if size > LARGEST or len(contents) >= MOST_FILES:
                    raise ParameterError(
                        f"entry {entry.name!r} cannot be sent to a cluster: what it may read in "
                        f"{one_line(origin.file.parent)} is more than {LARGEST >> 20} MiB or {MOST_FILES:,} files; "
                        "keep there what the bot needs alone"
                    )
                contents[str(file)] = files.read(file, LARGEST)
            except OSError:
                continue  # what cannot be read here cannot be read there
    real = os.path.realpath(origin.file)
    if os.path.dirname(real) != os.path.realpath(origin.file.parent):  # a link, whose helpers are where it leads
        contents[real] = contents.pop(str(origin.file), b"")
        contents[str(origin.file)] = os.path.relpath(real, origin.file.parent)
    return EntryBundle(entry._replace(origin=origin), contents)


def unbundle(sent: EntryBundle, folder: Path) -> Entry:
    """Return an entry as it is on this machine, where its files are below ``folder`` by their old paths, read-only.

    Raises DependencyError if it is an agent that ships with the package, and another one here.
    """
    entry, origin = sent.entry, sent.entry.origin
    if not isinstance(origin, Source):
        return entry
    for path, content in sent.contents.items():
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.symlink_to(content)
        elif not target.exists():  # entries may share files
            target.write_bytes(content)
            target.chmod(0o444)
    if origin.file.is_absolute():
        here = origin._replace(file=folder / str(origin.file).lstrip("/"))
        here.file.parent.mkdir(parents=True, exist_ok=True)
        return entry._replace(origin=here)
    here = origin._replace(file=shipped_folder("agents") / origin.file)
    with contextlib.suppress(BadFileError):
        if not entry.seal or sealed(here)[0] == entry.seal:
            return entry._replace(origin=here)
    raise DependencyError(f"agent {entry.name!r} is another one there: install the same dicegym everywhere")


class _Table(NamedTuple):
    """What all jobs of an executor have in common."""

    executor: str
    game: Game
    fingerprint: str
    limits: Limits
    level: jail.Isolation


class _Referee:
    """What does an executor's jobs in a process of Ray's: a sandbox of one process, and the entries that have come."""

    present: _Referee | None = None

    def __init__(self, table: _Table) -> None:
        if table.game.fingerprint != table.fingerprint:
            raise DependencyError("the rules are others there: install the same dicegym everywhere")
        self.table, self.entries = table, dict[int, Entry]()
        self.folder = node_folder() / table.executor
        self.sandbox = Sandbox(table.game, 1, table.limits, table.level).__enter__()


def play(table: _Table, job: Any, numbers: tuple[int, ...], bundles: dict[int, list[Any]]) -> tuple[Any, JobOutcome]:
    """Do a job on a node; return it as it was done, without its entries, and its outcome.

    Args:
        table: what it has in common with others.
        job: without its entries.
        numbers: of its entries.
        bundles: references to their bundles, in lists, so that Ray fetches none unasked.
    """
    import ray

    referee = _Referee.present
    if referee is None or referee.table.executor != table.executor:
        if referee is not None:
            referee.sandbox.__exit__()
        referee = _Referee.present = _Referee(table)
    for number in numbers:
        if number not in referee.entries:
            referee.entries[number] = unbundle(ray.get(bundles[number][0]), referee.folder)
    ((done, outcome),) = referee.sandbox.run([replace(job, entries=tuple(map(referee.entries.__getitem__, numbers)))])
    text = json.dumps(outcome, ensure_ascii=False)
    if str(referee.folder) in text:  # a bot has said where its files are: at home they are elsewhere
        plain = json.loads(text.replace(str(referee.folder), ""))
        outcome = Failure(*plain) if isinstance(outcome, Failure) else plain
    return replace(done, entries=()), outcome  # type: ignore[type-var]  # jobs are dataclasses


class RayExecutor:
    """Does jobs on a Ray cluster; see `dicegym.arena.executors.Executor`. Jobs are dataclasses.

    Args:
        game: the game of all jobs.
        limits: what each entry may use.
        isolation: how untrusted entries are kept apart; "auto" is the best that works on this machine. Nodes that
            cannot do it are left out.
        address: as for `dicegym.arena.ray_cluster.connected`.
        workers: how many jobs are done at a time; default: as many as the cluster has processors.
        told: called with a line that says where jobs are done, and with one for each node that is lost.

    Raises:
        ParameterError, UnknownNameError: there is no such address, number or isolation.
    """

    def __init__(
        self,
        game: Game,
        limits: Limits | None = None,
        isolation: str = jail.Isolation.AUTO,
        address: str | None = None,
        workers: int | None = None,
        told: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.limits = limits or Limits()
        try:
            self.isolation = jail.chosen(isolation)
        except DependencyError:  # nodes may have what this machine has not
            self.isolation = jail.Choice(jail.Isolation.JAIL, "jails of the cluster's nodes")
        self._workers = None if workers is None else whole_number("workers", workers, 1, 1 << 16, "the processors")
        self._table = _Table(secrets.token_hex(4), game, game.fingerprint, self.limits, self.isolation.level)
        self._address, self._told = check_address(address), told
        self._open = contextlib.ExitStack()
        self._sent: dict[Entry, tuple[int, list[Any]]] = {}

    def __enter__(self) -> RayExecutor:
        """Connect. Raises as `dicegym.arena.ray_cluster.connected` does."""
        self._cluster = Cluster(self._open.enter_context(connected(self._address, self._workers)), self._told)
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect, unless the caller was connected before; Ray then ends the referees."""
        self._sent.clear()
        self._open.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, as `dicegym.arena.executors.Executor.run` says.

        Raises:
            DicegymError: no node can be used, or several were lost with the same job.
            ParameterError: an entry has too many files to be sent.
        """
        waiting, cluster = iter(jobs), self._cluster
        begun: dict[Any, tuple[Job, Work]] = {}
        try:
            while True:
                room = (self._workers or 2 * cluster.processors or 1) - len(begun)
                for job in itertools.islice(waiting, max(0, room)):
                    work = self._work(job)
                    begun[cluster.start(work)] = job, work
                if not begun:
                    return
                for reference in cluster.ray.wait(list(begun), num_returns=1, timeout=LOOK_EVERY)[0]:
                    job, work = begun.pop(reference)
                    done, answer = self._result(reference, job)
                    if done:
                        yield replace(answer[0], entries=job.entries), answer[1]
                    else:
                        begun[cluster.start(work)] = job, work
                cluster.look()
        finally:
            for reference in begun:
                cluster.ray.cancel(reference, force=True)

    def _work(self, job: Any) -> Work:
        for entry in job.entries:
            if entry not in self._sent:
                self._sent[entry] = len(self._sent), [self._cluster.ray.put(bundle(job.game, entry))]
        sent = [self._sent[entry] for entry in job.entries]
        arguments = self._table, replace(job, entries=()), tuple(number for number, _ in sent)
        return Work(play, arguments, dict(sent))

    def _result(self, reference: Any, job: Job) -> tuple[bool, Any]:
        try:
            return self._cluster.result(reference)
        except DicegymError as error:
            names = " - ".join(entry.name for entry in job.entries)
            raise DicegymError(f"{type(job).__name__} of {names} is given up: {error}") from error


def ray_cluster(
    address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Executors:
    """Return what makes executors of a Ray cluster. Nothing is connected to before the first of them is entered.

    Args:
        address: as for `dicegym.arena.ray_cluster.connected`.
        workers: how many jobs are done at a time; default: as many as the cluster has processors.
        told: called with a line that says where jobs are done, and with one for each node that is lost.

    Raises:
        ParameterError: the address is invalid.
    """
    check_address(address)
    once = functools.cache(told)  # a contest may need several executors of the same cluster

    def make(game: Game, limits: Limits | None, isolation: str) -> Executor:
        return RayExecutor(game, limits, isolation, address, workers, once)

    return make
