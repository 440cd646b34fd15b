"""Curves over axes as SVG, with bands, for pages and notebooks. Pages colour them by classes for light and dark mode.

Lines also differ in their dashes, so that no colours are needed to distinguish them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dicegym.pictures.svg import Drawing, Tile, element, text

WIDTH, HEIGHT = 420, 250
"""In pixels of a phone, so that letters are readable there."""
LEFT, END, TOP, BASE = 52, WIDTH - 14, 26, HEIGHT - 40
"""Edges of the curves."""
LETTERS = 11.5
MOST_TICKS = 6
"""Numbers on an axis."""
MOST_POINTS = 400
"""Visible points of a line."""
GREY, GRID = "#57606a", "#d0d7de"
COLOURS = ("#0b5cad", "#b35900", "#1a7f37", "#8250df", "#a4262c", "#0a7d8c", "#7f5539", "#57606a")
"""By the number of a line; style sheets may override the classes ``line-0``, ``line-1``, ..."""
DASHES = (None, "6 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2", "1 3", "8 2 2 2 2 2")
"""By the number of a line."""


class ChartLine(NamedTuple):
    """A curve, and its uncertainty or spread."""

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()
    """(low, high) at each point; gaps where one is not finite. Empty: no band."""


class Axis(NamedTuple):
    """One axis of a chart."""

    title: str
    shown: Callable[[float], str]
    """Formats a number."""
    low: float | None = None
    """A number that the axis always includes."""
    high: float | None = None


class Guide(NamedTuple):
    """A marked value on an axis."""

    at: float
    words: str


class ChartLink(NamedTuple):
    """A point on a curve with a link."""

    x: float
    y: float
    address: str
    words: str
    """Its tooltip."""
    kind: str = ""
    """A class for style sheets."""


def chart(
    title: str,
    lines: Sequence[ChartLine],
    x: Axis,
    y: Axis,
    marks: Sequence[Guide] = (),
    borders: Sequence[Guide] = (),
    points: Sequence[ChartLink] = (),
) -> Drawing:
    """Return curves over axes; values that are not finite are left out.

    Args:
        title: of the chart.
        lines: in the order of their colours and dashes.
        x: the horizontal axis.
        y: the vertical axis.
        marks: levels of ``y``, drawn as thin lines.
        borders: places along ``x``, drawn as lines with words above.
        points: links; a page offers the same links in a table, so the keyboard does not reach them here.
    """
    lines = [_thinned(line) for line in lines]
    spots = [spot for line in lines for spot in line.points]
    ends = [end for line in lines for both in line.band for end in both]
    across = _Scale(x, LEFT, END, [*(at for at, _ in spots), *(border.at for border in borders)])
    up = _Scale(y, BASE, TOP, [*(value for _, value in spots), *ends, *(mark.at for mark in marks)])
    parts = [_rule(LEFT, BASE, END, BASE, "axis")]
    for number in ticks_between(across.low, across.high, MOST_TICKS - 1):
        at = across(number)
        parts += [_rule(at, BASE, at, BASE + 4, "axis"), _letters(x.shown(number), at, BASE + 16, "middle")]
    for number in ticks_between(up.low, up.high):
        at = up(number)
        parts += [_rule(LEFT, at, END, at, "grid"), _letters(y.shown(number), LEFT - 6, at + 4, "end")]
    parts += [_letters(x.title, END, HEIGHT - 6, "end"), _letters(y.title, 2, TOP - 14, "start")]
    for mark in marks:
        at = up(mark.at)
        parts += [_rule(LEFT, at, END, at, "mark", "1 4"), _letters(mark.words, END, at - 3, "end")]
    parts += [_rule(across(border.at), TOP, across(border.at), BASE, "border", "3 3") for border in borders]
    parts += _above([(across(border.at), border.words) for border in borders])
    for place, line in enumerate(lines):
        parts += _curve(place, line, across, up)
    for point in points:
        name = element("title", point.words)
        centre: dict[str, Any] = {"cx": round(across(point.x), 1), "cy": round(up(point.y), 1)}
        dot = element("circle", name, **centre, r=4, class_=f"point {point.kind}".strip())
        around = element("circle", name, **centre, r=9, fill="transparent")
        parts.append(element("a", dot + around, href=point.address, tabindex=-1, aria_label=point.words))
    return Drawing(WIDTH, HEIGHT, (Tile(0, 0, WIDTH, HEIGHT, "".join(parts)),), title)


def swatch(number: int) -> Drawing:
    """Return the sample of a line in a legend."""
    return Drawing(30, 12, (Tile(0, 0, 30, 12, element("line", x1=1, x2=29, y1=6, y2=6, **_stroke(number))),), "")


def ticks_between(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return at most ``most`` multiples of a round step (1, 2 or 5) from ``low`` to ``high``.

    Raises ValueError if ``low`` is not below ``high``.
    """
    if not low < high:
        raise ValueError(f"low={low} is not below high={high}: give the lower number first")
    rough = (high - low) / max(1, most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


class _Scale:
    """Maps the numbers of an axis to positions from ``begin`` to ``end``; it shows from ``low`` to ``high``."""

    def __init__(self, axis: Axis, begin: float, end: float, numbers: Sequence[float]) -> None:
        known = [one for one in (*numbers, axis.low, axis.high) if one is not None and math.isfinite(one)] or [0.0]
        low, high = min(known), max(known)
        if low == high:
            low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        room = 0.04 * (high - low)
        self.low = low if low == axis.low else low - room
        self.high = high if high == axis.high else high + room
        self._begin, self._end = begin, end

    def __call__(self, number: float) -> float:
        return self._begin + (self._end - self._begin) * (number - self.low) / (self.high - self.low)


def _above(borders: Sequence[tuple[float, str]]) -> list[str]:
    """Return the words of borders at these positions, without overlaps.

    They are on the right of a border, or on its left if there is no room.
    """
    found: list[str] = []
    taken = math.inf
    for at, words in sorted(borders, reverse=True):  # the last one, where the model was taken, has priority
        width = 0.6 * LETTERS * len(words)
        begin, anchor = (at, "start") if at + width <= WIDTH else (at - width, "end")
        if begin + width <= taken:
            found.insert(0, _letters(words, at, TOP - 2, anchor))
            taken = begin
    return found


def _thinned(line: ChartLine) -> ChartLine:
    every = math.ceil(len(line.points) / MOST_POINTS)
    if every <= 1:
        return line
    kept = sorted({*range(0, len(line.points), every), len(line.points) - 1})
    return line._replace(points=[line.points[k] for k in kept], band=[line.band[k] for k in kept if line.band])


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str, dashes: str | None = None) -> str:
    """Return a straight line; ``kind`` is its class."""
    ends: dict[str, Any] = {"x1": round(x1, 1), "y1": round(y1, 1), "x2": round(x2, 1), "y2": round(y2, 1)}
    return element("line", **ends, class_=kind, stroke=GRID if kind == "grid" else GREY, stroke_dasharray=dashes)


def _letters(words: str, x: float, y: float, anchor: str) -> str:
    style: dict[str, Any] = {"text_anchor": anchor, "font_size": LETTERS, "class_": "letters", "fill": GREY}
    return text(words, round(x, 1), round(y, 1), **style)


def _stroke(number: int) -> dict[str, Any]:
    colour = {"class_": f"line-{number % len(COLOURS)}", "stroke": COLOURS[number % len(COLOURS)]}
    return colour | {"stroke_dasharray": DASHES[number % len(DASHES)], "stroke_width": 2, "fill": "none"}


def _curve(number: int, line: ChartLine, x: _Scale, y: _Scale) -> list[str]:
    """Return the band, the line and the last point of a curve."""
    stroke = _stroke(number)
    fill: dict[str, Any] = {"class_": f"band-{number % len(COLOURS)}", "fill": stroke["stroke"]}
    points = [(x(at), y(value)) for at, value in line.points if math.isfinite(at) and math.isfinite(value)]
    band = [
        (x(at), y(low), y(high))
        for (at, value), (low, high) in zip(line.points, line.band, strict=False)
        if all(map(math.isfinite, (at, value, low, high)))
    ]
    parts = []
    if len(band) == 1:
        ((at, low, high),) = band
        parts.append(element("line", x1=round(at, 1), x2=round(at, 1), y1=round(low, 1), y2=round(high, 1), **stroke))
    elif band:
        there, back = [(at, high) for at, _, high in band], [(at, low) for at, low, _ in reversed(band)]
        parts.append(element("polygon", points=_places(there + back), **fill, fill_opacity=0.18))
    if len(points) > 1:
        parts.append(element("polyline", points=_places(points), stroke_linejoin="round", **stroke))
    # The end of a curve, or its only point:
    return parts + [element("circle", cx=round(at, 1), cy=round(value, 1), r=3, **fill) for at, value in points[-1:]]


def _places(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
