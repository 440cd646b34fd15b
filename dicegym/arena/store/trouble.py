"""What can be wrong with a file of results, in words: what is the matter, whether it may pass, and the way out."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DamagedFileError, ParameterError, one_line

ELSEWHERE = "give another --store"
MOST_SAID = 100
"""Letters of what SQLite says, which may quote a damaged file at length."""
MOST_SAID_BY_SERVER = 300


class Trouble(NamedTuple):
    """Why a database cannot do something."""

    reason: str
    """Completes "FILE ...", and "the store at URL ..."."""
    instead: str
    """What to do about it."""
    passes: bool
    """Whether it may be over in a while, without anybody's touching the store."""


class BusyError(ParameterError):
    """Another program has locked a store, for now."""


class HeldError(ParameterError):
    """Another server of the same game has the store."""


DAMAGED = Trouble(
    "is damaged",
    "nothing in it was changed; put a backup in its place, or get out what can be read by "
    "`sqlite3 FILE .recover | sqlite3 saved.sqlite` and go on with --store saved.sqlite",
    False,
)
_LOCKED = "is locked by another program"
_FULL = "make room on its disk, or " + ELSEWHERE
_TROUBLES = {
    sqlite3.SQLITE_BUSY: Trouble(_LOCKED, "wait until that (a backup?) has ended, or end it", True),
    sqlite3.SQLITE_LOCKED: Trouble(_LOCKED, "wait until that (a backup?) has ended, or end it", True),
    sqlite3.SQLITE_FULL: Trouble("cannot be written, as the disk is full", _FULL, True),
    sqlite3.SQLITE_IOERR: Trouble("cannot be read or written, by an error of its disk or a limit of size", _FULL, True),
    sqlite3.SQLITE_NOMEM: Trouble("cannot be read for want of memory", "end other programs", True),
    sqlite3.SQLITE_READONLY: Trouble(
        "cannot be written", f"make it and its folder writable for you, or {ELSEWHERE}", True
    ),
    sqlite3.SQLITE_CANTOPEN: Trouble(
        "cannot be opened", f"see that its folder is there and that you may write in it, or {ELSEWHERE}", True
    ),
    sqlite3.SQLITE_PERM: Trouble("cannot be opened", f"see that you may read and write it, or {ELSEWHERE}", True),
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: Trouble(
        "is not a database, or its beginning is damaged",
        f"nothing in it was changed; if it held results, put a backup in its place; else {ELSEWHERE}",
        False,
    ),
}


def trouble_of(error: BaseException) -> Trouble | None:
    """Return what an error of a database, as it comes from SQLAlchemy or not, says; None if it is no such."""
    raised = getattr(error, "orig", None) or error
    if isinstance(error, HeldError):  # for as long as the server takes to see that a connection has broken off
        return Trouble("is in use by another server", "stop that, or " + ELSEWHERE, True)
    if type(raised).__module__.partition(".")[0] == "psycopg":
        return _on_server(raised)
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


def _on_server(raised: BaseException) -> Trouble:
    """Return what an error of PostgreSQL says. It names no password: those are in no message of it."""
    said = str(raised).strip().splitlines()
    # Of SQLSTATE, the classes of what may pass: connections, resources, an operator's hand, the machine below
    state = getattr(raised, "sqlstate", None) or ""
    lost = type(raised).__name__ in ("OperationalError", "InterfaceError", "ConnectionTimeout")
    return Trouble(
        f"cannot be used ({one_line(said[0] if said else type(raised).__name__, MOST_SAID_BY_SERVER)})",
        "see that the server runs, that the database exists and that you may use it",
        lost or state[:2] in ("08", "25", "40", "53", "55", "57", "58"),
    )


def called(name: str | Path) -> str:
    """Return what a store is called in a sentence."""
    return f"the store at {name}" if "://" in str(name) else str(name)


def refusal(name: str | Path, trouble: Trouble) -> ParameterError:
    """Return the error that says so: BusyError for a lock, which passes by itself, else DamagedFileError."""
    instead = trouble.instead.replace("FILE", str(name))
    if trouble.reason.startswith(_LOCKED):
        return BusyError(f"{name} {trouble.reason}: {instead}")
    return DamagedFileError(called(name), trouble.reason, instead)


def damaged(name: str | Path, what: str) -> ParameterError:
    """Return the error for a store in which something is that nobody writes."""
    if "://" in str(name):
        return DamagedFileError(called(name), f"is damaged ({what})", "put a backup in its place")
    return refusal(name, DAMAGED._replace(reason=f"{DAMAGED.reason} ({what})"))
