"""A canvas for rectangles, fitted text and dice; later ones cover earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.pictures import pieces
from dicegym.pictures.fonts import fit, measure, wrap
from dicegym.pictures.palette import FELT, GOLD, INK
from dicegym.pictures.svg import Drawing, Tile, element, text

BLOCK = 16
"""Widths and heights of drawings are multiples of it, as videos are encoded in blocks of pixels."""
WIDTH = 40 * BLOCK
"""Width of every drawing of a game. A phone shows it at half the size, so letters should be `SMALL` or larger."""
MARGIN = 16
SMALL, NORMAL, LARGE = 18, 22, 28
"""Sizes of letters."""
LINE = 1.3
"""Height of a line, in sizes of its letters."""
ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def line_height(size: int) -> int:
    """Return the height of a line."""
    return round(size * LINE)


class Sheet:
    """A table of felt to draw on.

    Args:
        height: in units, rounded up to a multiple of `BLOCK`.
        title: a description of the drawing.
    """

    def __init__(self, height: int, title: str) -> None:
        self.width, self.height = WIDTH, -(-height // BLOCK) * BLOCK
        self.title = title
        self._tiles: list[Tile] = []
        self.put(0, 0, self.width, self.height, element("rect", width=self.width, height=self.height, fill=FELT))

    def put(self, x: int, y: int, width: int, height: int, body: str) -> None:
        """Put SVG elements, drawn from (0, 0), into a rectangle."""
        self._tiles.append(Tile(x, y, width, height, body))

    def panel(self, x: int, y: int, width: int, height: int, fill: str, *, radius: int = 10) -> None:
        """Put a rounded rectangle."""
        self.put(x, y, width, height, element("rect", x=0, y=0, width=width, height=height, rx=radius, fill=fill))

    def words(
        self,
        words: str,
        x: int,
        y: int,
        width: int,
        *,
        size: int = NORMAL,
        least: int | None = None,
        bold: bool = False,
        ink: str = INK,
        anchor: str = "start",
    ) -> None:
        """Put a line of text into a place of ``width`` with its upper left corner at (x, y).

        Text that is too wide gets smaller, down to ``least`` (default: its size), and is then cut with an ellipsis.
        ``anchor`` is its alignment: start, middle or end.
        """
        if not words:
            return
        while least is not None and size > least and measure(words, size, bold) > width:
            size -= 1
        line = fit(words, width, size, bold)
        style = {"font_size": size, "fill": ink, "font_weight": "bold" if bold else None}
        side = None if anchor == "start" else anchor
        body = text(line, width * ANCHORS[anchor], size, **style, text_anchor=side)
        parts, at = [], (width - measure(line, size, bold)) * ANCHORS[anchor]
        for word in line.split(" "):
            long = measure(word, size, bold)
            letters = text(word, 1, size, **style)
            parts.append(Tile(round(at) - 1, 0, round(long) + 3, line_height(size), letters))
            at += long + measure(" ", size, bold)
        self._tiles.append(Tile(x, y, width, line_height(size), body, tuple(parts)))

    def lines(self, words: str, x: int, y: int, width: int, number: int, *, size: int = NORMAL, ink: str = INK) -> None:
        """Put text in at most ``number`` lines, broken at spaces."""
        for place, line in enumerate(wrap(words, width, size, number)):
            self.words(line, x, y + place * line_height(size), width, size=size, ink=ink)

    def die(self, face: int, x: int, y: int, side: int) -> None:
        """Put a die; see `dicegym.pictures.pieces.die`."""
        self.put(x, y, side, side, pieces.die(face, side))

    def dice(
        self, faces: Sequence[int], x: int, y: int, width: int, side: int, *, gap: int = 8, anchor: str = "start"
    ) -> None:
        """Put dice side by side into a place of ``width``; many dice move closer, and then overlap."""
        if not faces:
            return
        step = min(side + gap, (width - side) // max(1, len(faces) - 1))
        taken = side + step * (len(faces) - 1)
        left = x + round((width - taken) * ANCHORS[anchor])
        for number, face in enumerate(faces):
            self.die(face, left + number * step, y, side)

    def marker(self, x: int, y: int, size: int) -> None:
        """Put the triangle that points at the player to move."""
        self.put(x, y, size, size, pieces.marker(size))

    def crown(self, x: int, y: int, size: int) -> None:
        """Put the crown of a winner."""
        self.put(x, y, size, size, pieces.crown(size))

    def bar(self, x: int, y: int, width: int, height: int, share: float, *, ground: str) -> None:
        """Put a bar with the ``share`` (0 to 1) filled."""
        body = element("rect", width=width, height=height, rx=height / 2, fill=ground)
        done = round(width * min(max(share, 0.0), 1.0))
        if done:
            body += element("rect", width=max(done, height), height=height, rx=height / 2, fill=GOLD)
        self.put(x, y, width, height, body)

    def head(self, left: str, right: str = "") -> int:
        """Put a headline, with text at its right end; return its height."""
        given = min(measure(right, NORMAL), self.width * 0.6) if right else 0.0
        room = self.width - 2 * MARGIN
        self.words(left, MARGIN, 10, room - round(given) - (MARGIN if right else 0), size=LARGE, least=SMALL, bold=True)
        self.words(right, MARGIN, 14, room, anchor="end")
        return HEAD

    def drawing(self) -> Drawing:
        """Return the drawing."""
        return Drawing(self.width, self.height, tuple(self._tiles), self.title)


HEAD = 54
"""Height of a headline."""
