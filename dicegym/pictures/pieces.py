"""Dice, markers, coins and crowns as SVG."""

from __future__ import annotations

from functools import lru_cache

from dicegym.pictures.palette import EDGE, GOLD, HIDDEN, INK, PAPER, WRITING
from dicegym.pictures.svg import element, text

_PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""Face -> (across, down) of its pips from the middle."""
MOST_PIPS = max(_PIPS)


@lru_cache(maxsize=1024)
def die(face: int, side: int) -> str:
    """Return a die in a square of ``side`` units; face 0 is hidden, and faces above 6 are shown as numbers."""
    named = f"die showing {face}" if face else "hidden die"
    edge = max(1.5, side / 24)
    inner = side - edge
    square = element(
        "rect",
        x=edge / 2,
        y=edge / 2,
        width=inner,
        height=inner,
        rx=side / 5,
        fill=PAPER if face else HIDDEN,
        stroke=EDGE,
        stroke_width=edge,
    )
    if 1 <= face <= MOST_PIPS:
        middle, step = side / 2, side / 4.1
        dots = "".join(f"M{middle + across * step:g} {middle + down * step:g}h.01" for across, down in _PIPS[face])
        shown = element("path", d=dots, stroke=WRITING, stroke_width=side / 5.2, stroke_linecap="round")
    else:
        shown = text(
            str(face) if face else "?",
            side / 2,
            side * 0.71,
            font_size=side * 0.6,
            font_weight="bold",
            text_anchor="middle",
            fill=WRITING if face else INK,
        )
    return element("g", f"{element('title', named)}{square}{shown}")


@lru_cache(maxsize=64)
def marker(size: int) -> str:
    """Return the triangle that points at the player to move, in a square of ``size``."""
    return element(
        "path",
        d=f"M{size * 0.2:g} {size * 0.1:g}L{size * 0.9:g} {size / 2:g}L{size * 0.2:g} {size * 0.9:g}Z",
        fill=GOLD,
    )


@lru_cache(maxsize=64)
def coin(size: int) -> str:
    """Return a coin in a square of ``size``."""
    middle = size / 2
    round_ = element("circle", cx=middle, cy=middle, r=middle - 1, fill=GOLD, stroke="#8a6a00", stroke_width=1.5)
    return round_ + element(
        "circle", cx=middle, cy=middle, r=middle * 0.55, fill="none", stroke="#8a6a00", stroke_width=1.5
    )


@lru_cache(maxsize=64)
def crown(size: int) -> str:
    """Return the crown of a winner, in a square of ``size``."""
    points = ((0.08, 0.85), (0.04, 0.25), (0.3, 0.5), (0.5, 0.1), (0.7, 0.5), (0.96, 0.25), (0.92, 0.85))
    path = "M" + "L".join(f"{x * size:g} {y * size:g}" for x, y in points) + "Z"
    return element("path", d=path, fill=GOLD, stroke="#8a6a00", stroke_width=1.5, stroke_linejoin="round")
