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
from typing import Any

from dicegym.arena.executors import Executors
from dicegym.arena.ray_cluster import LOOK_EVERY, MOST_LOSSES, Cluster, check_address, connected, on_node, own_version
from dicegym.bots import files
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.sandbox import jail
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.readable import files_of
from dicegym.sandbox.sandbox import JobOutcome, Sandbox
from dicegym.shipped import shipped_folder

LARGEST, MOST_FILES = 128 << 20, 5_000
"""Bytes and number of all files of one bot, those it reads included."""


Bundle = tuple[Entry, dict[str, bytes | str]]
"""An entry, its file relative to the other agents if it ships with the package; and by their absolute paths what is in
the files that it is made of, or where a link leads."""


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
        found = files_of(game, origin, MOST_FILES + 1)
    for file in found:
        with contextlib.suppress(OSError, BadFileError):  # what cannot be read here cannot be read there
            size += file.stat().st_size
            contents[str(file)] = files.read(file, LARGEST) if size <= LARGEST else ""
    if size > LARGEST or len(found) > MOST_FILES:
        raise ParameterError(
            f"entry {entry.name!r} cannot be sent to a cluster: what it may read in {one_line(origin.file.parent)} is "
            f"more than {LARGEST >> 20} MiB or {MOST_FILES:,} files; keep there what the bot needs alone"
        )
    real = os.path.realpath(origin.file)
    if os.path.dirname(real) != os.path.realpath(origin.file.parent):  # a link, whose helpers are where it leads
        contents[real] = contents.pop(str(origin.file), b"")
        contents[str(origin.file)] = os.path.relpath(real, origin.file.parent)
    return entry._replace(origin=origin), contents


def unbundle(sent: Bundle, folder: Path) -> Entry:
    """Return an entry as it is on this machine, where its files are below ``folder`` by their old paths, read-only.

    Raises DependencyError if it is an agent that ships with the package, and another one here.
    """
    entry, contents = sent
    if not isinstance(entry.origin, Source):
        return entry
    for path, content in contents.items():
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() or target.is_symlink():
            continue  # entries may share files
        if isinstance(content, str):
            target.symlink_to(content)
        else:
            target.write_bytes(content)
            target.chmod(0o444)
    file = entry.origin.file
    here = folder / str(file).lstrip("/") if file.is_absolute() else shipped_folder("agents") / file
    there = entry._replace(origin=entry.origin._replace(file=here))
    if entry.seal and not file.is_absolute() and not there.trusted:
        raise DependencyError(f"agent {entry.name!r} is another one there: install the same dicegym everywhere")
    here.parent.mkdir(parents=True, exist_ok=True)
    return there


class _Referee:
    """What does the jobs of an executor in a process of Ray's, and the entries that have come to it.

    Args:
        folder: of the process.
        executor: name of the executor.
        fingerprint: of the rules that the game has where it was sent.
        limits: what each entry may use.
        level: how untrusted entries are kept apart.
    """

    present: _Referee | None = None
    """The last one, which the next executor's ends."""

    def __init__(
        self, folder: Path, executor: str, game: Game, fingerprint: str, limits: Limits, level: jail.Isolation
    ) -> None:
        if game.fingerprint != fingerprint:
            raise DependencyError(f"{game.name} has other rules there: install the same dicegym everywhere")
        if self.present is not None:
            self.present.sandbox.__exit__()
        self.executor, self.entries, self.folder = executor, dict[int, Entry](), folder / executor
        self.sandbox: Sandbox = Sandbox(game, 1, limits, level).__enter__()
        _Referee.present = self


def play(version: str, table: tuple[Any, ...], job: Any, bundles: dict[int, list[Any]]) -> tuple[Any, JobOutcome]:
    """Do a job on a node; return it as it was done, without its entries, and its outcome.

    Args:
        version: of dicegym where the job comes from.
        table: arguments of `_Referee` after its first.
        job: without its entries.
        bundles: by their numbers references to the bundles of its entries, in lists, so that Ray fetches none unasked.

    Raises DependencyError if the node lacks what the job needs.
    """
    import ray

    with on_node(version) as folder:
        referee = _Referee.present
        if referee is None or referee.executor != table[0]:
            referee = _Referee(folder, *table)
        for number in bundles.keys() - referee.entries.keys():
            referee.entries[number] = unbundle(ray.get(bundles[number][0]), referee.folder)
    entries = tuple(referee.entries[number] for number in bundles)
    ((done, outcome),) = referee.sandbox.run([replace(job, entries=entries)])
    text = json.dumps(outcome, ensure_ascii=False)
    if str(referee.folder) in text:  # a bot says where its files are: at home they are elsewhere
        plain = json.loads(text.replace(str(referee.folder), ""))
        outcome = Failure(*plain) if isinstance(outcome, Failure) else plain
    return replace(done, entries=()), outcome  # type: ignore[type-var]  # jobs are dataclasses


class RayExecutor:
    """Does jobs, which are dataclasses, on a Ray cluster; see `dicegym.arena.executors.Executor`.

    Args:
        game: the game of all jobs.
        limits: what each entry may use.
        isolation: how untrusted entries are kept apart; "auto" is the best that works on this machine.
        address, workers, told: as for `ray_cluster`.

    Raises:
        ParameterError, UnknownNameError: the address, number or isolation is invalid.
    """

    def __init__(
        self,
        game: Game,
        limits: Limits | None,
        isolation: str,
        address: str | None,
        workers: int | None,
        told: Callable[[str], None],
    ) -> None:
        self.limits = limits or Limits()
        try:
            self.isolation = jail.chosen(isolation)
        except DependencyError:  # nodes may have what this machine has not
            self.isolation = jail.Choice(jail.Isolation.JAIL, "jails of the cluster's nodes")
        self._workers = None if workers is None else whole_number("workers", workers, 1, 1 << 16, "the processors")
        self._table = secrets.token_hex(4), game, game.fingerprint, self.limits, self.isolation.level
        self._address, self._told = check_address(address), told
        self._open = contextlib.ExitStack()
        self._sent: dict[Entry, tuple[int, list[Any]]] = {}

    def __enter__(self) -> RayExecutor:
        """Connect. Raises as `dicegym.arena.ray_cluster.connected` does."""
        self._cluster = Cluster(self._open.enter_context(connected(self._address, self._workers)), self._told)
        self._play = self._cluster.ray.remote(max_retries=MOST_LOSSES - 1)(play)
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect, unless the caller was connected before; Ray then ends the referees."""
        self._sent.clear()
        self._open.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, as `dicegym.arena.executors.Executor.run` says.

        Raises:
            DicegymError: a node cannot do the jobs, there is no node, or the same job has lost `MOST_LOSSES` processes.
            ParameterError: an entry has too many files to be sent.
        """
        waiting, cluster = iter(jobs), self._cluster
        begun: dict[Any, Job] = {}
        try:
            while True:
                room = (self._workers or 2 * cluster.processors or 1) - len(begun)
                begun |= {self._start(job): job for job in itertools.islice(waiting, max(0, room))}
                if not begun:
                    return
                for reference in cluster.ray.wait(list(begun), num_returns=1, timeout=LOOK_EVERY)[0]:
                    job: Any = begun.pop(reference)
                    try:
                        done, outcome = cluster.result(reference)
                    except ConnectionError as error:
                        names = " - ".join(entry.name for entry in job.entries)
                        raise DicegymError(
                            f"gave up {type(job).__name__} of {names}: {MOST_LOSSES} processes were lost with it "
                            f"({error})"
                        ) from error
                    yield replace(done, entries=job.entries), outcome
                cluster.look()
        finally:
            for reference in begun:
                cluster.ray.cancel(reference, force=True)

    def _start(self, job: Any) -> Any:
        for entry in job.entries:
            if entry not in self._sent:
                self._sent[entry] = len(self._sent), [self._cluster.ray.put(bundle(job.game, entry))]
        bundles = dict(self._sent[entry] for entry in job.entries)
        return self._play.remote(own_version(), self._table, replace(job, entries=()), bundles)


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
    return lambda game, limits, isolation: RayExecutor(game, limits, isolation, address, workers, once)
