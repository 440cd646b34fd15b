"""A chart as a picture that stands alone: on white, with the names of its lines and remarks below it."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.pictures.charts import LETTERS, swatch
from dicegym.pictures.fonts import wrap
from dicegym.pictures.svg import Drawing, Tile, element, text

_LEFT, _NAMES, _ROW, _END = 12, 52, 17, 8
_MOST_LINES = 3
"""That a name or a remark takes."""


def with_legend(drawing: Drawing, names: Sequence[str], remarks: Sequence[str] = ()) -> Drawing:
    """Return a chart with the ``names`` of its lines, in their order, and ``remarks`` below it.

    The first tile is a white ground: a file may be shown on any page, and nobody's style sheet knows it.
    """
    tiles, down = list(drawing.tiles), drawing.height
    for number, name in enumerate(names):
        sign = swatch(number)
        tiles.append(Tile(_LEFT, down + 2, sign.width, sign.height, sign.body))
        down = _lines(tiles, name, _NAMES, down, drawing.width)
    for remark in remarks:
        down = _lines(tiles, remark, _LEFT, down, drawing.width)
    ground = Tile(
        0, 0, drawing.width, down + _END, element("rect", width=drawing.width, height=down + _END, fill="#fff")
    )
    return Drawing(drawing.width, down + _END, (ground, *tiles), drawing.title)


def _lines(tiles: list[Tile], words: str, left: int, down: int, width: int) -> int:
    """Add the lines of some words as tiles; return where what follows begins."""
    room = width - left - _LEFT
    for line in wrap(words, room, round(LETTERS), _MOST_LINES):
        tiles.append(Tile(left, down, room, _ROW, text(line, 0, _ROW - 5, font_size=LETTERS, fill="#24292f")))
        down += _ROW
    return down
