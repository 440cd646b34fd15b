"""Scan a bot's text without parsing it: its imports, definitions and docstring.

A page of brackets can keep a parser busy for minutes, use gigabytes, or end its process. These functions look at each
character a few times, so they are safe without a sandbox. The process that plays the bot compiles it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from dicegym.errors import DicegymError

MOST_NAMES = 2000
"""Allowed imported names of one file."""
LONGEST_SIGNATURE = 4000
"""Characters in which the parentheses of a definition must close."""
_BRANCHES = frozenset({"if", "elif", "else", "try", "except", "finally"})
"""Blocks at the margin whose content belongs to the module."""

_INERT = re.compile(
    r"""
    \#[^\n]*
    | '''(?:[^'\\]++|\\.|'(?!''))*+(?:'''|\Z)?+
    | \"""(?:[^"\\]++|\\.|"(?!""))*+(?:\"""|\Z)?+
    | '(?:[^'\\\n]++|\\.)*+'?+
    | "(?:[^"\\\n]++|\\.)*+"?+
    """,
    re.DOTALL | re.VERBOSE,
)
_IMPORT = re.compile(r"(?:^|[;:])[ \t\f]*(from|import)\b([^\n;()]*)(?:\(([^()]*))?", re.MULTILINE)
_LINE = re.compile(r"^([ \t\f]*)(\w+)", re.MULTILINE)
_HEAD = re.compile(r"(?:[ \t\f]*(?:#[^\n]*+)?+\n)*+[rRuU]?")
"""Comments above a docstring, and its prefix."""


class BadFileError(DicegymError):
    """A bot's file cannot be used, or the bot is too large."""


def text_of(data: bytes) -> str:
    """Return a file's text with equal line ends; bytes that are not UTF-8 are replaced."""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _code(text: str) -> str:
    """Return ``text`` with empty strings, without comments, and with continued lines joined."""
    return _INERT.sub("''", text).replace("\\\n", " ")


def imports(data: bytes) -> list[str]:
    """Return the dotted names that a file imports, with ``a.b`` for ``from a import b``.

    Raises BadFileError for more than `MOST_NAMES`.
    """
    if b"import" not in data:
        return []
    names: dict[str, None] = {}
    for match in _IMPORT.finditer(_code(text_of(data))):
        word, rest, inside = match.groups()
        if word == "import":
            found = list(map(_dotted, rest.split(",")))
        else:
            above, these = _split_import(rest)
            module = _dotted(above)
            parts = f"{these},{inside or ''}".split(",")
            found = [module, *(f"{module}.{_dotted(one)}".strip(".") for one in parts)]
        names.update(dict.fromkeys(filter(None, found)))
        if len(names) > MOST_NAMES:
            raise BadFileError(f"imports more than {MOST_NAMES:,} names")
    return list(names)


def _split_import(rest: str) -> tuple[str, str]:
    """Return the text before and after the word ``import``."""
    above, *these = re.split(r"\bimport\b", rest, maxsplit=1)
    return above, "".join(these)


def _dotted(text: str) -> str:
    """Return a module's name without ``as`` and leading dots."""
    words = re.sub(r"\s*\.\s*", ".", text.strip()).split(None, 1)
    return words[0].strip(".") if words else ""


def statements(text: str, *words: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the statements that begin with one of these words: (word, is nested, following text).

    A statement is nested in a class or function; the text ends after `LONGEST_SIGNATURE` characters.
    """
    code = _code(text)
    head = ""
    for match in _LINE.finditer(code):
        if not match[1]:
            head = match[2]
        if match[2] in words:
            inside = bool(match[1]) and head not in _BRANCHES
            yield match[2], inside, code[match.end() : match.end() + LONGEST_SIGNATURE]


def list_imported_names(rest: str) -> list[str]:
    """Return the names that an import defines, by the text after ``from``."""
    found = re.match(r"[^\n;()]*(?:\([^()]*)?", rest)
    pieces = re.split("[,(]", _split_import(found[0])[1] if found else "")
    return [words[-1] if "as" in words else words[0] for words in map(str.split, pieces) if words]


def takes(signature: str, arguments: int, needed: int) -> bool:
    """Return whether a function with this parenthesised signature can be called with ``arguments`` positional ones.

    ``needed`` of them must have no default. Return True if there are no parentheses, or they do not end.
    """
    depth, pieces = 0, [""]
    for one in signature:
        if one in "([{":
            depth += 1
        elif one in ")]}":
            depth -= 1
            if depth <= 0:
                break
        elif one == "," and depth == 1:
            pieces.append("")
        elif depth == 1:
            pieces[-1] += one
        elif depth == 0 and not one.isspace():
            return True
    else:
        return True
    named = [name for name in map(str.strip, pieces) if name not in ("", "/")]
    positional = list(itertools.takewhile(lambda name: name[0] != "*", named))
    rest = named[len(positional) :]
    if any(name[0] != "*" and "=" not in name for name in rest):  # a required keyword
        return False
    any_number = any(name[0] == "*" and name != "*" and name[1] != "*" for name in rest)
    without_default = sum("=" not in name for name in positional)
    return without_default <= arguments and (any_number or (needed <= without_default and arguments <= len(positional)))


def docstring(data: bytes) -> str:
    """Return the docstring of a file, or an empty text."""
    text = text_of(data)
    head = _HEAD.match(text)
    match = _INERT.match(text, head.end() if head else 0)
    if match is None:
        return ""
    quote = match[0][:3] if match[0][:3] in ("'''", '"""') else match[0][:1]
    return "" if quote == "#" else match[0].removeprefix(quote).removesuffix(quote)
