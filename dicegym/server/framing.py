"""JSON objects out of a stream of bytes: any number in a packet, any number of packets for one, no separator needed.

What is no JSON object is reported once and skipped, by these rules, so that a sender is soon understood again:
    - Between objects white space (and a byte order mark) means nothing. Anything else is skipped up to the next ``{``
      or the end of its line.
    - An object that breaks off and is followed by another (``{"dice": [0{"type"...``) ends where the other starts.
    - Any other faulty or too long object is skipped to its closing brace, or to the next line that starts with ``{``.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NamedTuple, NoReturn

from dicegym.server.scanner import SHORT, Scanner, Verdict

LIMIT = 4096
"""Bytes that an object of a client may have."""


class Malformed(NamedTuple):
    """Something that is no message."""

    code: str
    message: str


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
_BLANK = re.compile("[ \t\r\n\ufeff]*")
_MARKS = re.compile(r'[{}"\\\n]')
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how the error handler "surrogateescape" shows a wrong byte


def parse(text: str, limit: int = LIMIT) -> dict[str, Any] | Malformed:
    """Return the one object that ``text`` is (a WebSocket frame), or what is wrong with it."""
    if _size(text) > limit:
        return _too_long(limit)
    start = _blank(text, 0)
    if text[start : start + 1] != "{":
        return _no_object(text[start : start + 20])
    if len(text) - start > SHORT:
        scanner = Scanner(start)
        scanner.scan(text)
        if scanner.limit:
            return Malformed("bad-json", scanner.limit)
    try:
        value, end = _decode(text, start)
    except (ValueError, RecursionError) as error:
        return _bad(error)
    if _blank(text, end) != len(text):
        return Malformed("bad-json", "one frame is one JSON object: something follows after its closing brace")
    return value  # type: ignore[no-any-return]  # it starts with a brace, so it is a dict


class ObjectReader:
    """Takes packets by `feed`; `read` then returns objects until it returns None.

    An object that has come as a whole and is short is parsed at once. Any other is gone through by a `Scanner` as it
    comes, and parsed when it is whole or can no more become right: nothing is looked at again because more has come.

    Args:
        limit: bytes that an object may have; no more than this is ever kept of one.
        glance: characters in which a whole object is looked for before it is gone through. More than the default is
            for who trusts the other side.

    Attributes:
        length: characters of the object that `read` has returned last.
    """

    def __init__(self, limit: int = LIMIT, glance: int = SHORT) -> None:
        self.length = 0
        self._limit = limit
        self._glance = glance
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0
        self._scanner: Scanner | None = None  # of the object that starts there and has not come as a whole
        self._waiting = 0  # bytes that have come of it
        self._skipping = False
        self._depth = 0  # of what is skipped: open braces; 0 between objects
        self._in_string = False

    def feed(self, data: bytes) -> None:
        """Take what has arrived."""
        self._waiting += len(data)
        self._text = self._text[self._at :] + self._utf8.decode(data)
        if self._scanner is not None:
            self._scanner.at -= self._at
        self._at = 0

    def read(self) -> dict[str, Any] | Malformed | None:
        """Return the next object, what is wrong with what stands in its place, or None if more has to arrive."""
        if self._scanner is not None:
            return self._scan_on(self._scanner)
        if self._skipping and not self._skip():
            return None
        text = self._text
        at = self._at = _blank(text, self._at)
        if at == len(text):
            return None
        if text[at] != "{":
            self._skip_from(at)
            return _no_object(text[at : at + 20])
        try:
            if len(text) - at <= self._glance:
                value, end = _decode(text, at)
            else:
                value, end = _decode(text[at : at + self._glance])
                end += at
        except (ValueError, RecursionError):
            self._waiting = _size(text[at:])
            self._scanner = Scanner(at)
            return self._scan_on(self._scanner)
        self._at, self.length = end, end - at
        if self.length > self._limit or not text.isascii():
            return self._whole(at, end, value)
        return value  # type: ignore[no-any-return]  # it starts with a brace, so it is a dict

    def _scan_on(self, scanner: Scanner) -> dict[str, Any] | Malformed | None:
        """Go on with an object that has not come as a whole."""
        verdict, at = scanner.scan(self._text), self._at
        if verdict is Verdict.INCOMPLETE and self._waiting <= self._limit:
            return None
        self._scanner = None
        if verdict is Verdict.INCOMPLETE:
            self._skip_from(at)
            return _too_long(self._limit)
        if scanner.limit:
            self._skip_from(at)
            return Malformed("bad-json", scanner.limit)
        try:
            value, end = _decode(self._text, at)
        except (ValueError, RecursionError) as error:
            return self._failed(at, error)
        return self._whole(at, end, value)

    def _whole(self, at: int, end: int, value: dict[str, Any]) -> dict[str, Any] | Malformed:
        self._at, self.length = end, end - at
        if self.length > self._limit or not self._text.isascii():
            text = self._text[at:end]
            if _size(text) > self._limit:
                return _too_long(self._limit)
            if _NOT_UTF8.search(text):
                return Malformed("bad-json", "the text is not UTF-8")
        return value

    def _failed(self, at: int, error: Exception) -> Malformed:
        """Say what is wrong with the object that starts at ``at``; another may start where it breaks off."""
        breaks = error.pos if isinstance(error, json.JSONDecodeError) and error.msg.endswith("delimiter") else at
        if breaks > at and self._text[breaks : breaks + 1] == "{":
            self._at = breaks
        else:
            self._skip_from(at)
        return _bad(error)

    def _skip_from(self, at: int) -> None:
        self._at = at
        self._skipping, self._depth, self._in_string = True, 0, False
        if self._text[at] == "{":
            self._at, self._depth = at + 1, 1
        self._skip()

    def _skip(self) -> bool:
        """Go on skipping; return whether the end of what is to be skipped was found."""
        text = self._text
        while mark := _MARKS.search(text, self._at):
            self._at, character = mark.start(), mark.group()
            if self._depth == 0:
                if character in "{\n":
                    return self._found()
            elif character == "\\":
                if self._at + 1 == len(text):
                    return False  # look again when the next character is here
                self._at += self._in_string and text[self._at + 1] != "\n"
            elif self._in_string:
                if character == "\n":  # no string holds one: this one was never closed
                    return self._found()
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character == "\n":
                if self._at + 1 == len(text):
                    return False
                if text[self._at + 1] == "{":
                    return self._found()
            else:
                self._depth += 1 if character == "{" else -1
                if self._depth == 0:
                    self._at += 1
                    return self._found()
            self._at += 1
        self._at = len(text)
        return False

    def _found(self) -> bool:
        self._skipping = False
        return True


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _too_long(limit: int) -> Malformed:
    return Malformed("too-long", f"a message has at most {limit} bytes")


def _no_object(start: str) -> Malformed:
    return Malformed("bad-json", f'a message is a JSON object, such as {{"type": ...}}; this starts with {start!a}')


def _bad(error: Exception) -> Malformed:
    if isinstance(error, json.JSONDecodeError):
        return Malformed("bad-json", f"{error.msg}, at line {error.lineno} column {error.colno}")
    if isinstance(error, RecursionError):
        return Malformed("bad-json", "brackets are nested too deep")
    return Malformed("bad-json", str(error)[:100])
