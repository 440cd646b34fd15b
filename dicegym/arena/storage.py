"""Where contests are stored, and what identifies contests and jobs there.

The key of a job digests everything that determines its outcome. So a stored outcome is used again in any contest,
whatever machine played it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.limits import Limits

DEFAULT = "dicegym-arena.sqlite"
"""File in which the command line stores contests, in the user's data folder."""
NONE = "none"
"""Value of ``--store`` that stores nothing."""
VARIABLE = "DICEGYM_STORE"
"""Environment variable that names another default store."""
VERSION = 2
"""Version of the digested values and of how games follow from them: raised when either changes."""


class Storage(NamedTuple):
    """Where a contest is stored, and under which label."""

    where: str | os.PathLike[str]
    """Path of a SQLite file, made if it is missing, or the URL of a PostgreSQL database."""
    label: str = ""
    """Tells contests with the same settings apart."""


class Settings(NamedTuple):
    """What identifies a contest when it is run again, together with its seed: everything but its entries."""

    game: Game
    format: str
    options: dict[str, Any]
    """Plain values."""
    limits: Limits
    label: str = ""
    """As of `Storage`."""

    @property
    def digest(self) -> str:
        """A digest of all fields."""
        return _digest([rules_of(self.game), self.format, self.options, write_limits(self.limits), self.label])


class Stored(NamedTuple):
    """Where a result is stored, and how much of it was there before."""

    store: str
    contest: int
    """Number of the contest in the store."""
    found: int
    """Checks and matches whose outcomes were there."""
    played: int
    """Checks and matches done and stored now."""
    run: int
    """How many times the contest has been begun or continued."""
    entered: int
    """Entries that are new since the run before."""
    left: int
    """Entries that are gone since the run before."""
    changed: tuple[str, ...]
    """Names of entries that differ from the run before: in a bot's modules or data files, a model, a player."""

    def __str__(self) -> str:
        """Return it as text."""
        news = [f"{self.entered} entered"] if self.entered and self.run > 1 else []
        news += [f"{self.left} left"] if self.left else []
        news += [f"changed since the run before: {', '.join(self.changed)}"] if self.changed else []
        more = f" ({'; '.join(news)})" if news else ""
        work = f"{self.played} checks and matches done now, {self.found} found in the store"
        return f"contest {self.contest} of {self.store}: {work}{more}"


def key_of(job: Job, limits: Limits) -> str:
    """Return the key of ``job``: SHA-256, hexadecimal.

    It depends on the game's name, seats, parameters and fingerprint, on the entries' names and contents in their
    order, on the limits, and on the job's own `facts`; not on the isolation or the machine.
    """
    who = [[entry.name, entry.identity] for entry in job.entries]
    return _digest([VERSION, rules_of(job.game), write_limits(limits), who, job.facts])


def _digest(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@functools.cache
def rules_of(game: Game) -> tuple[str, int, dict[str, int], str]:
    """Return what identifies the rules of a game: its name, players, parameters and fingerprint."""
    return game.name, game.players, dict(game.parameters), game.fingerprint


@functools.cache
def write_limits(limits: Limits) -> dict[str, float | None]:
    """Return limits for JSON: an infinite time is None. Cached, as contests need it for each match."""
    return {name: None if value == math.inf else value for name, value in asdict(limits).items()}


def default_store() -> str:
    """Return the default store of the command line; its folder may not exist."""
    if named := os.environ.get(VARIABLE):
        return named
    from platformdirs import user_data_path  # here, as it takes 10 ms

    return str(user_data_path("dicegym", appauthor=False) / DEFAULT)


def make_default_folder(path: Path) -> None:
    """Make the folder of ``path`` if that is the default store; the folder of a named store must exist."""
    if str(path) == default_store() and not os.environ.get(VARIABLE):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def refuse_folder(path: Path) -> None:
    """Raise ParameterError if a store is a folder; SQLite's own message does not say so."""
    if os.path.isdir(path):
        raise ParameterError(f"{path} is a folder: name a file in it, such as {path / DEFAULT}")


def resolve_store(store: str | None) -> str:
    """Return the store named on the command line; None: the default one. Raises ParameterError for "none"."""
    if store == NONE:
        raise ParameterError("--store none stores nothing, and a store is needed here: name a file, or leave it out")
    return default_store() if store is None else store


def extra_of(where: str | os.PathLike[str]) -> str:
    """Return the extra with the libraries of a store; that of PostgreSQL includes its driver."""
    return "postgres" if str(where).startswith("postgres") else "arena"
