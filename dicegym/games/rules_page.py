"""The rules page of a game, which is the docstring of its ``rules.py``, and its sections."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

from dicegym import games

_BORDER = re.compile(r"\s*=+( +=+)*")
TERM = re.compile(r"([A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}): ")
"""The start of a line that explains a term."""


def rules_page(name: str) -> str:
    """Return the rules page of a game. Raises UnknownNameError."""
    return inspect.cleandoc(sys.modules[games.spec(name).module].__doc__ or "") + "\n"


def title_of(page: str) -> tuple[str, str]:
    """Return (title, kind of game), from the first line of a rules page."""
    title, _, kind = page.strip().partition("\n")[0].partition(": ")
    return title, kind


def sections(page: str) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of each section: a paragraph at the left margin, with all indented text below it."""
    _, _, text = page.strip().partition("\n\n")
    for block in re.split(r"\n\n(?=[A-Z])", f"\n\n{text}"):
        first, _, rest = block.strip("\n").partition("\n")
        title, colon, tail = first.partition(": ")
        if colon:
            tail = tail[:1].upper() + tail[1:]
            indented = rest.startswith("    ")
            yield title, f"{tail}\n\n{inspect.cleandoc(rest)}" if indented else f"{tail}\n{rest}"
        elif rest.startswith("    "):
            yield first, inspect.cleandoc(rest)
        elif first:
            head, _, more = f"{first}\n{rest}".partition(" ")
            yield head.rstrip(",:"), f"{head} {more}"


def apart(text: str) -> str:
    """Return ``text`` with blank lines below each table and above each line such as "Hog wild: the dice ...".

    Markdown needs them; the docstring is shorter without.
    """
    lines: list[str] = []
    borders = 0  # of the present table: it has one above the heads, one below them and one at the end
    for line in text.splitlines():
        if borders == 3 and line:
            lines.append("")
        borders = 0 if borders == 3 else borders
        term = TERM.match(line) if borders == 0 else None
        if term:
            lines += ["", f"**{term[1]}**{line[term.end(1) :]}"]
        else:
            lines.append(line)
        borders += _BORDER.fullmatch(line) is not None
    return "\n".join(lines)
