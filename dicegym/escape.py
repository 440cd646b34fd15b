"""Escaping of untrusted text (names, messages, paths) before it is shown.

Bots, models, clients and files choose their own names and messages. Unescaped, these could move a terminal's cursor,
change its colours, write from right to left, hide letters, or end a line and forge the next one. Every character that
is not simply visible becomes its Python escape.
"""

from __future__ import annotations

import re

_ELLIPSIS = "..."
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Characters that are invisible although Python calls them printable."""
_MARK = "[\\u0300-\\u036f\\u0483-\\u0489\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]"
_STACKED = re.compile(f"({_MARK}{{4}}){_MARK}+")
"""More than four combining marks on a letter, which cover the lines around it."""
_FORMULA = "=+-@\t\r\n"
"""First characters of a cell that a spreadsheet takes for a formula."""
_MARKDOWN = re.compile(r"([\\`*\[\]<>|~&]|^[#+-](?=[#+-]* )|(?<![^\W_])_|_(?![^\W_]))")
"""Markdown's special characters, except an underscore inside a word, as in ``always_roll``."""


def harmless(text: str, keep: str = "") -> str:
    r"""Return ``text`` with each character that is not simply visible written as an escape, such as ``\x1b``.

    Escaped are control characters (new lines and NUL too), changes of the writing direction, invisible characters,
    unpaired surrogates, and separators other than the space. Harmless text is returned unchanged, so escaping twice
    changes nothing.

    Args:
        text: untrusted text.
        keep: characters to leave, such as a new line.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(
        letter
        if letter in keep or (letter.isprintable() and letter not in _UNSEEN)
        else letter.encode("unicode_escape").decode()
        for letter in text
    )
    return _STACKED.sub(r"\1", shown)


def lines(text: str, longest: int = 2000) -> str:
    """Return ``text`` escaped except for new lines and tabs, each line cut to ``longest`` characters."""
    return "\n".join(_cut(harmless(_cut(line, longest), "\t"), longest) for line in text.split("\n"))


_ADDRESS = re.compile(" at 0x[0-9a-f]+(?=>)")
"""An object's address as Python writes it; it differs between runs of the same contest."""


def one_line(text: object, limit: int = 200) -> str:
    """Return ``str(text)`` escaped and on one line of at most ``limit`` characters, even if its ``__str__`` raises.

    Addresses of objects are left out.
    """
    try:
        written = str.__str__(str(text))  # a subclass may override any method
        # A text of a hundred megabytes is cut before it is split.
        joined = " ".join(written[: 100 * limit].split()) + (" ..." if len(written) > 100 * limit else "")
    except Exception:
        return "(no message)"
    return _cut(harmless(_cut(_ADDRESS.sub("", joined), limit)), limit)


def quote_words(text: object, limit: int = 200) -> str:
    """Return what a bot says as a quotation on one line: ``says: "..."``; its own quotes cannot end it."""
    return 'says: "' + one_line(text, limit).replace('"', "'") + '"'


def describe_raised(error: BaseException) -> str:
    """Return that a bot raised ``error``, with the message as a quotation."""
    kind = type(error).__name__
    message = one_line(error)
    return f"raised {kind if kind.isidentifier() else 'an error'}" + (f" ({quote_words(message)})" if message else "")


def cell(text: str) -> str:
    """Return ``text`` for a cell of a CSV file: escaped, and not a formula to a spreadsheet."""
    shown = harmless(text)
    return f"'{shown}" if text[:1] and text[0] in _FORMULA else shown


def markdown(text: str) -> str:
    """Return ``text`` for a line or a cell of Markdown: escaped, without markup or HTML."""
    return _MARKDOWN.sub(r"\\\1", harmless(text))


def docstring(text: str) -> str:
    """Return ``text`` for a docstring in generated code: escaped, without quotes or backslashes."""
    return harmless(text).replace("\\", "/").replace('"', "'")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - len(_ELLIPSIS)] + _ELLIPSIS
