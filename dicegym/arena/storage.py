"""Whether and where a contest is kept, and as which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.work_keys import digest, rules_of, write_limits
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.limits import Limits

DEFAULT = "dicegym-arena.sqlite"
"""File in which the command line keeps contests, in the user's data folder."""
NONE = "none"
"""What ``--store`` takes where nothing is to be stored."""
VARIABLE = "DICEGYM_STORE"
"""Environment variable that names another."""


class Storage(NamedTuple):
    """Where a contest is kept, and as which."""

    where: str | os.PathLike[str]
    """Path of a SQLite file, made if it is missing, or the URL of a PostgreSQL database."""
    label: str = ""
    """Tells contests apart that have the same settings."""


class Settings(NamedTuple):
    """What makes a contest the same one when it is run again, together with its seed: not its entries."""

    game: Game
    format: str
    options: dict[str, Any]
    """Plain values."""
    limits: Limits
    label: str = ""
    """Tells contests apart that are alike otherwise."""

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        return digest([rules_of(self.game), self.format, self.options, write_limits(self.limits), self.label])


class Stored(NamedTuple):
    """Where a result is kept, and how much of it was there before."""

    store: str
    contest: int
    """Number of the contest in the store."""
    found: int
    """Checks and matches that did not have to be done, as their outcomes were there."""
    played: int
    """Those that were done and stored."""
    run: int
    """How many times the contest has been begun or continued."""
    entered: int
    """Entries that had no part in it before."""
    left: int
    """Entries that had, and have no longer."""

    def __str__(self) -> str:
        """Return it in words."""
        changed = [f"{self.entered} entered"] if self.entered and self.run > 1 else []
        changed += [f"{self.left} left"] if self.left else []
        more = f" ({', '.join(changed)})" if changed else ""
        work = f"{self.played} played and {self.found} found of checks and matches"
        return f"contest {self.contest} of {self.store}: {work}{more}"


def default_store() -> str:
    """Return where the command line keeps contests by default; the folder need not be there."""
    if named := os.environ.get(VARIABLE):
        return named
    from platformdirs import user_data_path  # 10 ms that others save

    return str(user_data_path("dicegym", appauthor=False) / DEFAULT)


def make_default_folder(path: Path) -> None:
    """Make the folder of the default store, if ``path`` is that: a folder that somebody names has to be there."""
    if str(path) == default_store() and not os.environ.get(VARIABLE):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def refuse_folder(path: Path) -> None:
    """Raise ParameterError if a store is to be a folder; SQLite would only say that it cannot open it."""
    if os.path.isdir(path):
        raise ParameterError(f"{path} is a folder: name a file in it, such as {path / DEFAULT}")


def resolve_store(store: str | None) -> str:
    """Return the store that is named on the command line; None: the default one. Raises ParameterError for "none"."""
    if store == NONE:
        raise ParameterError("--store none stores nothing, and a store is needed here: name a file, or leave it out")
    return default_store() if store is None else store


def extra_of(where: str | os.PathLike[str]) -> str:
    """Return the extra that installs what a store needs; that of PostgreSQL brings its driver too."""
    return "postgres" if str(where).startswith("postgres") else "arena"
