"""Names that people take for one another, and names that are made to be taken for others.

Two names look alike if what the Unicode Consortium calls their *skeletons* (Technical Standard 39: every character in
place of all that look like it) are equal, as they are written or in small letters. The table is that of the package
``confusable_homoglyphs``; Python's own ``unicodedata`` knows no look-alikes.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from dicegym.errors import DependencyError

MOST_MARKS = 3
"""Accents and vowel signs on one letter; more of them reach into other lines of a terminal."""
WRITTEN_TOGETHER = tuple(
    frozenset(scripts)
    for scripts in (
        ("LATIN", "HAN", "HIRAGANA", "KATAKANA"),
        ("LATIN", "HAN", "BOPOMOFO"),
        ("LATIN", "HAN", "HANGUL"),
    )
)
"""Scripts that one word may mix: what the standard calls highly restrictive."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")  # letters and signs that show nothing
_SELECTORS = frozenset("\ufe0e\ufe0f")  # whether the sign before is shown as text or as a picture
_KEYCAP = "\u20e3"
_ACCENTS = range(0x300, 0x370)


class _Table(NamedTuple):
    prototypes: Mapping[str, str]
    """Character -> what stands for all that look like it: one character, or a few (``m`` looks like ``rn``)."""
    script: Callable[[str], str]
    """Character -> the name of its script."""


class Gallery:
    """Names, and which of them another one looks like.

    Args:
        names: the first of them.
        accents: whether ``é`` and ``e`` count as different letters.

    Raises:
        DependencyError: the table of look-alikes is not installed.
    """

    def __init__(self, names: Iterable[str] = (), accents: bool = True) -> None:
        _table()
        self._accents = accents
        self._names: dict[str, dict[str, None]] = defaultdict(dict)  # likeness -> names, in order
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Take a name in."""
        for likeness in self._likenesses(name):
            self._names[likeness][name] = None

    def remove(self, name: str) -> None:
        """Take a name out, if it is there."""
        for likeness in self._likenesses(name):
            alike = self._names.get(likeness, {})
            alike.pop(name, None)
            if not alike:
                self._names.pop(likeness, None)

    def like(self, name: str) -> str | None:
        """Return another name that ``name`` looks like, None if there is none."""
        alike = (other for likeness in self._likenesses(name) for other in self._names.get(likeness, ()))
        return next((other for other in alike if other != name), None)

    def _likenesses(self, name: str) -> frozenset[str]:
        found = likenesses(name)
        return found if self._accents else frozenset(map(without_accents, found))


def likenesses(name: str) -> frozenset[str]:
    """Return texts of which two names that look alike have at least one in common. They are not for showing.

    One is of the name as it is written, in which ``I``, ``l`` and ``1`` are the same; the other of its small letters,
    in which ``I`` is ``i``. Neither has spaces or anything invisible, or knows capitals from small letters.
    """
    said = unicodedata.normalize("NFKC", name).casefold().replace("i\u0307", "i")  # capital i with a dot, in Turkish
    return frozenset((skeleton(name).replace("l", "1").casefold(), skeleton(said).casefold()))


def skeleton(name: str) -> str:
    """Return the skeleton of a name (Unicode Technical Standard 39, section 4), without spaces and what shows nothing.

    The table has letters with their accents too, which the standard's own procedure takes apart before it looks.
    """
    prototypes = _table().prototypes
    shown = "".join(sign for sign in name if not _shows_nothing(sign))
    for form in ("NFC", "NFD"):
        shown = "".join(prototypes.get(sign, sign) for sign in unicodedata.normalize(form, shown))
    return "".join(unicodedata.normalize("NFD", shown).replace("vv", "w").split())


def without_accents(name: str) -> str:
    """Return a name with letters in place of letters with accents."""
    return "".join(c for c in unicodedata.normalize("NFD", name) if ord(c) not in _ACCENTS)


def disguise(name: str) -> str:
    """Return what makes a printable name unfit for somebody whom nobody knows, or nothing.

    Any name is fit whose words are each in one script, as ``Zoë``, ``小明``, ``Иван`` and ``Иван bot``.
    """
    for before, sign, after in _neighbours(unicodedata.normalize("NFC", name)):
        selects = sign in _SELECTORS and (unicodedata.category(before or "a") == "So" or after == _KEYCAP)
        if _shows_nothing(sign) and not selects:
            return f"it has an invisible character (U+{ord(sign):04X}): leave that out"
    marks = 0
    for before, sign, _ in _neighbours(unicodedata.normalize("NFD", name)):
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks and (not before or before == sign or before.isspace() or marks > MOST_MARKS):
            return f"an accent in it is on no letter, there twice, or one of more than {MOST_MARKS} on a letter"
    for scripts in _scripts(name):
        if len(scripts) > 1 and not any(scripts <= together for together in WRITTEN_TOGETHER):
            mixed = " and ".join(sorted(script.replace("_", " ").title() for script in scripts))
            return f"a word in it has letters of different scripts ({mixed}): write it in one"
    return ""


def _neighbours(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each character with the one before and the one after it."""
    return zip(["", *text][:-1], text, [*text, ""][1:], strict=True)


def _shows_nothing(sign: str) -> bool:
    """Whether a printable character, or a mark, is not to be seen."""
    code = ord(sign)
    selects = 0x180B <= code <= 0x180F or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    return selects or sign in _BLANK or unicodedata.category(sign) in ("Cc", "Cf")


def _scripts(name: str) -> Iterator[frozenset[str]]:
    """Yield the scripts of each word: of each run of characters that are not common to all scripts."""
    script = _table().script
    found: set[str] = set()
    for sign in [*unicodedata.normalize("NFC", name), " "]:
        one = script(sign)
        if one in ("COMMON", "Unknown"):
            yield frozenset(found)
            found.clear()
        elif one != "INHERITED":  # marks are of the script of their letter
            found.add(one)


@functools.cache
def _table() -> _Table:
    try:
        from confusable_homoglyphs.categories import alias
        from confusable_homoglyphs.confusables import confusables_data
    except ImportError as error:
        raise DependencyError.for_extra("confusable-homoglyphs", "server", "knowing names that look alike") from error
    # The package lists for each character those that look like it, without telling the standard's prototypes. They are
    # those with more than one, and one of each pair: that of which others' are made, if there are such. Left-to-right
    # marks are a matter of how the standard is printed.
    alike: dict[str, set[str]] = defaultdict(set)
    for one, others in confusables_data.items():
        for other in others:
            pair = one.replace("\u200e", ""), other["c"].replace("\u200e", "")
            alike[pair[0]].add(pair[1])
            alike[pair[1]].add(pair[0])
    parts = {sign for one in alike if len(one) > 1 for sign in one}
    prototypes = {}
    for one, found in alike.items():
        if len(one) == 1 and len(found) == 1:
            (other,) = found
            fittest = max(one, other, key=lambda sign: (len(sign), sign in parts, sign.isascii(), sign))
            if len(alike[other]) > 1 or fittest == other:
                prototypes[one] = other
    return _Table(prototypes, alias)
