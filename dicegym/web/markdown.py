"""Markdown and reStructuredText as parts of pages. HTML in them is shown as text; no files are included."""

from __future__ import annotations

import functools
import itertools
import re
from html import escape
from typing import TYPE_CHECKING, Any

from dicegym.arena.pages.template import trust

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
"""A line of a card with a picture; pages draw the curve themselves."""


def render_card(text: str) -> Any:
    """Return a model's card, which is untrusted Markdown, as markup without pictures.

    HTML in it is shown as text, and links of unsafe schemes such as ``javascript:`` are dropped.
    """
    reader = _reader()
    tokens = reader.parse(_PICTURE.sub("", text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"  # below the page's own headings
    return trust(_scrollable(reader.renderer.render(tokens, reader.options, {}), "Table of the card"))


@functools.cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def plain_as_html(text: str, label: str) -> Any:
    """Return reStructuredText, such as a section of a rules page, as markup; ``label`` names its tables."""
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
    plain = re.sub(r' (?:style="[^"]*"|class="head")|<colgroup>.*?</colgroup>', "", html, flags=re.DOTALL)
    return trust(_scrollable(plain, label))


def _scrollable(html: str, label: str) -> str:
    """Wrap each table in a named region that scrolls if it is wider than the page."""
    count = itertools.count(1)

    def open_region(found: re.Match[str]) -> str:
        number = next(count)
        called = escape(label) + (f", {number}" if number > 1 else "")
        return f'<div class="wide" role="region" aria-label="{called}" tabindex="0">{found[0]}'

    return re.sub("<table", open_region, html).replace("</table>", "</table></div>")
