"""What can be wrong with a file of results, in words: what is the matter, whether it may pass, and the way out."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DamagedFileError, ParameterError, one_line

DATABASE = "--database"
"""What names the file of a server on the command line."""
STORE = "--store"
"""What names a store of contests there."""
ANOTHER = "give another OPTION"
"""The way out for whatever file."""
ELSEWHERE = f"give another {DATABASE}"
"""The way out for the file of a server."""
MOST_SAID = 100
"""Letters of what SQLite says, which may quote a damaged file at length."""


class Trouble(NamedTuple):
    """Why SQLite cannot do something with a file."""

    reason: str
    """Completes "FILE ..."."""
    instead: str
    """What to do about it, with FILE and OPTION for what they are: see `way_out`."""
    passes: bool
    """Whether it may be over in a while, without anybody's touching the file."""

    def way_out(self, path: Path, option: str = DATABASE) -> str:
        """Return what to do about it, for the file at ``path``, which ``option`` names on the command line."""
        return self.instead.replace("OPTION", option).replace("FILE", str(path))


class BusyError(ParameterError):
    """Another program has locked a file of results, for now."""


DAMAGED = Trouble(
    "is damaged",
    "nothing in it was changed; put a backup in its place, or get out what can be read by "
    "`sqlite3 FILE .recover | sqlite3 saved.sqlite` and go on with OPTION saved.sqlite",
    False,
)
_LOCKED = "is locked by another program"
_FULL = "make room on its disk, or " + ANOTHER
_TROUBLES = {
    sqlite3.SQLITE_BUSY: Trouble(_LOCKED, "wait until that (a backup?) has ended, or end it", True),
    sqlite3.SQLITE_LOCKED: Trouble(_LOCKED, "wait until that (a backup?) has ended, or end it", True),
    sqlite3.SQLITE_FULL: Trouble("cannot be written, as the disk is full", _FULL, True),
    sqlite3.SQLITE_IOERR: Trouble("cannot be read or written, by an error of its disk or a limit of size", _FULL, True),
    sqlite3.SQLITE_NOMEM: Trouble("cannot be read for want of memory", "end other programs", True),
    sqlite3.SQLITE_READONLY: Trouble(
        "cannot be written", f"make it and its folder writable for you, or {ANOTHER}", True
    ),
    sqlite3.SQLITE_CANTOPEN: Trouble(
        "cannot be opened", f"see that its folder is there and that you may write in it, or {ANOTHER}", True
    ),
    sqlite3.SQLITE_PERM: Trouble("cannot be opened", f"see that you may read and write it, or {ANOTHER}", True),
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: Trouble(
        "is not a database, or its beginning is damaged",
        f"nothing in it was changed; if it held results, put a backup in its place; else {ANOTHER}",
        False,
    ),
}


def trouble_of(error: BaseException) -> Trouble | None:
    """Return what an error of SQLite, as it comes from SQLAlchemy or not, says of the file; None if it is no such."""
    raised = getattr(error, "orig", None) or error
    if not isinstance(raised, sqlite3.Error):
        return None
    code = getattr(raised, "sqlite_errorcode", None)  # with more about it in its upper bytes
    found = None if code is None else _TROUBLES.get(code & 0xFF)
    if found is not None:
        return found._replace(reason=f"{found.reason} ({one_line(raised, MOST_SAID)})")
    if isinstance(raised, sqlite3.OperationalError | sqlite3.DataError) or type(raised) is sqlite3.DatabaseError:
        # Tables, columns or letters that are not as they should be
        return DAMAGED._replace(reason=f"{DAMAGED.reason} ({one_line(raised, MOST_SAID)})")
    return None


def refusal(path: Path, trouble: Trouble, option: str = DATABASE) -> ParameterError:
    """Return the error that says so: BusyError for what may pass by itself, else DamagedFileError."""
    instead = trouble.way_out(path, option)
    if trouble.reason.startswith(_LOCKED):
        return BusyError(f"{path} {trouble.reason}: {instead}")
    return DamagedFileError(path, trouble.reason, instead)


def damaged(path: Path, what: str, option: str = DATABASE) -> ParameterError:
    """Return the error for a file in which something is that no server writes."""
    return refusal(path, DAMAGED._replace(reason=f"{DAMAGED.reason} ({what})"), option)
