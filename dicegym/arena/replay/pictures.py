"""Pictures of a game's moments, packed: each element once, and of each picture what differs from an earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dicegym.pictures.fonts import FAMILIES
from dicegym.pictures.svg import Drawing, Tile

_PIECE = re.compile(r"<[^/][^<]*(?:</[^<]*)*|[^<]+|</[^<]*")
"""An element's beginning, with its text and whatever ends after it: in a drawing, ``<`` begins tags alone."""
Change = list[int]
"""Where a picture differs: index of a piece in the earlier picture, how many are left out there, and those instead."""


def packed(drawings: Sequence[Drawing], near: int = 1) -> dict[str, Any]:
    """Return pictures as values that JSON can hold; `unpacked` makes pictures of them again.

    ``size`` is the width and height that has room for each, ``font`` that of its letters, and ``pieces`` texts that
    stand one after the other in pictures. Each of ``pictures`` is ``[title, base, runs]``: if ``base`` is -1, ``runs``
    names its pieces by their numbers; else it says what to change in those of that earlier picture, as `Change`
    describes it, the first change first.

    Args:
        drawings: the pictures, in the order in which they are seen.
        near: how many of those before it a picture may resemble: one for each view.
    """
    pieces: dict[str, int] = {}
    numbered = [[pieces.setdefault(piece, len(pieces)) for piece in _PIECE.findall(one.body)] for one in drawings]
    pictures: list[list[Any]] = []
    for at, own in enumerate(numbered):
        best: tuple[int, int, list[Any]] = (len(own), -1, list(own))
        for base in range(max(0, at - near), at):
            runs = _changes(numbered[base], own)
            cost = sum(map(len, runs))
            if cost < best[0]:
                best = (cost, base, runs)
        pictures.append([drawings[at].title, *best[1:]])
    size = [max((one.width for one in drawings), default=0), max((one.height for one in drawings), default=0)]
    return {"size": size, "font": FAMILIES, "pieces": list(pieces), "pictures": pictures}


def unpacked(values: dict[str, Any]) -> list[Drawing]:
    """Return the pictures of which `packed` made these values."""
    found: list[list[int]] = []
    for _, base, runs in values["pictures"]:
        own = list(runs) if base < 0 else list(found[base])
        if base >= 0:
            for start, removed, *instead in reversed(runs):
                own[start : start + removed] = instead
        found.append(own)
    width, height = values["size"]
    pieces = values["pieces"]
    return [
        Drawing(width, height, (Tile(0, 0, width, height, "".join(pieces[number] for number in own)),), title)
        for own, (title, _, _) in zip(found, values["pictures"], strict=True)
    ]


def _changes(old: list[int], new: list[int]) -> list[Change]:
    """Return what makes a list of another one."""
    least = min(len(old), len(new))
    front = next((at for at in range(least) if old[at] != new[at]), least)
    if len(old) != len(new):
        back = next((at for at in range(least - front) if old[-1 - at] != new[-1 - at]), least - front)
        return [[front, len(old) - back - front, *new[front : len(new) - back]]]
    runs: list[Change] = []
    for at in range(front, len(new)):
        if old[at] == new[at]:
            continue
        if runs and runs[-1][0] + runs[-1][1] == at:
            runs[-1][1] += 1
            runs[-1].append(new[at])
        else:
            runs.append([at, 1, new[at]])
    return runs
