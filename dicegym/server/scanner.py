"""Going through a JSON object once, as it arrives: has it ended, can it still become right, or is it faulty?

A parser has to begin again whenever more has come, which lets a client that sends byte by byte cost the square of
what it sends. A `Scanner` remembers where it stands, so every character is looked at once, and it refuses what would
cost a parser too much (brackets within brackets, numbers without end) before any is asked.
"""

from __future__ import annotations

import enum
import re

MOST_NESTED = 128
"""Brackets that may be open at once."""
LONGEST_NUMBER = 256
"""Characters of a number."""
SHORT = 256
"""Characters of text which has neither more brackets open nor longer numbers, whatever it says."""

_BLANK = re.compile(r"[ \t\n\r]*+")
_IN_STRING = re.compile(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_GOES_ON = re.compile(r"\.|[eE][+-]?")
_WORDS = {"t": "true", "f": "false", "n": "null"}
_CLOSES = {"}": "{", "]": "["}

# Plain values, and keys with them, of a few characters each, are taken many at once. What may not have come as a whole
# is left out, by what has to follow: so no more than the last, a short one, is looked at again.
_GAP = r"[ \t\n\r]{0,8}+"
_TEXT = r'"[^"\\\x00-\x1f]{0,32}+"'
_PLAIN = rf"(?:{_TEXT}|-?(?:0|[1-9][0-9]{{0,15}}+)(?:\.[0-9]{{1,15}}+)?|true|false|null|\[\]|\{{\}})"
_MORE_VALUES = re.compile(rf"(?:{_GAP},{_GAP}{_PLAIN}(?={_GAP}[,\]]))*+")
_MORE_PAIRS = re.compile(rf"(?:{_GAP},{_GAP}{_TEXT}{_GAP}:{_GAP}{_PLAIN}(?={_GAP}[,}}]))*+")

# What may come next: a key or the end, a key, a colon, a value or the end, a value, a comma or the end; what is left of
# a string.
_FIRST_KEY, _KEY, _COLON, _FIRST_VALUE, _VALUE, _COMMA, _REST_OF_KEY, _REST_OF_TEXT = range(8)


class Verdict(enum.Enum):
    """What a text is so far."""

    INCOMPLETE = enum.auto()
    """It has to go on, and can become right."""
    COMPLETE = enum.auto()
    FAULTY = enum.auto()


class Scanner:
    """Goes through one value, whose first character is ``{``.

    Attributes:
        at: where the next call of `scan` goes on; the end of the value when it is complete.
        limit: which limit was exceeded, in words; empty if it is faulty otherwise.
    """

    __slots__ = ("_next", "_open", "at", "limit")

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.limit = ""
        self._open: list[str] = []
        self._next = _VALUE

    def scan(self, text: str) -> Verdict:
        """Go through what has come since the last call; ``text`` may have grown at its end alone."""
        while True:
            if self._next >= _REST_OF_KEY:
                found = self._string(text)
            else:
                if self._next == _COMMA:
                    more = (_MORE_PAIRS if self._open[-1] == "{" else _MORE_VALUES).match(text, self.at)
                    self.at = more.end() if more else self.at
                blank = _BLANK.match(text, self.at)
                self.at = blank.end() if blank else self.at
                if self.at == len(text):
                    return Verdict.INCOMPLETE
                found = self._step(text, text[self.at])
            if found is not None:
                return found

    def _step(self, text: str, character: str) -> Verdict | None:
        """Take a token that starts with ``character``; None if there may be more of them."""
        wanted = self._next
        if wanted in (_VALUE, _FIRST_VALUE):
            return self._value(text, character)
        if wanted == _COMMA:
            if character != ",":
                return self._close(character)
            self._next = _KEY if self._open[-1] == "{" else _VALUE
        elif wanted == _COLON:
            if character != ":":
                return Verdict.FAULTY
            self._next = _VALUE
        elif character == '"':
            self._next = _REST_OF_KEY
        elif wanted == _FIRST_KEY:
            return self._close(character)
        else:
            return Verdict.FAULTY
        self.at += 1
        return None

    def _value(self, text: str, character: str) -> Verdict | None:
        if character == '"':
            self._next = _REST_OF_TEXT
        elif character in "{[":
            if len(self._open) == MOST_NESTED:
                self.limit = f"brackets are nested too deep: at most {MOST_NESTED} may be open at once"
                return Verdict.FAULTY
            self._open.append(character)
            self._next = _FIRST_KEY if character == "{" else _FIRST_VALUE
        elif character in _WORDS:
            return self._word(text, _WORDS[character])
        elif character == "]" and self._next is _FIRST_VALUE:
            return self._close(character)
        else:
            return self._number(text, character)
        self.at += 1
        return None

    def _close(self, character: str) -> Verdict | None:
        if _CLOSES.get(character) != self._open[-1]:
            return Verdict.FAULTY
        self._open.pop()
        self._next = _COMMA
        self.at += 1
        return None if self._open else Verdict.COMPLETE

    def _string(self, text: str) -> Verdict | None:
        run = _IN_STRING.match(text, self.at)
        self.at = run.end() if run else self.at
        if self.at == len(text):
            return Verdict.INCOMPLETE
        if text[self.at] == '"':
            self._next = _COLON if self._next is _REST_OF_KEY else _COMMA
            self.at += 1
            return None
        return Verdict.INCOMPLETE if _CUT_ESCAPE.fullmatch(text, self.at) else Verdict.FAULTY

    def _word(self, text: str, word: str) -> Verdict | None:
        if text.startswith(word, self.at):
            self.at += len(word)
            self._next = _COMMA
            return None
        return Verdict.INCOMPLETE if word.startswith(text[self.at : self.at + len(word)]) else Verdict.FAULTY

    def _number(self, text: str, character: str) -> Verdict | None:
        """Take a number; where it ends is known when something else follows."""
        found = _NUMBER.match(text, self.at)
        end = found.end() if found else self.at + (character == "-")
        if end - self.at > LONGEST_NUMBER:
            self.limit = f"a number has at most {LONGEST_NUMBER} characters"
            return Verdict.FAULTY
        if end == len(text) and end > self.at:
            return Verdict.INCOMPLETE
        if not found:
            return Verdict.FAULTY
        if _GOES_ON.fullmatch(text, end):
            return Verdict.INCOMPLETE
        self.at = end
        self._next = _COMMA
        return None
