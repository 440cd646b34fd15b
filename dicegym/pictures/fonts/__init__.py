"""The font of all pictures. It is part of the package, so pictures look the same everywhere.

Pages name it first and wide fonts after it, as other common sans-serif fonts are narrower. So words always fit.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache, lru_cache
from pathlib import Path

FAMILY = "DejaVu Sans"
FAMILIES = f"{FAMILY}, Verdana, system-ui, sans-serif"
"""The fonts that documents request, best first."""
FOLDER = Path(__file__).parent
FILES = tuple(str(FOLDER / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"))
ELLIPSIS = "…"
UNKNOWN = 0.7
"""Width of a letter that the font lacks, in sizes of the letters."""
WIDE = 0x1100
"""Code points from here on, such as East Asian ones, are square if the font lacks them."""


@cache
def _advances(bold: bool) -> dict[int, float]:
    """Return code point -> width, in sizes of the letters."""
    known = json.loads((FOLDER / "widths.json").read_text(encoding="utf-8"))["bold" if bold else "regular"]
    return {int(number): advance / known["units_per_em"] for number, advance in known["advances"].items()}


@lru_cache(maxsize=4096)
def measure(words: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text in letters of ``size``, without kerning, which would narrow it."""
    advances = _advances(bold)
    return size * sum(advances.get(ord(letter), 1.0 if ord(letter) >= WIDE else UNKNOWN) for letter in words)


@lru_cache(maxsize=4096)
def fit(words: str, width: float, size: float, bold: bool = False) -> str:
    """Return a line of text, cut with an ellipsis to at most ``width``."""
    if measure(words, size, bold) <= width:
        return words

    def cut(end: int) -> str:
        return words[:end].rstrip() + ELLIPSIS

    fitting = bisect_right(range(len(words)), width, key=lambda end: measure(cut(end), size, bold))
    return cut(max(0, fitting - 1))


def wrap(words: str, width: float, size: float, lines: int) -> list[str]:
    """Return text in at most ``lines`` lines, broken at spaces and cut with an ellipsis."""
    found: list[str] = []
    rest = words.split()
    while rest and len(found) < lines:
        line = rest.pop(0)
        while rest and measure(f"{line} {rest[0]}", size) <= width:
            line += f" {rest.pop(0)}"
        found.append(line)
    if rest:
        found[-1] += f" {' '.join(rest)}"
    return [fit(line, width, size) for line in found]
