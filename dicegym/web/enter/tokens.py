"""The right to hand bots in: tokens that an operator gives to people, and browsers in which one was entered."""

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
"""Of randomness in a token: it cannot be guessed, so a plain SHA-256 of it is enough to keep it by."""
BEGINNING = "dice_"
SESSION = timedelta(days=30)
"""How long a browser is known after a token was entered in it."""
_TOKEN = re.compile(rf"{BEGINNING}[0-9a-f]{{{2 * BYTES}}}")
_PERIOD = re.compile(r"([1-9][0-9]{0,3}) ?(hours?|days?|weeks?|h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def check_name(name: str, whose: str) -> str:
    """Return a name, spaces around it left out. Raises ParameterError for one that cannot be shown as it is."""
    found = name.strip()
    if not found or len(found) > LONGEST_NAME:
        raise ParameterError(f"{whose} is {len(found)} characters long: give 1 to {LONGEST_NAME}")
    if (shown := one_line(found)) != found:  # what contests would call it: two names must not become one there
        raise ParameterError(f"{whose}, '{shown}', has characters that cannot be seen, or two spaces: leave them out")
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
        if re.fullmatch(r"\d{4}-?\d\d-?\d\d", words):
            end += timedelta(days=1)
        end = end.replace(tzinfo=UTC) if end.tzinfo is None else end.astimezone(UTC)
    except (ValueError, OverflowError):  # the last day of the calendar has no end
        raise ParameterError(
            f"invalid time {text!r}: write a date such as 2026-12-24, a time such as 2026-12-24T18:00, or 90 days"
        ) from None
    found = end.isoformat(timespec="seconds")
    if found <= now():
        raise ParameterError(f"{text!r} is past: give a time to come")
    return found


class Tokens:
    """The tokens of a server of pages."""

    def __init__(self, desk: SubmissionStore) -> None:
        self._desk = desk

    def add(self, name: str, expires: str | None = None) -> str:
        """Return a new token, which is shown this once and kept nowhere.

        It owns what a revoked or expired one of the name owned, in whatever case or width, and expires as `moment_of`
        says; None: never. Raises ParameterError: the name has a valid token, or cannot be shown.
        """
        name = check_name(name, "the name of the token")
        token = BEGINNING + secrets.token_hex(BYTES)
        until = None if expires is None else moment_of(expires)
        with self._desk.writing() as session:
            before = _named(session, name)
            if before is not None and before.state == "valid":
                raise ParameterError(f"{before.name!r} has a token already: revoke that first, or give another name")
            if before is not None:
                name = before.name
            session.merge(Token(name=name, digest=_digest(token), made=now(), expires=until, revoked=None))
        return token

    def list_known(self) -> list[Token]:
        """Return all tokens, by name."""
        return self._desk.find_all(sa.select(Token).order_by(Token.name))

    def revoke(self, name: str) -> None:
        """Make a token worth nothing, at once, in browsers too. Raises UnknownNameError without a valid one."""
        with self._desk.writing() as session:
            token = _named(session, name)
            if token is None or token.revoked is not None:
                raise UnknownNameError(f"{name!r} has no valid token: `list` shows all")
            token.revoked = now()

    def holder(self, token: str) -> str | None:
        """Return whose a token is; None for an invalid one."""
        return self._of(_digest(token)) if _TOKEN.fullmatch(token) else None

    def begin_session(self, token: str) -> str | None:
        """Return what a browser may show instead of a token from now on; None for an invalid token."""
        if self.holder(token) is None:
            return None
        shown = secrets.token_hex(BYTES)
        until = (datetime.now(UTC) + SESSION).isoformat(timespec="seconds")
        with self._desk.writing() as session:
            session.execute(sa.delete(BrowserSession).where(BrowserSession.until <= now()))
            session.add(BrowserSession(digest=_digest(shown), token=_digest(token), until=until))
        return shown

    def of_session(self, shown: str) -> str | None:
        """Return whose token was entered in a browser that shows this; None if there was none, or it is not valid."""
        found = self._desk.find_first(sa.select(BrowserSession).where(BrowserSession.digest == _digest(shown)))
        return None if found is None or found.until <= now() else self._of(found.token)

    def end_session(self, shown: str) -> None:
        """Forget a browser."""
        with self._desk.writing() as session:
            session.execute(sa.delete(BrowserSession).where(BrowserSession.digest == _digest(shown)))

    def _of(self, digest: str) -> str | None:
        token = self._desk.find_first(sa.select(Token).where(Token.digest == digest))
        return token.name if token is not None and token.state == "valid" else None


def _named(session: Session, name: str) -> Token | None:
    """Return a token by its name, however that is spelled."""
    return next((one for one in session.scalars(sa.select(Token)) if fold_name(one.name) == fold_name(name)), None)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
