"""Markdown and reStructuredText as parts of pages: HTML in them stays text, and nothing is loaded or included."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from dicegym.arena.pages.template import trusted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

DEEPEST = 6
"""Level of the least heading that HTML knows."""
TABLE = '<div class="wide" role="region" aria-label="Table" tabindex="0"><table'
"""How a table begins that may be wider than a telephone."""


def as_html(text: str, below: int = 0) -> Any:
    """Return Markdown as markup; ``below`` says by how many levels its headings are lowered.

    HTML in it is shown as text, pictures are left as links are written, and links lead to nowhere but what browsers
    open without harm.
    """
    tokens = _reader().parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST, int(token.tag[1:]) + below)}"
    html = _reader().renderer.render(tokens, _reader().options, {})
    return trusted(html)


@functools.cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.add_render_rule(
        "table_open", lambda *_: '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>\n'
    )
    reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return reader


def plain_as_html(text: str, level: int) -> Any:
    """Return reStructuredText of ours, such as a section of a rules page, as markup; headings begin at ``level``."""
    from docutils.core import publish_parts

    parts = publish_parts(
        text,
        writer="html5",
        settings_overrides={
            "raw_enabled": False,
            "file_insertion_enabled": False,
            "_disable_config": True,
            "initial_header_level": level,
            "report_level": 5,
            "halt_level": 5,
            "default_role": "literal",
            "smart_quotes": False,
        },
    )
    html = re.sub(r' style="[^"]*"|<colgroup>.*?</colgroup>', "", parts["body"], flags=re.DOTALL)
    html = html.replace("<table", TABLE)
    return trusted(html.replace("</table>", "</table></div>"))
