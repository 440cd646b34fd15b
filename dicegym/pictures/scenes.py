"""The picture of a scene, line by line, for games without their own picture."""

from __future__ import annotations

from dicegym.engine.scene import Line, Scene
from dicegym.pictures.fonts import measure
from dicegym.pictures.palette import ACTIVE, INK, PANEL, SOFT
from dicegym.pictures.sheet import HEAD, MARGIN, NORMAL, SMALL, WIDTH, Sheet, line_height
from dicegym.pictures.svg import Drawing

ROW, GAP, DIE = 76, 6, 40
"""Height of a line, space between lines, and side of a die."""
FOOT = line_height(NORMAL) + MARGIN
MOST_ROOM = 0.5
"""The share of a line that its dice may take."""


def scene_drawing(scene: Scene) -> Drawing:
    """Return a scene as a picture, with a height for its lines."""
    sheet = Sheet(HEAD + (ROW + GAP) * len(scene.lines) + FOOT, ". ".join(filter(None, (scene.title, scene.footer))))
    sheet.head(scene.title)
    for number, line in enumerate(scene.lines):
        _put(sheet, line, HEAD + number * (ROW + GAP))
    sheet.words(scene.footer, MARGIN, sheet.height - FOOT, WIDTH - 2 * MARGIN, least=SMALL - 4)
    return sheet.drawing()


def _put(sheet: Sheet, line: Line, top: int) -> None:
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, ROW, ACTIVE if line.active else PANEL)
    if line.active:
        sheet.marker(MARGIN, top + 8, 22)
    left, room = MARGIN + 28, WIDTH - 2 * MARGIN - 36
    taken = round(min(len(line.dice) * (DIE + 8), room * MOST_ROOM)) if line.dice else 0
    sheet.dice(line.dice, left + room - taken, top + (ROW - DIE) // 2, taken, DIE, anchor="end")
    room -= taken + (MARGIN if taken else 0)
    if not line.cells:
        sheet.words(line.label, left, top + 6, room, size=NORMAL, bold=True, ink=INK)
        fits = measure(line.text, SMALL) <= room
        size = SMALL if fits else SMALL - 4
        sheet.lines(line.text, left, top + 38, room, 1 if fits else 2, size=size, ink=SOFT)
        return
    heading = "   ".join(filter(None, (line.label, line.text)))
    sheet.words(heading, left, top + 6, room, size=NORMAL, bold=True, ink=INK)
    pitch = room / len(line.cells)
    for number, cell in enumerate(line.cells):
        begin = round(number * pitch)
        width = round((number + 1) * pitch) - begin
        sheet.words(cell, left + begin, top + 40, width, size=SMALL, least=8, ink=SOFT, anchor="end")
