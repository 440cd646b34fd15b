"""Curves as SVG."""

from __future__ import annotations

import math
import re
from itertools import pairwise, starmap
from xml.etree import ElementTree

import pytest

from dicegym.pictures.charts import MOST_POINTS, Axis, ChartLine, Guide, chart

X, Y = Axis("steps", "{:g}".format, 0), Axis("score", "{:.1f}".format)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*lines: ChartLine, marks: tuple[Guide, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(chart("what it shows", lines, X, Y, marks).svg())


def test_lines_rise_to_the_right() -> None:
    (line,) = drawn(ChartLine("a", [(0, 0.0), (10, 0.5), (20, 1.0)])).iter(f"{SVG}polyline")
    points = [tuple(map(float, point.split(","))) for point in str(line.get("points")).split()]
    assert points == sorted(points)
    assert [up for _, up in points] == sorted((up for _, up in points), reverse=True)


def test_lines_are_told_apart_without_colours() -> None:
    found = drawn(*(ChartLine(str(number), [(0, number), (1, number)]) for number in range(8)))
    dashes = [line.get("stroke-dasharray") for line in found.iter(f"{SVG}polyline")]
    assert len(set(dashes)) == 8


def test_bands_are_drawn_where_they_are_known() -> None:
    some = [(math.nan, math.nan), (0.1, 0.3), (0.2, 0.4)]
    (band,) = drawn(ChartLine("a", [(0, 0.1), (1, 0.2), (2, 0.3)], some)).iter(f"{SVG}polygon")
    assert len(str(band.get("points")).split()) == 4
    alone = drawn(ChartLine("a", [(0, 0.1)], [(0.0, 0.2)]))
    assert not list(alone.iter(f"{SVG}polygon"))
    assert len(list(alone.iter(f"{SVG}circle"))) == 1


@pytest.mark.parametrize(
    "points", [[], [(0, 0)], [(0, math.nan)], [(0, math.inf), (1, 1)], [(5, 5), (5, 5)], [(0, -1e12), (1, 1e12)]]
)
def test_odd_numbers_never_break_a_chart(points: list[tuple[float, float]]) -> None:
    text = ElementTree.tostring(drawn(ChartLine("a", points), marks=(Guide(0.5, "half"),)), "unicode")
    assert "nan" not in text
    assert "inf" not in text


def test_long_curves_stay_small_and_keep_their_end() -> None:
    (line,) = drawn(ChartLine("a", [(at, at) for at in range(10_000)])).iter(f"{SVG}polyline")
    assert len(str(line.get("points")).split()) <= MOST_POINTS + 1


def test_words_of_others_are_text() -> None:
    svg = chart("<script>", [ChartLine("a", [(0, 1)])], Axis("<b>", str), Y, [Guide(1, "<i>")]).svg()
    assert "<script>" not in svg
    assert "<b>" not in svg
    assert "<i>" not in svg


@pytest.mark.parametrize(
    ("borders", "shown"),
    [
        ({0: "stage 1", 70: "stage 2"}, {"stage 1": 0, "stage 2": 70}),
        ({0: "stage 1", 10: "stage 2", 16: "stage 3, this model"}, {"stage 1": 0, "stage 3, this model": 16}),
        ({0: "stage 1", 30: "stage 2", 55: "this model"}, {"stage 1": 0, "stage 2": 30, "this model": 55}),
        # words that have no room on the right of a border stand on its left
        ({0: "stage 1", 70: "stage 2", 95: "this model"}, {"stage 1": 0, "this model": 95}),
        ({0: "stage 1", 50: "stage 2", 80: "stage 3, this model"}, {"stage 1": 0, "stage 3, this model": 80}),
        ({0: "1", 74: "5", 94: "this model"}, {"1": 0, "this model": 94}),
    ],
)
def test_words_above_borders_do_not_lie_on_each_other(borders: dict[int, str], shown: dict[str, int]) -> None:
    guides = list(starmap(Guide, borders.items()))
    svg = chart("", [ChartLine("a", [(0, 0), (100, 1)])], Axis("", str, 0), Y, (), guides).svg()
    found = re.findall(r'<text x="([^"]*)" y="24" text-anchor="(start|end)"[^>]*>([^<]*)</text>', svg)
    assert [words for *_, words in found] == list(shown)
    spans = [(float(x) - (len(w) * 6.9 if side == "end" else 0), len(w) * 6.9) for x, side, w in found]
    assert all(one + width <= other for (one, width), (other, _) in pairwise(spans))
    rules = dict(zip(borders, map(float, re.findall(r'<line [^>]*x1="([^"]*)"[^>]*class="border"', svg)), strict=True))
    assert [float(x) for x, *_ in found] == pytest.approx([rules[at] for at in shown.values()], abs=0.1)
