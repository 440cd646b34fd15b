"""Text that others wrote (names, messages, paths), made harmless for where it is shown.

Bots, models, clients and files choose their own names and messages. Shown as they are, these could move the cursor of a
terminal, colour what follows, write from right to left, hide letters, or end the line and forge the next one. Here
everything that acts instead of being seen becomes its escape, as Python writes it in a string.
"""

from __future__ import annotations

import re

_ELLIPSIS = "..."
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that take no room or show nothing; Python calls them printable."""
_MARK = "[\\u0300-\\u036f\\u0483-\\u0489\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]"
_STACKED = re.compile(f"({_MARK}{{4}}){_MARK}+")
"""Marks above and below one letter, of which more than four cover the lines around."""
_FORMULA = "=+-@\t\r\n"
"""What a table program takes for a formula if a cell begins so."""
_MARKDOWN = re.compile(r"([\\`*\[\]<>|~&]|^[#+-](?=[#+-]* )|(?<![^\W_])_|_(?![^\W_]))")
"""Marks of Markdown, but those that mean nothing where they stand: the line within a word, as in ``always_roll``."""


def harmless(text: str, keep: str = "") -> str:
    r"""Return ``text`` with everything in it that is not simply seen written as an escape, ``\x1b`` say.

    That is: control characters (of terminals, new lines and NUL too), what changes the direction of writing, what takes
    no room, unpaired surrogates, and separators other than the space. What is harmless comes back as it is, and
    doing it twice changes nothing.

    Args:
        text: whatever somebody else wrote.
        keep: characters that may stay, such as a new line where there are lines.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(
        letter if letter in keep or (letter.isprintable() and letter not in _UNSEEN) else _escape(letter)
        for letter in text
    )
    return _STACKED.sub(r"\1", shown)


def _escape(letter: str) -> str:
    """Return the escape that Python writes for a character."""
    number = ord(letter)
    if number < 0x100:
        return {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(letter, f"\\x{number:02x}")
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def lines(text: str, longest: int = 2000) -> str:
    """Return ``text`` harmless, its lines and tabs as they are, and none of them longer than ``longest``."""
    return "\n".join(_cut(harmless(_cut(line, longest), "\t"), longest) for line in text.split("\n"))


_ADDRESS = re.compile(" at 0x[0-9a-f]+(?=>)")
"""Where an object lay in memory, as Python writes it: that differs between runs of the same contest."""


def one_line(text: object, limit: int = 200) -> str:
    """Return ``str(text)`` harmless and on one line of at most ``limit`` characters, whatever it does when asked.

    Addresses of objects in memory are left out.
    """
    try:
        written = str.__str__(str(text))  # a subclass may have any method
        # Most of a text of a hundred megabytes is not even looked at.
        joined = " ".join(written[: 100 * limit].split()) + (" ..." if len(written) > 100 * limit else "")
    except Exception:
        return "(no message)"
    return _cut(harmless(_cut(_ADDRESS.sub("", joined), limit)), limit)


def quote_words(text: object, limit: int = 200) -> str:
    """Return what a bot says of itself as its own words: ``says: "..."``, on one line, which no quote of it ends."""
    return 'says: "' + one_line(text, limit).replace('"', "'") + '"'


def describe_raised(error: BaseException) -> str:
    """Return what a bot did that raised ``error``, its message as its own words."""
    kind = type(error).__name__
    message = one_line(error)
    return f"raised {kind if kind.isidentifier() else 'an error'}" + (f" ({quote_words(message)})" if message else "")


def cell(text: str) -> str:
    """Return ``text`` for a cell of a CSV file: harmless, and no formula to a program that opens it as a table."""
    shown = harmless(text)
    return f"'{shown}" if text[:1] and text[0] in _FORMULA else shown


def markdown(text: str) -> str:
    """Return ``text`` for a line or a cell of Markdown: harmless, and neither markup nor HTML."""
    return _MARKDOWN.sub(r"\\\1", harmless(text))


def docstring(text: str) -> str:
    """Return ``text`` for a docstring in a program that is written out: harmless, and it can neither end nor escape."""
    return harmless(text).replace("\\", "/").replace('"', "'")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - len(_ELLIPSIS)] + _ELLIPSIS
