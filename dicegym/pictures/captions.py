"""A picture with words below it: what was done, for films."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.pictures.fonts import wrap
from dicegym.pictures.palette import INK, PANEL
from dicegym.pictures.sheet import BLOCK, MARGIN, SMALL, line_height
from dicegym.pictures.svg import Drawing, Tile, element, text

LINES = 3
"""Lines that a caption has."""
HEIGHT = -(-(LINES * line_height(SMALL) + MARGIN) // BLOCK) * BLOCK


def add_caption(drawing: Drawing, words: Sequence[str]) -> Drawing:
    """Return a drawing with words below it, each entry beginning a line; all captions are of one height."""
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
