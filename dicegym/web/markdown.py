"""Markdown and reStructuredText as parts of pages: HTML in them stays text, and nothing is loaded or included."""

from __future__ import annotations

import functools
import itertools
import re
from html import escape
from typing import TYPE_CHECKING, Any

from dicegym.arena.pages.template import trust

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

DEEPEST = 6
"""Level of the least heading that HTML knows."""
LOWERED = 2
"""Levels by which headings of a card are lowered: its page has headings of its own."""
_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
"""A line of a card that shows a picture: pages draw the curve themselves."""


def render_card(text: str) -> Any:
    """Return a model's card, which is anybody's Markdown, as markup without its pictures.

    HTML in it is shown as text, and links lead to nowhere but what browsers open without harm.
    """
    reader = _reader()
    tokens = reader.parse(_PICTURE.sub("", text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST, int(token.tag[1:]) + LOWERED)}"
    return trust(_wide(reader.renderer.render(tokens, reader.options, {}), "Table of the card"))


@functools.cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def plain_as_html(text: str, label: str) -> Any:
    """Return reStructuredText, such as a section of a rules page, as markup; ``label`` names its tables.

    Nothing is included in it, and HTML in it stays text.
    """
    from docutils.core import publish_parts

    settings = {
        "raw_enabled": False,
        "file_insertion_enabled": False,
        "_disable_config": True,
        "initial_header_level": 4,
        "report_level": 5,
        "halt_level": 5,
        "default_role": "literal",
        "smart_quotes": False,
    }
    html = publish_parts(text, writer="html5", settings_overrides=settings)["body"]
    return trust(
        _wide(re.sub(r' (?:style="[^"]*"|class="head")|<colgroup>.*?</colgroup>', "", html, flags=re.DOTALL), label)
    )


def _wide(html: str, label: str) -> str:
    """Let tables scroll where they are wider than the page, each by a name of its own."""
    count = itertools.count(1)

    def open_region(found: re.Match[str]) -> str:
        number = next(count)
        called = escape(label) + (f", {number}" if number > 1 else "")
        return f'<div class="wide" role="region" aria-label="{called}" tabindex="0">{found[0]}'

    return re.sub("<table", open_region, html).replace("</table>", "</table></div>")
