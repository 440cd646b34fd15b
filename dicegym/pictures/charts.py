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
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 26, 40
LETTERS = 11.5
MOST_TICKS = 6
"""Numbers on an axis."""
MOST_POINTS = 400
"""Visible points of a line."""
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
    placed_x = _Scale([*(spot[0] for spot in spots), *(border.at for border in borders)], x, LEFT, WIDTH - RIGHT)
    placed_y = _Scale([*(spot[1] for spot in spots), *ends, *(mark.at for mark in marks)], y, HEIGHT - BOTTOM, TOP)
    parts = [*_across(placed_x, x), *_up(placed_y, y)]
    for mark in marks:
        at = placed_y.at(mark.at)
        parts.append(_rule((LEFT, at), (WIDTH - RIGHT, at), "mark", stroke_dasharray="1 4"))
        parts.append(_letters(mark.words, WIDTH - RIGHT, at - 3, "end"))
    for border in borders:
        at = placed_x.at(border.at)
        parts.append(_rule((at, TOP), (at, HEIGHT - BOTTOM), "border", stroke_dasharray="3 3"))
    parts += [_letters(words, at, TOP - 2, anchor) for words, at, anchor in _above(borders, placed_x)]
    for number, line in enumerate(lines):
        parts += _drawn(number, line, placed_x, placed_y)
    for point in points:
        place = {"cx": round(placed_x.at(point.x), 1), "cy": round(placed_y.at(point.y), 1)}
        dot = element("circle", element("title", point.words), **place, r=4, class_=f"point {point.kind}".strip())
        around = element("circle", element("title", point.words), **place, r=9, fill="transparent")
        parts.append(element("a", dot + around, href=point.address, tabindex=-1, aria_label=point.words))
    return Drawing(WIDTH, HEIGHT, (Tile(0, 0, WIDTH, HEIGHT, "".join(parts)),), title)


def swatch(number: int) -> Drawing:
    """Return the sample of a line in a legend."""
    stroke = _stroke(number)
    return Drawing(30, 12, (Tile(0, 0, 30, 12, element("line", "", x1=1, x2=29, y1=6, y2=6, **stroke)),), "")


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
    """Maps numbers to positions along an axis."""

    def __init__(self, numbers: Sequence[float], axis: Axis, begin: float, end: float) -> None:
        bounds = [one for one in (axis.low, axis.high) if one is not None]
        known = [*filter(math.isfinite, numbers), *bounds] or [0.0]
        low, high = min(known), max(known)
        if low == high:
            low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        room = 0.04 * (high - low)
        self.low = low if low == axis.low else low - room
        self.high = high if high == axis.high else high + room
        self._begin, self._end = begin, end

    def at(self, number: float) -> float:
        return self._begin + (self._end - self._begin) * (number - self.low) / (self.high - self.low)


def _span(words: str, at: float) -> tuple[float, float]:
    """Return the extent of a border's words: on its right, or on its left if there is no room."""
    width = 0.6 * LETTERS * len(words)
    return (at, at + width) if at + width <= WIDTH else (at - width, at)


def _above(borders: Sequence[Guide], scale: _Scale) -> list[tuple[str, float, str]]:
    """Return (words, position, anchor) of the borders, without overlaps."""
    found: list[tuple[str, float, str]] = []
    taken = math.inf
    for border in sorted(borders, key=lambda one: -one.at):  # the last one, where the model was taken, has priority
        at = scale.at(border.at)
        begin, end = _span(border.words, at)
        if end <= taken:
            found.append((border.words, at, "start" if begin == at else "end"))
            taken = begin
    return found[::-1]


def _thinned(line: ChartLine) -> ChartLine:
    every = math.ceil(len(line.points) / MOST_POINTS)
    if every <= 1:
        return line
    kept = sorted({*range(0, len(line.points), every), len(line.points) - 1})
    return line._replace(
        points=[line.points[k] for k in kept], band=[line.band[k] for k in kept] if line.band else line.band
    )


def _rule(begin: tuple[float, float], end: tuple[float, float], kind: str, **more: object) -> str:
    (x1, y1), (x2, y2) = ((f"{across:.1f}", f"{up:.1f}") for across, up in (begin, end))
    given = {"class_": kind, "stroke": "#57606a"} | more
    return element("line", "", x1=x1, y1=y1, x2=x2, y2=y2, **given)


def _letters(words: str, x: float, y: float, anchor: str, **more: object) -> str:
    return text(
        words, round(x, 1), round(y, 1), text_anchor=anchor, font_size=LETTERS, class_="letters", fill="#57606a", **more
    )


def _across(scale: _Scale, axis: Axis) -> list[str]:
    base = HEIGHT - BOTTOM
    parts = [_rule((LEFT, base), (WIDTH - RIGHT, base), "axis")]
    for tick in ticks_between(scale.low, scale.high, MOST_TICKS - 1):
        at = scale.at(tick)
        parts.append(
            element("line", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=base, y2=base + 4, class_="axis", stroke="#57606a")
        )
        parts.append(_letters(axis.shown(tick), round(at, 1), base + 16, "middle"))
    return [*parts, _letters(axis.title, WIDTH - RIGHT, HEIGHT - 6, "end")]


def _up(scale: _Scale, axis: Axis) -> list[str]:
    parts = []
    for tick in ticks_between(scale.low, scale.high):
        at = scale.at(tick)
        parts.append(_rule((LEFT, at), (WIDTH - RIGHT, at), "grid", stroke="#d0d7de"))
        parts.append(_letters(axis.shown(tick), LEFT - 6, at + 4, "end"))
    return [*parts, _letters(axis.title, 2, TOP - 14, "start")]


def _stroke(number: int) -> dict[str, object]:
    return {
        "class_": f"line-{number % len(COLOURS)}",
        "stroke": COLOURS[number % len(COLOURS)],
        "stroke_dasharray": DASHES[number % len(DASHES)],
        "stroke_width": 2,
        "fill": "none",
    }


def _fill(number: int) -> dict[str, Any]:
    colour = number % len(COLOURS)
    return {"class_": f"band-{colour}", "fill": COLOURS[colour]}


def _drawn(number: int, line: ChartLine, x: _Scale, y: _Scale) -> list[str]:
    parts = []
    ends = [
        (point[0], *both)
        for point, both in zip(line.points, line.band, strict=False)
        if all(map(math.isfinite, (*point, *both)))
    ]
    if len(ends) > 1:
        there = [f"{x.at(at):.1f},{y.at(high):.1f}" for at, _, high in ends]
        back = [f"{x.at(at):.1f},{y.at(low):.1f}" for at, low, _ in reversed(ends)]
        parts.append(element("polygon", points=" ".join(there + back), **_fill(number), fill_opacity=0.18))
    elif ends:
        ((at, low, high),) = ends
        place = f"{x.at(at):.1f}"
        parts.append(
            element("line", "", x1=place, x2=place, y1=f"{y.at(low):.1f}", y2=f"{y.at(high):.1f}", **_stroke(number))
        )
    points = [(x.at(at), y.at(value)) for at, value in line.points if math.isfinite(at) and math.isfinite(value)]
    if len(points) > 1:
        places = " ".join(f"{at:.1f},{value:.1f}" for at, value in points)
        parts.append(element("polyline", "", points=places, stroke_linejoin="round", **_stroke(number)))
    for at, value in points[-1:]:  # the end of a curve, or its only point
        parts.append(element("circle", cx=f"{at:.1f}", cy=f"{value:.1f}", r=3, **_fill(number)))
    return parts
