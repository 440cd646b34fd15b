"""JSON objects out of a stream of bytes: any number in a packet, any number of packets for one, no separator needed.

An object ends at the brace that closes it, which is found by counting braces outside of strings, and is parsed once
then. What is no JSON object is reported once and skipped, by these rules, so that a sender is soon understood again:
    - Between objects white space (and a byte order mark) means nothing. Anything else is skipped up to the next ``{``
      or the end of its line.
    - An object that breaks off and is followed by another (``{"dice": [0{"type"...``) ends where the other starts.
    - A string that is not closed ends with its line, and the object with it.
    - Any other faulty or too long object is skipped to its closing brace, or to the next line that starts with ``{``.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NamedTuple, NoReturn

LIMIT = 4096
"""Bytes that an object of a client may have."""
MOST_BRACKETS = 256
"""Opening brackets and braces of a longer message than `SHORT`: nested without measure they cost a parser too much."""
SHORT = 256
"""Characters up to which an object is parsed as soon as it may be whole: this is done for every move of every game."""


class Malformed(NamedTuple):
    """Something that is no message."""

    code: str
    message: str


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
_BLANK = re.compile("[ \t\r\n\ufeff]*")
_MARKS = re.compile(r'[{}"\\\n]')
_START = re.compile(r"[{\n]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how the error handler "surrogateescape" shows a wrong byte
_BEFORE_BRACE = (":", "[", ",")
"""What stands before an object that is a part of another one."""


def parse(text: str, limit: int = LIMIT) -> dict[str, Any] | Malformed:
    """Return the one object that ``text`` is (a WebSocket frame), or what is wrong with it."""
    start = _blank(text, 0)
    if _size(text) > limit:
        return _too_long(limit)
    if text[start : start + 1] != "{":
        return _no_object(text[start : start + 20])
    found = _parsed(text, start, None, limit, MOST_BRACKETS)
    if isinstance(found, Malformed):
        return found
    value, end = found
    if _blank(text, end) != len(text):
        return Malformed("bad-json", "one frame is one JSON object: something follows after its closing brace")
    return value


class ObjectReader:
    """Takes packets by `feed`; `read` then returns objects until it returns None.

    Every character is looked at once, however the stream is cut.

    Args:
        limit: bytes that an object may have; no more than this is ever kept of one.
        trusts: parse whatever has come at once, as of a server, whose messages come as a whole.

    Attributes:
        length: characters of the object that `read` has returned last.
    """

    def __init__(self, limit: int = LIMIT, trusts: bool = False) -> None:
        self.length = 0
        self._limit = limit
        self._glance, self._most_brackets = (limit, limit) if trusts else (SHORT, MOST_BRACKETS)
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0  # where an object, or what is skipped, starts
        self._seen = 0  # up to where it was gone through
        self._depth = 0  # open braces; 0: between objects
        self._in_string = self._skipping = False

    def feed(self, data: bytes) -> None:
        """Take what has arrived."""
        self._text = self._text[self._at :] + self._utf8.decode(data)
        self._seen -= self._at
        self._at = 0

    def read(self) -> dict[str, Any] | Malformed | None:
        """Return the next object, what is wrong with what stands in its place, or None if more has to arrive."""
        while True:
            if self._depth:
                found = self._go_through()
                if found is not None or self._depth:
                    return found
            text = self._text
            if self._skipping:
                start = _START.search(text, self._at)
                self._at = start.start() if start else len(text)
                self._skipping = start is None
            at = self._at = _blank(text, self._at)
            if at == len(text):
                return None
            if text[at] != "{":
                self._skipping = True
                return _no_object(text[at : at + 20])
            if len(text) - at <= self._glance:
                try:
                    value, end = _decode(text, at)
                except (ValueError, RecursionError):
                    pass  # it may go on
                else:
                    self._at, self.length = end, end - at
                    plain = self.length <= self._limit and text.isascii()
                    return value if plain else self._whole(at, end)  # it starts with a brace, so it is a dict
            self._depth, self._seen, self._in_string = 1, at + 1, False

    def _go_through(self) -> dict[str, Any] | Malformed | None:
        """Look for the end of an object from where the last look ended."""
        text = self._text
        while mark := _MARKS.search(text, self._seen):
            at, character = mark.start(), mark.group()
            if at - self._at >= self._limit and not self._skipping:
                self._seen, self._skipping = at, True
                return _too_long(self._limit)
            if character == "\\":
                if at + 1 == len(text):
                    self._seen = at  # look again when the next character is here
                    break
                self._seen = at + 1 + (self._in_string and text[at + 1] != "\n")
                continue
            self._seen = at + 1
            if self._in_string:
                if character == "\n":
                    return self._end(at + 1, Malformed("bad-json", "a string is not closed on its line"))
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character == "{":
                if self._skipping:
                    if text[at - 1] == "\n":
                        return self._end(at, None)
                elif not _may_follow(text, at):
                    return self._break_off(at)
                self._depth += 1
            elif character == "}":
                self._depth -= 1
                if not self._depth:
                    return self._end(at + 1, None if self._skipping else self._whole(self._at, at + 1))
        else:
            self._seen = len(text)
        if self._skipping:
            self._at = max(self._at, self._seen - 1)  # the last may be the end of a line
        elif _size(text[self._at :]) > self._limit:
            self._skipping = True
            return _too_long(self._limit)
        return None

    def _end(self, at: int, found: dict[str, Any] | Malformed | None) -> dict[str, Any] | Malformed | None:
        """Return what an object was that ends at ``at``; None if it was skipped."""
        told = None if self._skipping else found
        self._at, self._depth, self._skipping = at, 0, False
        return told

    def _break_off(self, at: int) -> Malformed:
        """Return what is wrong with an object in which another cannot start at ``at``, and end it there if it can."""
        if _size(self._text[self._at : at]) > self._limit:
            self._skipping = True
            return _too_long(self._limit)
        try:
            _decode(self._text[self._at : at + 1])
        except (ValueError, RecursionError) as error:
            breaks = error.pos if isinstance(error, json.JSONDecodeError) and error.msg.endswith("delimiter") else 0
            if breaks == at - self._at:
                self._at, self._depth = at, 0
            else:
                self._depth, self._skipping = self._depth + 1, True
            return _bad(error)
        self._depth, self._skipping = self._depth + 1, True
        return Malformed("bad-json", "an object starts where none can")

    def _whole(self, at: int, end: int) -> dict[str, Any] | Malformed:
        """Return the object that stands there, or what is wrong with it."""
        self.length = end - at
        found = _parsed(self._text, at, end, self._limit, self._most_brackets)
        return found if isinstance(found, Malformed) else found[0]


def _parsed(
    text: str, at: int, end: int | None, limit: int, most_brackets: int
) -> tuple[dict[str, Any], int] | Malformed:
    """Return the object that starts at ``at`` and where it ends, or what is wrong with it."""
    whole = text[at:end]
    if _size(whole) > limit:
        return _too_long(limit)
    if len(whole) > SHORT and whole.count("[") + whole.count("{") > most_brackets:
        return Malformed("bad-json", f"a message has at most {most_brackets} opening brackets")
    if not whole.isascii() and _NOT_UTF8.search(whole):
        return Malformed("bad-json", "the text is not UTF-8")
    try:
        value, length = _decode(whole)
    except (ValueError, RecursionError) as error:
        return _bad(error)
    return value, at + length


def _may_follow(text: str, at: int) -> bool:
    """Return whether what stands before ``at`` may be followed by an object, as a part of another one."""
    before = at - 1
    while text[before].isspace():
        before -= 1
    return text[before] in _BEFORE_BRACE


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
