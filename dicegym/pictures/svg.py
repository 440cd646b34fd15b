"""SVG as text: elements, with everything that is put into them escaped, and a drawing made of them."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import NamedTuple

from dicegym.pictures.fonts import FAMILIES

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
"""What XML does not allow, and what turns the direction of a line."""


class Tile(NamedTuple):
    """A rectangle of a drawing: what is in it is drawn within it, and from its upper left corner.

    Pictures of pixels are put together of tiles that were drawn once, since most come again in the next picture.
    """

    x: int
    y: int
    width: int
    height: int
    body: str
    """Elements of SVG."""
    parts: tuple[Tile, ...] = ()
    """The same in smaller tiles, placed within it, where pixels are made of them: words that other lines have too."""


class Drawing(NamedTuple):
    """A picture."""

    width: int
    """In units that are pixels at its own size."""
    height: int
    tiles: tuple[Tile, ...]
    """The lower ones first."""
    title: str
    """What it shows, in words, for viewers that do not see it."""

    @property
    def body(self) -> str:
        """Return its elements of SVG."""
        return "".join(
            tile.body if tile.x == tile.y == 0 else f'<g transform="translate({tile.x} {tile.y})">{tile.body}</g>'
            for tile in self.tiles
        )

    def svg(self) -> str:
        """Return it as a document of its own, which also stands inside a page."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="{FAMILIES}" role="img">'
            f"<title>{escape(self.title)}</title>{self.body}</svg>"
        )

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg()


@lru_cache(maxsize=4096)
def escape(words: str) -> str:
    """Return words as text of SVG: nothing in them is an element, or a sign that a document may not hold."""
    return html.escape(_CONTROL.sub("\ufffd", words))


def element(name: str, content: str = "", **attributes: object) -> str:
    """Return an element; ``content`` is SVG already, names of attributes have ``_`` for ``-``, None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(f"{value:g}" if isinstance(value, float) else str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def text(words: str, x: float, y: float, **attributes: object) -> str:
    """Return a line of text, escaped; ``y`` is where its letters stand."""
    return element("text", escape(words) or " ", x=f"{x:g}", y=f"{y:g}", **attributes)
