"""Messages between server and clients: error codes of all games, and conversion between JSON objects and bytes.

An object ends at its closing brace, found by counting braces outside strings; then it is parsed once. So a packet may
contain any number of objects, an object may be split over any number of packets, and no separator is needed. Anything
but JSON objects is reported once and skipped, by rules that recover fast:
    - Between objects, white space and byte order marks are ignored. Anything else is skipped up to the next ``{`` or
      the end of the line.
    - An object ends where another one begins at an invalid place (``{"dice": [0{"type"...``).
    - An unclosed string ends with its line, and the object with it.
    - A too long object is skipped to its closing brace, or to the next line that starts with ``{``.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import NamedTuple, NoReturn

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.yatzy.protocol import Message
from dicegym.games.yatzy.rules import SPEC

BAD_JSON, TOO_LONG, NOT_YOUR_TURN = "bad-json", "too-long", "not-your-turn"
"""Error codes of the server; the game defines those of commands."""
WRONG_SECRET, SECRET_NEEDED, BAD_NAME, REPLACED = "wrong-secret", "secret-needed", "bad-name", "replaced"
FULL, STOPPED = "full", "server-stopped"
REFUSALS = (WRONG_SECRET, SECRET_NEEDED, BAD_NAME, REPLACED)
"""After these codes, connecting again is useless."""
LIMIT = 4096  # bytes of a client's message


def make_served_game(name: str, **parameters: int) -> Game:
    """Return a game that servers play. Raises ParameterError if it has no protocol, UnknownNameError if unknown."""
    game = make_game(name, **parameters)
    if game.spec is not SPEC:
        raise ParameterError(f"{game.spec.title} has no server protocol; games that have: {SPEC.name}")
    return game


def encode(message: Message) -> bytes:
    """Return a message as one line of ASCII."""
    return _compact(message).encode() + b"\n"


class Malformed(NamedTuple):
    """An error in place of a message."""

    code: str
    message: str


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not in JSON")


_compact = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
_SPACE = " \t\r\n"
_BLANK = re.compile("[ \t\r\n\ufeff]*")
_FLAT = re.compile(r'\{(?:[^{}"]++|"(?:[^"\\\n]++|\\[^\n])*+")*+\}')
_MARKS = re.compile(r'[{}"\\\n]')
_START = re.compile(r"[{\n]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # the error handler "surrogateescape" turns invalid bytes into these
_BEFORE_BRACE = (":", "[", ",")  # characters before an object inside another one


def parse(text: str, limit: int = LIMIT) -> Message | Malformed:
    """Return the one object in ``text``, or what is wrong with it."""
    if _size(text) > limit:
        return _too_long(limit)
    if not text.isascii() and _NOT_UTF8.search(text):
        return Malformed(BAD_JSON, "the text is not UTF-8")
    try:
        whole = text.lstrip("\ufeff").strip(_SPACE)
        value, end = _decode(whole)
        if end < len(whole):
            raise json.JSONDecodeError("Extra data", whole, end)
    except json.JSONDecodeError as error:
        return Malformed(BAD_JSON, f"{error.msg}, at line {error.lineno} column {error.colno}")
    except ValueError as error:
        return Malformed(BAD_JSON, str(error)[:100])
    except RecursionError:
        return Malformed(BAD_JSON, "brackets are nested too deep")
    return value if isinstance(value, dict) else _no_object(text)


class ObjectReader:
    """Reads objects from packets: after `feed`, call `read` until it returns None.

    Every character is scanned once, however the stream is split.

    Args:
        limit: bytes of an object. At most this and one packet are kept.

    Attributes:
        length: characters of the last object returned by `read`.
        begun: number of objects begun so far, including incomplete ones; other text in their place counts as one.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.length = self.begun = 0
        self._limit = limit
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._plain = True  # whether the last packet was ASCII, so that no partial character is left
        self._text = ""
        self._at = 0  # start of the object, or of skipped text
        self._seen = 0  # end of the scanned part of the object
        self._depth = 0  # open braces; 0: between objects
        self._in_string = False
        self._lost = False  # between objects, in skipped text
        self._too_long = False
        self._reported = False  # whether an incomplete object was reported since the last complete one

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        plain = data.isascii()
        text = data.decode("ascii") if plain and self._plain else self._utf8.decode(data)
        self._plain = plain
        self._text = self._text[self._at :] + text
        self._seen -= self._at
        self._at = 0

    def read(self) -> Message | Malformed | None:
        """Return the next object, or the error in its place, or None if more data is needed."""
        while True:
            if not self._depth:
                found = self._begin()
                if found is not None or not self._depth:
                    return found
            found = self._find_end()
            if found is not None or self._depth:
                return found

    def _begin(self) -> Message | Malformed | None:
        """Find the start of the next object; return the object if it is complete and contains no other."""
        text = self._text
        if self._lost:
            start = _START.search(text, self._at)
            self._at = start.start() if start else len(text)
            self._lost = start is None
        if not text.startswith("{", self._at):
            blank = _BLANK.match(text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at == len(text):
                return None
            if text[self._at] != "{":
                self._lost = True
                self.begun += 1
                return _no_object(text[self._at : self._at + 20])
        at = self._at
        self.begun += 1
        if flat := _FLAT.match(text, at):  # most moves of most games
            return self._end(flat.end())
        self._depth, self._seen, self._in_string, self._too_long = 1, at + 1, False, False
        return None

    def _find_end(self) -> Message | Malformed | None:
        """Continue the search for the object's end."""
        text = self._text
        while mark := _MARKS.search(text, self._seen):
            at, character = mark.start(), mark.group()
            if at - self._at >= self._limit and not self._too_long:
                self._seen, self._too_long = at, True
                return _too_long(self._limit)
            if character == "\\":
                if at + 1 == len(text):
                    self._seen = at  # wait for the next character
                    break
                self._seen = at + 1 + (self._in_string and text[at + 1] != "\n")
                continue
            self._seen = at + 1
            if self._in_string:
                if character == "\n":
                    return self._end(at + 1, Malformed(BAD_JSON, "a string is not closed on its line"))
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character == "{":
                if text[at - 1] == "\n" if self._too_long else not self._may_hold(at):
                    reported, self._reported = self._reported, True
                    found = self._end(at, Malformed(BAD_JSON, "an object starts at an invalid place"))
                    return None if reported else found
                self._depth += 1
            elif character == "}":
                self._depth -= 1
                if not self._depth:
                    return self._end(at + 1)
        else:
            self._seen = len(text)
        if self._too_long:
            self._at = max(self._at, self._seen - 1)  # keep the last character: it may be the end of a line
        elif _size(text[self._at :]) > self._limit:
            self._too_long = True
            return _too_long(self._limit)
        return None

    def _may_hold(self, at: int) -> bool:
        """Return whether a brace at ``at`` may begin an object inside the present one."""
        before = at - 1
        while self._text[before].isspace():
            before -= 1
        return self._text[before] in _BEFORE_BRACE

    def _end(self, at: int, error: Malformed | None = None) -> Message | Malformed | None:
        """End the object at ``at``; return it or its error, or None if it was reported as too long."""
        if error is None:
            self._reported, self.length = False, at - self._at
        found = None if self._too_long else error or parse(self._text[self._at : at], self._limit)
        self._at, self._depth, self._too_long = at, 0, False
        return found


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _too_long(limit: int) -> Malformed:
    return Malformed(TOO_LONG, f"a message has at most {limit} bytes")


def _no_object(text: str) -> Malformed:
    return Malformed(
        BAD_JSON, f'a message is a JSON object, such as {{"type": "..."}}; this starts with {text.lstrip()[:20]!a}'
    )
