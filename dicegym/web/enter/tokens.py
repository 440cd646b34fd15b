"""The right to hand bots in: tokens that an operator gives to people, and browsers in which one was entered."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.errors import ParameterError, UnknownNameError
from dicegym.escape import harmless
from dicegym.server.admission import fold_name
from dicegym.web.enter.submission_tables import SESSIONS, TOKENS, SubmissionStore, now

BYTES = 16
"""Of randomness in a token: it cannot be guessed, so a plain SHA-256 of it is enough to keep it by."""
BEGINNING = "dice_"
LONGEST_NAME = 40
"""Characters of what people and bots are called."""
SESSION = timedelta(days=30)
"""How long a browser is known after a token was entered in it."""
_TOKEN = re.compile(rf"{BEGINNING}[0-9a-f]{{{2 * BYTES}}}")
_PERIOD = re.compile(r"([1-9][0-9]{0,3}) ?(hours?|days?|weeks?|h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class TokenHolder(NamedTuple):
    """The person of a valid token."""

    name: str
    operator: bool
    """Whether it may hold contests, and see everybody's bots."""


class KnownToken(NamedTuple):
    """A token as it is kept: not what it is, but whose."""

    name: str
    operator: bool
    made: str
    expires: str | None
    revoked: str | None

    @property
    def state(self) -> str:
        """What it is worth now, in a word."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now() else "valid"


def check_name(name: str, whose: str) -> str:
    """Return a name, spaces around it left out. Raises ParameterError for one that cannot be shown as it is."""
    found = name.strip()
    if not found or len(found) > LONGEST_NAME:
        raise ParameterError(f"{whose} is {len(found)} characters long: give 1 to {LONGEST_NAME}")
    if harmless(found) != found:
        raise ParameterError(f"{whose}, '{harmless(found)}', has characters that cannot be seen: leave them out")
    return found


def moment_of(text: str) -> str:
    """Return when something ends that is given as ``2026-12-24``, ``2026-12-24T18:00`` or ``90 days``, as it is kept.

    A date is that day's end, and times without a zone are UTC. Raises ParameterError for anything else, and for what is
    past.
    """
    words = text.strip()
    if period := _PERIOD.fullmatch(words):
        end = datetime.now(UTC) + timedelta(hours=int(period[1]) * _HOURS[period[2][0]])
        return end.isoformat(timespec="seconds")
    try:
        end = datetime.fromisoformat(words)
    except ValueError:
        raise ParameterError(
            f"invalid time {text!r}: write a date such as 2026-12-24, a time such as 2026-12-24T18:00, or 90 days"
        ) from None
    if re.fullmatch(r"\d{4}-?\d\d-?\d\d", words):
        end += timedelta(days=1)
    end = end.replace(tzinfo=UTC) if end.tzinfo is None else end.astimezone(UTC)
    found = end.isoformat(timespec="seconds")
    if found <= now():
        raise ParameterError(f"{text!r} is past: give a time to come")
    return found


class Tokens:
    """The tokens of a server of pages."""

    def __init__(self, desk: SubmissionStore) -> None:
        self._desk = desk

    def add(self, name: str, operator: bool = False, expires: str | None = None) -> str:
        """Return a new token, which is shown this once and kept nowhere.

        Args:
            name: whose it is, in whatever case or width; a new token of a name owns what its revoked or
                expired one owned.
            operator: whether it may hold contests, and see everybody's bots.
            expires: when, as `moment_of` takes it; None: never.

        Raises:
            ParameterError: the name has a token that is valid, or cannot be shown.
        """
        name = check_name(name, "the name of the token")
        token = BEGINNING + secrets.token_hex(BYTES)
        row = {
            "name": name,
            "digest": _digest(token),
            "operator": operator,
            "made": now(),
            "expires": None if expires is None else moment_of(expires),
            "revoked": None,
        }
        with self._desk.writing() as connection:
            before = _named(connection, name)
            if before is not None:
                if _known(before).state == "valid":
                    raise ParameterError(
                        f"{before.name!r} has a token already: revoke that first, or give another name"
                    )
                connection.execute(TOKENS.delete().where(TOKENS.c.name == before.name))
                row["name"] = before.name
            connection.execute(TOKENS.insert().values(row))
        return token

    def list_known(self) -> list[KnownToken]:
        """Return all tokens, by name."""
        with self._desk.reading() as connection:
            return [_known(row) for row in connection.execute(sa.select(TOKENS).order_by(TOKENS.c.name))]

    def revoke(self, name: str) -> None:
        """Make a token worth nothing, at once, in browsers too. Raises UnknownNameError without a valid one."""
        with self._desk.writing() as connection:
            row = _named(connection, name)
            if row is not None and row.revoked is None:
                connection.execute(TOKENS.update().where(TOKENS.c.name == row.name).values(revoked=now()))
            else:
                raise UnknownNameError(f"{name!r} has no valid token: `list` shows all")

    def holder(self, token: str) -> TokenHolder | None:
        """Return whose a token is; None for an invalid one."""
        return self._of(_digest(token)) if _TOKEN.fullmatch(token) else None

    def begin_session(self, token: str) -> str | None:
        """Return what a browser may show instead of a token from now on; None for an invalid token."""
        if self.holder(token) is None:
            return None
        session = secrets.token_hex(BYTES)
        until = (datetime.now(UTC) + SESSION).isoformat(timespec="seconds")
        with self._desk.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.until <= now()))
            row = {"digest": _digest(session), "token": _digest(token), "until": until}
            connection.execute(SESSIONS.insert().values(row))
        return session

    def of_session(self, session: str) -> TokenHolder | None:
        """Return whose token was entered in a browser that shows this; None if there was none, or it is not valid."""
        with self._desk.reading() as connection:
            here = (SESSIONS.c.digest == _digest(session)) & (SESSIONS.c.until > now())
            token = connection.execute(sa.select(SESSIONS.c.token).where(here)).scalar()
        return None if token is None else self._of(token)

    def end_session(self, session: str) -> None:
        """Forget a browser."""
        with self._desk.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.digest == _digest(session)))

    def _of(self, digest: str) -> TokenHolder | None:
        with self._desk.reading() as connection:
            row = connection.execute(sa.select(TOKENS).where(TOKENS.c.digest == digest)).first()
        return TokenHolder(row.name, row.operator) if row is not None and _known(row).state == "valid" else None


def _named(connection: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of a token by its name, however that is spelled."""
    rows = connection.execute(sa.select(TOKENS)).all()
    return next((row for row in rows if fold_name(row.name) == fold_name(name)), None)


def _known(row: sa.Row[tuple[object, ...]]) -> KnownToken:
    return KnownToken(row.name, row.operator, row.made, row.expires, row.revoked)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
