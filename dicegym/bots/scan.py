"""What a bot's text says, found without parsing it: which modules it imports, what it defines, what it says of itself.

A parser can be made to take minutes and gigabytes, or to end its process, by a page of brackets. What stands here looks
at each character a few times, and so may be used where nothing guards; the process that plays the bot compiles it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dicegym.errors import DicegymError

MOST_NAMES = 2000
"""Names that one file may import."""
LONGEST_SIGNATURE = 4000
"""Characters within which the parentheses of a definition must close."""
_BRANCHES = frozenset({"if", "elif", "else", "try", "except", "finally"})
"""What stands under these at the margin belongs to the module too."""

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
"""What may stand above a file's docstring, and the letter of one."""


class BadFileError(DicegymError):
    """A file of a bot may not be read, or the bot is made of too much."""


def text_of(data: bytes) -> str:
    """Return a file's text as Python reads it, ends of lines made equal; what is not UTF-8 is replaced."""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _code(text: str) -> str:
    """Return ``text`` with its strings emptied, without comments and with its continued lines joined."""
    return _INERT.sub("''", text).replace("\\\n", " ")


def imports(data: bytes) -> list[str]:
    """Return the dotted names that a file imports, and those that may be modules: each ``a.b`` of ``from a import b``.

    Raises BadFileError if they are more than `MOST_NAMES`.
    """
    if b"import" not in data:
        return []
    names: dict[str, None] = {}
    for match in _IMPORT.finditer(_code(text_of(data))):
        word, rest, inside = match.groups()
        if word == "import":
            found = list(map(_dotted, rest.split(",")))
        else:
            above, _, these = rest.rpartition("import")
            module = _dotted(above)
            parts = f"{these},{inside or ''}".split(",")
            found = [module, *(f"{module}.{_dotted(one)}".strip(".") for one in parts)]
        for name in found:
            if name:
                names[name] = None
                if len(names) > MOST_NAMES:
                    raise BadFileError(f"imports more than {MOST_NAMES:,} names")
    return list(names)


def _dotted(text: str) -> str:
    """Return a module's name without what stands around it, ``as`` and the dots in front included."""
    words = re.sub(r"\s*\.\s*", ".", text.strip()).split(None, 1)
    return words[0].strip(".") if words else ""


def statements(text: str, *words: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the statements that begin a line with one of these words.

    Each is (word, whether it belongs to something else than the module, such as a class, what follows the word), the
    last to the end of the text or `LONGEST_SIGNATURE`.
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
    """Return the names that are known by what follows ``from``."""
    found = re.match(r"[^\n;()]*(?:\([^()]*)?", rest)
    pieces = re.split("[,(]", found[0].partition("import")[2] if found else "")
    return [words[-1] if "as" in words else words[0] for words in map(str.split, pieces) if words]


def takes(signature: str, arguments: int, needed: int = 0) -> bool | None:
    """Return whether a function with the parentheses in front can be called with this number of positional arguments.

    It must have ``needed`` of them without a default. Returns None if there are no parentheses, or they do not end.
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
            return None
    else:
        return None
    named = [piece.strip() for piece in pieces]
    stars = [number for number, piece in enumerate(named) if re.match(r"\*(?!\*)", piece)]
    end = next((number for number, piece in enumerate(named) if piece.startswith("*")), len(named))
    positional = [piece for piece in named[:end] if piece and piece != "/"]
    without_default = sum("=" not in piece for piece in positional)
    by_name = [piece for piece in named[stars[0] + 1 :] if piece and piece[0] != "*"] if stars else []
    any_number = bool(stars) and named[stars[0]] != "*"
    return (
        (needed <= without_default or any_number)
        and without_default <= arguments
        and (any_number or arguments <= len(positional))
        and all("=" in piece for piece in by_name)
    )


def docstring(data: bytes) -> str:
    """Return what a file says of itself, as it is written there; empty if it says nothing."""
    text = text_of(data)
    head = _HEAD.match(text)
    match = _INERT.match(text, head.end() if head else 0)
    if match is None:
        return ""
    quote = match[0][:3] if match[0][:3] in ("'''", '"""') else match[0][:1]
    return "" if quote == "#" else match[0].removeprefix(quote).removesuffix(quote)
