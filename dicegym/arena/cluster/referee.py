"""What runs on a node of a cluster: one referee in a process of Ray's, and what the node says of itself."""

from __future__ import annotations

import contextlib
import platform
import socket
import sys
import tempfile
from typing import Any, NamedTuple

from dicegym.arena.cluster.parcels import Unpacker, read, written
from dicegym.arena.cluster.reaper import reaper_of
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, DicegymError
from dicegym.sandbox import jail
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome, Sandbox

_LEVELS = (jail.Isolation.NONE, jail.Isolation.PROCESS, jail.Isolation.JAIL)


def strength(level: jail.Isolation) -> int:
    """Return a number that is larger the better untrusted programs are kept apart."""
    return _LEVELS.index(level)


class Stand(NamedTuple):
    """What a node is."""

    host: str
    python: str
    dicegym: str
    fingerprint: str
    """Of the game's rules."""
    level: jail.Isolation | None
    """How untrusted programs are kept apart; None: not as it was asked."""
    description: str
    """The same in words, or why it cannot be."""


def stand(game: Game, isolation: str) -> Stand:
    """Return what this machine is to a contest."""
    try:
        level, description = jail.chosen(isolation)
    except DependencyError as error:
        level, description = None, str(error)
    return Stand(
        socket.gethostname(),
        ".".join(platform.python_version_tuple()[:2]),
        str(vars(sys.modules["dicegym"])["__version__"]),  # the package itself, which stands above its parts
        game.fingerprint,
        level,
        description,
    )


def differences(node: Stand, here: Stand) -> str:
    """Return what is wrong with a node for a contest that is held at ``here``, in words; empty if nothing is."""
    if node.level is None:
        return f"{node.host}: {node.description}"
    for what in ("python", "dicegym", "fingerprint"):
        there, ours = getattr(node, what), getattr(here, what)
        if there != ours:
            word = {"python": "Python", "dicegym": "dicegym", "fingerprint": "rules with the fingerprint"}[what]
            return f"{node.host} has {word} {there}, and this machine {ours}: install the same everywhere"
    return ""


class NodeReferee:
    """Plays one job after the other; becomes an actor of Ray's.

    Args:
        game: the game of all jobs.
        limits: what each entry may use.
        isolation: how untrusted entries are kept apart.
        least: refuse to play where they are kept apart less well than so.
        here: what the machine is that holds the contest.
    """

    def __init__(self, game: Game, limits: Limits, isolation: str, least: jail.Isolation, here: Stand) -> None:
        self.refusal = ""
        self._sandbox: Sandbox | None = None
        found = stand(game, isolation)
        self.refusal = differences(found, here)
        if not self.refusal and found.level is not None and strength(found.level) < strength(least):
            self.refusal = f"{found.host} can keep bots apart by {found.description} alone, and the others by {least}"
        if self.refusal:
            return
        self._folder = tempfile.mkdtemp(prefix="dicegym-ray-")
        self._reaper = reaper_of(self._folder)
        tempfile.tempdir = self._folder  # this process serves nobody else
        self._unpacker = Unpacker(self._folder)
        self._sandbox = Sandbox(game, 1, limits, isolation).__enter__()

    def about(self) -> str:
        """Return why it cannot play; empty if it can."""
        return self.refusal

    def do(self, data: bytes, parcels: dict[str, list[Any]]) -> tuple[bytes, JobOutcome]:
        """Do a job; return it as it was done, empty if that is how it came, and its outcome.

        Args:
            data: the job, as `dicegym.arena.cluster.parcels.Packer` makes it.
            parcels: references to the parcels of its entries, each in a list, so that Ray fetches none unasked.
        """
        import ray

        if self._sandbox is None:
            raise DicegymError(self.refusal)
        for name, (reference,) in parcels.items():
            if self._unpacker.lacks(name):
                self._unpacker.take(name, ray.get(reference))
        job = read(data, self._unpacker.entry)
        ((done, outcome),) = self._sandbox.run([job])
        other = b"" if done is job else written(done, self._unpacker.ticket)
        return other, self._unpacker.as_told_there(outcome)

    def end(self) -> None:
        """End what it has started, before its process is ended."""
        if self._sandbox is not None:
            self._sandbox.__exit__()
            if self._reaper.stdin is not None:
                with contextlib.suppress(OSError):
                    self._reaper.stdin.close()
