"""Pictures of a scene: text lines, and dice drawn as dice. Needs Pillow (extra ``render``)."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.scene import Line, Scene
from dicegym.errors import DependencyError

BLOCK = 16
"""Width and height are multiples of so many pixels, in which videos are encoded."""
WIDTH = 48 * BLOCK
"""Width of every picture in pixels; the height follows from the number of lines, which is a game's own."""
HEAD, ROW, FOOT, MARGIN = 60, 72, 54, 20
BAR = ROW - 6
"""Height of what a line is drawn in."""
TEXT_TOP = 28
"""Where in its line the text begins, below the label."""
PITCH = 44
"""Pixels from one column of cells to the next, where there is room."""
SPACE = 0.3
"""Width of a space, in sizes of the letters."""

_BACKGROUND, _ACTIVE, _INK, _FAINT, _FACE, _PIP = "#0b5d3b", "#13804f", "#ffffff", "#d3e8dc", "#fdfcf5", "#202020"
_TITLE, _TEXT, _SMALLEST = 22, 16, 11
_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)),
}
"""Face -> (column, row) of its pips on a three by three grid."""


class _Dice(NamedTuple):
    """How the dice of a line are laid out."""

    rows: int
    columns: int
    side: int
    gap: int

    @property
    def width(self) -> int:
        """Pixels from the left edge of the dice to the margin, the space before them included."""
        return self.columns * (self.side + self.gap) + (MARGIN if self.columns else 0)


def draw_scene(scene: Scene) -> np.ndarray:
    """Return ``scene`` as a picture: uint8[height, WIDTH, 3]. Raises DependencyError without Pillow."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise DependencyError.for_extra("Pillow", "render", "render_mode='rgb_array'") from error
    height = -(-(HEAD + ROW * len(scene.lines) + FOOT) // BLOCK) * BLOCK
    image = Image.new("RGB", (WIDTH, height), _BACKGROUND)
    pen = ImageDraw.Draw(image)
    _write(pen, scene.title, (MARGIN, MARGIN), (WIDTH - 2 * MARGIN, HEAD - MARGIN), _INK, _TITLE)
    for number, line in enumerate(scene.lines):
        _draw_line(pen, line, HEAD + number * ROW)
    _write(pen, scene.footer, (MARGIN, height - 36), (WIDTH - 2 * MARGIN, 30), _INK, _TEXT)
    return np.asarray(image)


def _draw_line(pen: Any, line: Line, top: int) -> None:
    if line.active:
        pen.rounded_rectangle((MARGIN // 2, top, WIDTH - MARGIN // 2, top + BAR), 8, fill=_ACTIVE)
    dice = _layout(len(line.dice))
    room = WIDTH - 2 * MARGIN - dice.width
    _put(pen, line.label, MARGIN, top + 6, _INK, _TEXT)
    below = top + TEXT_TOP
    _write(pen, line.text, (MARGIN, below), (room, BAR - TEXT_TOP), _FAINT, _TEXT)
    if line.cells:
        left = _length(line.text, _TEXT) + MARGIN if line.text else 0
        pitch = min(PITCH, (room - left) / len(line.cells))
        for number, cell in enumerate(line.cells, 1):
            place = (MARGIN + left + number * pitch, below + 4)
            pen.text(place, cell, fill=_FAINT, font=_font(_TEXT), anchor="ra")
    _draw_dice(pen, line.dice, dice, top)


def _layout(number: int) -> _Dice:
    """Return where ``number`` dice go: side by side, or where they would leave no room for words in two rows."""
    if number <= 6:
        return _Dice(1, number, 34, 7)
    return _Dice(2, (number + 1) // 2, 27, 6)


def _draw_dice(pen: Any, faces: tuple[int, ...], dice: _Dice, top: int) -> None:
    side, step = dice.side, dice.side + dice.gap
    first = WIDTH - MARGIN - dice.columns * step + dice.gap
    above = top + (BAR - dice.rows * step + dice.gap) // 2
    for number, face in enumerate(faces):
        row, column = divmod(number, dice.columns)
        left, upper = first + column * step, above + row * step
        pen.rounded_rectangle((left, upper, left + side, upper + side), side // 6, fill=_FACE if face else _FAINT)
        for across, down in _PIPS.get(face, ()):
            x, y = left + side / 2 + (across - 1) * side / 3.8, upper + side / 2 + (down - 1) * side / 3.8
            pen.ellipse((x - side / 11, y - side / 11, x + side / 11, y + side / 11), fill=_PIP)


def _write(pen: Any, text: str, place: tuple[int, int], room: tuple[int, int], ink: str, size: int) -> None:
    """Write ``text`` in letters of ``size``, or smaller until its lines fit into the room; cut what never does."""
    width, height = room
    while True:
        spacing = size * 1.25
        lines = _wrapped(text, width, size)
        if len(lines) * spacing <= height or size == _SMALLEST:
            break
        size -= 1
    most = max(1, int(height / spacing))
    if len(lines) > most:
        last = lines[most - 1]
        while last and _length(f"{last} ...", size) > width:
            last = last[:-1]
        lines = [*lines[: most - 1], f"{last} ..."]
    for number, line in enumerate(lines):
        _put(pen, line, place[0], place[1] + number * spacing, ink, size)


def _put(pen: Any, text: str, x: float, y: float, ink: str, size: int) -> None:
    """Write one line, word by word: the font's own spaces are so narrow that words run together."""
    for word in text.split(" "):
        pen.text((x, y), word, fill=ink, font=_font(size))
        x += _word_length(word, size) + size * SPACE


def _length(text: str, size: int) -> float:
    """Return the pixels that `_put` takes for ``text``."""
    words = text.split(" ")
    return sum(_word_length(word, size) for word in words) + size * SPACE * (len(words) - 1)


@lru_cache(maxsize=4096)
def _word_length(word: str, size: int) -> float:
    return float(_font(size).getlength(word))


def _wrapped(text: str, width: float, size: int) -> list[str]:
    """Return ``text`` in lines of at most ``width``, broken at spaces, those inside a line kept as they are."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and _length(longer.rstrip(), size) > width:
            lines.append(line.rstrip())
            longer = word
        line = longer
    return [*lines, line]


@cache
def _font(size: int) -> Any:
    """Return Pillow's own font; reading it takes longer than drawing a picture."""
    from PIL import ImageFont

    return ImageFont.load_default(size)
