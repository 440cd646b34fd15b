"""Pictures with words below: captions of films, and legends of charts."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.pictures.charts import LETTERS, swatch
from dicegym.pictures.fonts import wrap
from dicegym.pictures.palette import INK, PANEL
from dicegym.pictures.sheet import BLOCK, MARGIN, SMALL, line_height
from dicegym.pictures.svg import Drawing, Tile, element, text

LINES = 3
"""Lines of a caption."""
HEIGHT = -(-(LINES * line_height(SMALL) + MARGIN) // BLOCK) * BLOCK
_LEFT, _NAMES, _ROW, _END = 12, 52, 17, 8
_MOST_LINES = 3
"""Lines of a name or remark."""


def add_caption(drawing: Drawing, words: Sequence[str]) -> Drawing:
    """Return a drawing with a caption of fixed height; each entry begins a line."""
    room = drawing.width - 2 * MARGIN
    lines = [line for entry in words for line in wrap(entry, room, SMALL, LINES)]
    if len(lines) > LINES:
        lines = wrap("   ".join(words), room, SMALL, LINES)
    step = line_height(SMALL)
    body = element("rect", width=drawing.width, height=HEIGHT, fill=PANEL)
    body += "".join(
        text(line, MARGIN, MARGIN // 2 + SMALL + number * step, font_size=SMALL, fill=INK)
        for number, line in enumerate(lines)
    )
    caption = Tile(0, drawing.height, drawing.width, HEIGHT, body)
    title = ". ".join(filter(None, (drawing.title, *words)))
    return Drawing(drawing.width, drawing.height + HEIGHT, (*drawing.tiles, caption), title)


def with_legend(drawing: Drawing, names: Sequence[str], remarks: Sequence[str] = ()) -> Drawing:
    """Return a chart with the ``names`` of its lines, in order, and ``remarks`` below it.

    The first tile is a white background, since the page that shows the file is unknown.
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
    """Add text as tiles; return the position below it."""
    room = width - left - _LEFT
    for line in wrap(words, room, round(LETTERS), _MOST_LINES):
        tiles.append(Tile(left, down, room, _ROW, text(line, 0, _ROW - 5, font_size=LETTERS, fill="#24292f")))
        down += _ROW
    return down
