"""SVG as text: elements with escaped content, and drawings made of them."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import NamedTuple

from dicegym.pictures.fonts import FAMILIES

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
"""Characters that XML forbids, or that change the direction of text."""


class Tile(NamedTuple):
    """A rectangle of a drawing, which clips its content and is its origin.

    Pixel images are composed of tiles that are drawn once, since most tiles reappear in the next picture.
    """

    x: int
    y: int
    width: int
    height: int
    body: str
    """SVG elements."""
    parts: tuple[Tile, ...] = ()
    """The same as smaller tiles inside it, for pixel images: words that reappear in other lines."""


class Drawing(NamedTuple):
    """A picture."""

    width: int
    """In units, which are pixels at its original size."""
    height: int
    tiles: tuple[Tile, ...]
    """Bottom first."""
    title: str
    """A description in words, for screen readers."""

    @property
    def body(self) -> str:
        """Return its SVG elements."""
        return "".join(
            tile.body if tile.x == tile.y == 0 else f'<g transform="translate({tile.x} {tile.y})">{tile.body}</g>'
            for tile in self.tiles
        )

    def svg(self) -> str:
        """Return it as a document, which may also be part of a page."""
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
    """Return words as SVG text, without elements and forbidden characters."""
    return html.escape(_CONTROL.sub("\ufffd", words))


def element(name: str, content: str = "", **attributes: object) -> str:
    """Return an element with SVG ``content``; ``_`` in attribute names becomes ``-``, and None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(f"{value:g}" if isinstance(value, float) else str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def text(words: str, x: float, y: float, **attributes: object) -> str:
    """Return an escaped line of text; ``y`` is its baseline."""
    return element("text", escape(words) or " ", x=f"{x:g}", y=f"{y:g}", **attributes)
