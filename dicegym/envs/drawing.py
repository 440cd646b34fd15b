"""Pictures of a scene: text lines, and dice drawn as dice. Needs Pillow (extra ``render``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.scene import Line, Scene
from dicegym.errors import DependencyError

WIDTH = 760
"""Width of every picture in pixels; the height follows from the number of lines."""
ROW = 64
MARGIN = 20
DIE = 34
GAP = 7
PITCH = 9
"""Pixels from one character of a line's text to the next, where there is room."""

_BACKGROUND, _ACTIVE, _INK, _FAINT, _FACE = "#0b5d3b", "#13804f", "#ffffff", "#b9d8c8", "#fdfcf5"
_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)),
}
"""Face -> (column, row) of its pips on a three by three grid."""


def draw_scene(scene: Scene) -> np.ndarray:
    """Return ``scene`` as a picture: uint8[height, WIDTH, 3]. Raises DependencyError without Pillow."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise DependencyError.for_extra("Pillow", "render", "render_mode='rgb_array'") from error
    big, small = ImageFont.load_default(22), ImageFont.load_default(16)
    height = 2 * MARGIN + 40 + ROW * len(scene.lines) + 34
    image = Image.new("RGB", (WIDTH, height), _BACKGROUND)
    pen = ImageDraw.Draw(image)
    pen.text((MARGIN, MARGIN), scene.title, fill=_INK, font=big)
    for number, line in enumerate(scene.lines):
        top = MARGIN + 40 + number * ROW
        if line.active:
            pen.rounded_rectangle((MARGIN // 2, top, WIDTH - MARGIN // 2, top + ROW - 6), 8, fill=_ACTIVE)
        pen.text((MARGIN, top + 6), line.label, fill=_INK, font=small)
        room = WIDTH - 2 * MARGIN - len(line.dice) * (DIE + GAP)
        _draw_fixed(pen, line.text, (MARGIN, top + 30), room, small)
        _draw_dice(pen, line, top + (ROW - 6 - DIE) // 2)
    pen.text((MARGIN, height - MARGIN - 16), scene.footer, fill=_INK, font=small)
    return np.asarray(image)


def _draw_fixed(pen: Any, text: str, place: tuple[int, int], room: int, font: Any) -> None:
    """Draw ``text`` character by character at equal distances, as columns are meant to stand below each other."""
    pitch = min(PITCH, room / max(1, len(text)))
    if pitch < PITCH * 0.8:
        from PIL import ImageFont

        font = ImageFont.load_default(max(8, 16 * pitch / PITCH))
    x, y = place
    for number, character in enumerate(text):
        pen.text((x + number * pitch, y), character, fill=_FAINT, font=font)


def _draw_dice(pen: Any, line: Line, top: int) -> None:
    left = WIDTH - MARGIN - len(line.dice) * (DIE + GAP)
    for face in line.dice:
        pen.rounded_rectangle((left, top, left + DIE, top + DIE), 6, fill=_FACE if face else _FAINT)
        for column, row in _PIPS.get(face, ()):
            x, y = left + 8 + column * 9, top + 8 + row * 9
            pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill="#202020")
        left += DIE + GAP
