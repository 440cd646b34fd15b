"""Tokens, which an operator gives to people who submit bots, and the browser sessions that they open."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from dicegym.errors import ParameterError, UnknownNameError
from dicegym.escape import one_line
from dicegym.server.admission import LONGEST_NAME, fold_name
from dicegym.web.enter.submission_tables import BrowserSession, SubmissionStore, Token, now

BYTES = 16
"""Random bytes of a token: enough that a plain SHA-256 of it can be stored."""
BEGINNING = "dice_"
SESSION = timedelta(days=30)
"""How long a browser stays logged in."""
_TOKEN = re.compile(rf"{BEGINNING}[0-9a-f]{{{2 * BYTES}}}")
_PERIOD = re.compile(r"([1-9][0-9]{0,3}) ?(hours?|days?|weeks?|h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def check_name(name: str, whose: str) -> str:
    """Return a name, stripped. Raises ParameterError for a name that is too long or cannot be shown unchanged."""
    found = name.strip()
    if not found or len(found) > LONGEST_NAME:
        raise ParameterError(f"{whose} is {len(found)} characters long: give 1 to {LONGEST_NAME}")
    if (shown := one_line(found)) != found:  # contests show it so: two names must stay different
        raise ParameterError(f"{whose}, '{shown}', has invisible characters or double spaces: leave them out")
    return found


def parse_end(text: str) -> str:
    """Return an end such as ``2026-12-24``, ``2026-12-24T18:00`` or ``90 days`` in the format of `now`.

    A date means the end of that day, and times without a zone are UTC. Raises ParameterError for other texts, and for
    a time in the past.
    """
    words = text.strip()
    if period := _PERIOD.fullmatch(words):
        end = datetime.now(UTC) + timedelta(hours=int(period[1]) * _HOURS[period[2][0]])
        return end.isoformat(timespec="seconds")
    try:
        end = datetime.fromisoformat(words)
        if re.fullmatch(r"\d{4}-?\d\d-?\d\d", words):
            end += timedelta(days=1)
        end = end.replace(tzinfo=UTC) if end.tzinfo is None else end.astimezone(UTC)
    except (ValueError, OverflowError):  # the last day of the calendar has no end
        raise ParameterError(
            f"invalid time {text!r}: write a date such as 2026-12-24, a time such as 2026-12-24T18:00, or 90 days"
        ) from None
    found = end.isoformat(timespec="seconds")
    if found <= now():
        raise ParameterError(f"{text!r} is past: give a future time")
    return found


class Tokens:
    """The tokens of a web server."""

    def __init__(self, store: SubmissionStore) -> None:
        self._store = store

    def add(self, name: str, expires: str | None = None) -> str:
        """Return a new token, which is not stored itself.

        It owns the bots of an earlier token of the same name, ignoring case and width. ``expires`` is read by
        `parse_end`; None: never. Raises ParameterError if the name has a valid token or is invalid.
        """
        name = check_name(name, "the name of the token")
        token = BEGINNING + secrets.token_hex(BYTES)
        until = None if expires is None else parse_end(expires)
        with self._store.writing() as session:
            before = _named(session, name)
            if before is not None and before.state == "valid":
                raise ParameterError(f"{before.name!r} has a token already: revoke it first, or give another name")
            if before is not None:
                name = before.name
            session.merge(Token(name=name, digest=_digest(token), made=now(), expires=until, revoked=None))
        return token

    def list_known(self) -> list[Token]:
        """Return all tokens, by name."""
        return self._store.find_all(sa.select(Token).order_by(Token.name))

    def revoke(self, name: str) -> None:
        """Revoke a token at once, with its browser sessions. Raises UnknownNameError for a name without one."""
        with self._store.writing() as session:
            token = _named(session, name)
            if token is None or token.revoked is not None:
                raise UnknownNameError(f"{name!r} has no valid token: `dicegym web token list` shows all")
            token.revoked = now()

    def holder(self, token: str) -> str | None:
        """Return the owner of a token; None for an invalid one."""
        return self._of(_digest(token)) if _TOKEN.fullmatch(token) else None

    def begin_session(self, token: str) -> str | None:
        """Return a cookie that stands for a token; None for an invalid token."""
        if self.holder(token) is None:
            return None
        cookie = secrets.token_hex(BYTES)
        until = (datetime.now(UTC) + SESSION).isoformat(timespec="seconds")
        with self._store.writing() as session:
            session.execute(sa.delete(BrowserSession).where(BrowserSession.until <= now()))
            session.add(BrowserSession(digest=_digest(cookie), token=_digest(token), until=until))
        return cookie

    def of_session(self, cookie: str) -> str | None:
        """Return the owner of the token behind a cookie; None if either is not valid."""
        found = self._store.find_first(sa.select(BrowserSession).where(BrowserSession.digest == _digest(cookie)))
        return None if found is None or found.until <= now() else self._of(found.token)

    def end_session(self, cookie: str) -> None:
        """Delete the session of a cookie."""
        with self._store.writing() as session:
            session.execute(sa.delete(BrowserSession).where(BrowserSession.digest == _digest(cookie)))

    def _of(self, digest: str) -> str | None:
        token = self._store.find_first(sa.select(Token).where(Token.digest == digest))
        return token.name if token is not None and token.state == "valid" else None


def _named(session: Session, name: str) -> Token | None:
    """Return a token by its name, ignoring case and width."""
    return next((one for one in session.scalars(sa.select(Token)) if fold_name(one.name) == fold_name(name)), None)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
