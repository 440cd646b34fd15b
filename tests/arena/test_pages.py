"""Contests as pages and as CSV: content, names as text, and behaviour in a browser."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from pathlib import Path

import hypothesis
import pytest
from browser import browser
from hypothesis import strategies as st
from page_parts import Parts, check_sealed

from dicegym.arena.csv_tables import csv_text
from dicegym.arena.entries import Disqualified
from dicegym.arena.match_rows import Misplay
from dicegym.arena.pages.contest_page import Bar, ContestPage, Plot, html, make_scale, page_title
from dicegym.arena.pages.template import SHADES
from dicegym.arena.report import Matrix, Report
from dicegym.arena.store.stored_rows import StoredMatch
from dicegym.pictures.charts import ticks_between

EVIL = [
    "<script>document.title = 'gotcha'</script>",
    '"><img src=x onerror="document.title = \'gotcha\'">',
    "</style></script><b>bold</b>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eturned\x1b[31m",
    "=cmd|' /C calc'!A0",
]
PLAIN = ["ann", "bob", "cid"]


def page_of(names: list[str]) -> ContestPage:
    """Return a page on which every text of others is a name."""
    n = len(names)
    rows = [[str(i + 1), name, str((i * 7 + 3) % n), f"{100 * i / n:.1f}%", names[-1]] for i, name in enumerate(names)]
    matrix = Matrix(
        f"Won by {names[0]}",
        names,
        [["." if a == b else str(a) for b in range(n)] for a in range(n)],
        [[None if a == b else (a - b) / n for b in range(n)] for a in range(n)],
    )
    report = Report(
        names[0],
        [(names[0], ["Ranking", "Entry", "Wins", names[0], "Friend"], rows), matrix],
        [Disqualified(name, name) for name in names],
        [str(Misplay(name, tuple(names), 1, 2, name)) for name in names],
        names,
        names,
        [(name, name) for name in names],
    )
    bars = [Bar((str(i + 1), name), f"{10 * i}%", f"{10 * i + 5}%", f"{10 * i + 9}%") for i, name in enumerate(names)]
    matches = [
        StoredMatch(10 - i, "", 0, 1, 9, (name, names[0]), ("", ""), (5, 4), (5.0, 4.0), (0, i), None, None)
        for i, name in enumerate(names)
    ]
    return ContestPage(names[0], report, Plot(names[0], [("5%", names[0])], bars), matches)


def test_names_of_others_are_text_and_nothing_else() -> None:
    plain = [f"{name}, not short" for name in (*PLAIN, *PLAIN)]  # short cells are shown otherwise
    good, bad = Parts(html(page_of(plain))), Parts(html(page_of(EVIL)))
    assert [(tag, sorted(found)) for tag, found in good.tags] == [(tag, sorted(found)) for tag, found in bad.tags]
    for words in (EVIL[0], EVIL[3], "\\u202eturned\\x1b[31m"):
        assert words in bad.text
    assert not {"\u202e", "\x1b"} & {*bad.text}


def test_a_page_needs_nothing_else_and_lets_nothing_else_run() -> None:
    text = html(page_of(PLAIN)._replace(left_out="1,000 others are left out."))
    parts = check_sealed(text)
    links = {value for _, found in parts.tags for key, value in found.items() if key in ("src", "href")}
    assert all(str(link).startswith("#") for link in links)
    assert not re.search("https?:", text)
    for words in ("Disqualified", "against ann, bob, cid, turn 2", "dicegym arena replay 10", "1,000 others"):
        assert words in parts.text, "all there is to say stands there"


def test_a_page_is_called_by_game_format_and_label() -> None:
    report = Report("Hog: 2 entries, seed 1", [])
    assert page_title(report, "round_robin", "Spring #3") == "Hog: round robin (Spring #3)"
    assert page_title(report, "") == "Hog"
    assert "nothing" in html(ContestPage("nothing", Report("nothing", []))), "an empty contest has a page"


@pytest.mark.parametrize("shade", [*(step / SHADES for step in range(-SHADES, SHADES + 1)), -3.0, 7.0, None])
def test_every_shade_has_a_colour(shade: float | None) -> None:
    text = html(ContestPage("a", Report("a", [Matrix("m", ["a"], [["1"]], [[shade]])])))
    (name,) = re.findall(r'<td class="(\w+)">1</td>', text)
    assert f".{name} " in text


@hypothesis.given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 12))
def test_axes_have_round_numbers_within_their_ends(low: float, width: float, most: int) -> None:
    found = ticks_between(low, low + width, most)
    assert len(found) <= most
    assert found == sorted(found)
    assert all(low - 1e-6 * width <= tick <= low + width + 1e-6 * width for tick in found)
    steps = [b - a for a, b in itertools.pairwise(found)]
    assert not steps or max(steps) - min(steps) < 1e-6 * width


def test_bars_stand_where_their_figures_are() -> None:
    at, ticks = make_scale([1.0, 2.0, 3.0, 4.0, 5.0, math.inf])
    assert [at(value) for value in (1, 2, 3, 5, math.inf, -math.inf)] == [
        *("4.00%", "27.00%", "50.00%", "96.00%", "100.00%", "0.00%")
    ]
    assert [text for _, text in ticks] == ["1", "2", "3", "4", "5"]
    at, _ = make_scale([1.0, 1.0])
    assert at(1.0) == "50.00%", "of one value"
    with pytest.raises(ValueError, match="low=3 is not below high=3"):
        ticks_between(3, 3)


def test_csv_has_a_column_for_each_figure_and_no_formulas() -> None:
    full = {"share": 0.1, "could_be": {"best": 1, "worst": 3}, "seats": (4, 5)}
    rows = [{"name": name} | full for name in (*EVIL, "a,b", 'c"d')]
    rows.append({"name": "none", "share": None, "could_be": None, "seats": ()})
    found = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert found[0] == ["name", "share", "could_be.best", "could_be.worst", "seats"]
    assert found[1] == [EVIL[0], "0.1", "1", "3", "4 5"]
    assert found[6][0] == "'" + EVIL[5]
    assert [row[0] for row in found[7:9]] == ["a,b", 'c"d']
    assert found[9] == ["none", "", "", "", ""]
    assert csv_text([]) == "\r\n"


@pytest.mark.xdist_group("browser")
def test_a_page_works_in_a_browser(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(html(page_of([*PLAIN, *EVIL])), encoding="utf-8")
    with browser() as page:
        page.open(file)
        assert page.ask("document.title") == "ann"
        assert page.ask("document.querySelectorAll('details.more[open]').length") == 0
        page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        column = "[...document.querySelector('table.sortable').tBodies[0].rows].map((row) => row.cells[%d].textContent)"
        titles = "document.querySelectorAll('table.sortable th')"
        assert page.ask(column % 0) == [str(i) for i in range(1, 10)]
        for click, order in (("descending", range(8, -1, -1)), ("ascending", range(9))):
            page.ask(f"{titles}[2].querySelector('button').click()")
            assert page.ask(column % 2) == [str(i) for i in order]
            assert page.ask(f"{titles}[2].getAttribute('aria-sort')") == click
        page.ask(f"{titles}[1].querySelector('button').click()")
        assert page.ask(f"{titles}[2].getAttribute('aria-sort')") == "none"
        names = page.ask(column % 1)
        assert names.index("ann") < names.index("bob") < names.index("cid")
        page.ask("only.value = 'BOB'; only.dispatchEvent(new Event('input'))")
        visible = "[...played.tBodies[0].rows].filter((row) => row.offsetParent).length"
        assert page.ask(visible) == 1
        assert page.ask("shown.textContent") == "1 of 9"
        page.ask(
            "document.querySelector('.heat td:nth-child(4)')"
            ".dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))"
        )
        assert page.ask("document.querySelector('.legend output').textContent") == "ann against cid: 0"
        assert page.ask("[...document.querySelectorAll('.heat .lit')].map((one) => one.title || one.textContent)") == [
            "cid",
            "1 ann",
        ]
        assert not page.complaints
        page.open(file, width=360)
        assert page.ask("document.documentElement.scrollWidth") <= 360
        assert not page.complaints
