"""Colours that can be told apart by everybody, and widths of letters that are those of the font."""

from __future__ import annotations

import json

import pytest

from dicegym.pictures import fonts
from dicegym.pictures.fonts import FILES, FOLDER, fit, measure
from dicegym.pictures.palette import (
    ACTIVE,
    CHOSEN,
    FELT,
    GOLD,
    HIDDEN,
    INK,
    PANEL,
    PAPER,
    PENCIL,
    SOFT,
    STRIPE,
    WRITING,
)

AA = 4.5
"""Contrast of words to what they stand on, at least (WCAG 2.2, 1.4.3)."""
READ_ON: dict[str, tuple[str, ...]] = {
    FELT: (INK, SOFT, GOLD),
    PANEL: (INK, SOFT, GOLD),
    ACTIVE: (INK, SOFT),
    PAPER: (WRITING, PENCIL),
    STRIPE: (WRITING, PENCIL),
    CHOSEN: (WRITING, PENCIL),
    HIDDEN: (INK, SOFT),
}
"""What words are written in, by what they stand on."""


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("ground", "ink"), [(ground, ink) for ground, inks in READ_ON.items() for ink in inks])
def test_words_can_be_read(ground: str, ink: str) -> None:
    darker, lighter = sorted((luminance(ground), luminance(ink)))
    assert (lighter + 0.05) / (darker + 0.05) >= AA


@pytest.mark.parametrize("bold", [False, True])
def test_widths_are_those_of_the_font(bold: bool) -> None:
    tables = pytest.importorskip("fontTools.ttLib")
    with tables.TTFont(FILES[bold]) as font:
        letters, advances = font.getBestCmap(), font["hmtx"]
        kept = json.loads((FOLDER / "widths.json").read_text(encoding="utf-8"))["bold" if bold else "regular"]
        assert kept["units_per_em"] == font["head"].unitsPerEm
        assert kept["advances"] == {str(number): advances[name][0] for number, name in letters.items()}


def test_what_does_not_fit_is_cut() -> None:
    assert fit("short", 400, 20) == "short"
    cut = fit("a name of somebody who has many", 120, 20)
    assert cut.endswith("…")
    assert measure(cut, 20) <= 120


@pytest.mark.parametrize("words", ["x" * 20_000, "ab c" * 5000, " " * 20_000])
def test_long_words_are_cut_in_a_few_looks(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(fonts, "measure", lambda line, *how: looks.append(line) or measure(line, *how))
    cut = fit(words, 300.5, 18)
    assert len(looks) < 20
    rest = cut.removesuffix("…")
    assert words.startswith(rest)
    assert rest == rest.rstrip()
    assert measure(cut, 18) <= 300.5 < measure(words[: len(rest) + 1].rstrip() + "…", 18) or not words.strip()
