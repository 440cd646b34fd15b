"""A game as a page, from moment to moment.

Any `Replay` can be shown, whatever section it is from. What is shown is made by `dicegym.arena.replay.page`, as in a
file that needs no server: the page holds all of it, so that stepping through a game asks the server for nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.pages.template import asset, trust
from dicegym.arena.replay import Replay, from_json, to_json
from dicegym.arena.replay.page import as_text, page_data, unpack
from dicegym.errors import ParameterError, one_line
from dicegym.web.pages import page

KEPT = 64
"""Games whose pages are kept in memory: what is looked at together is mostly the same game."""


def replay_page(
    request: Request,
    replay: Replay,
    *,
    title: str,
    back: tuple[str, str],
    all_seeing: bool = True,
    note: str = "",
    links: Sequence[tuple[str, str]] = (),
) -> Response:
    """Return the page of a game; it plays it again, so it is called in a thread (an endpoint that is a plain function).

    The query ``?move=N&seat=S`` names a moment, N from 0, and whose view it is. Unless ``all_seeing``, that is one seat
    after the other, and nothing of the seed. Links are addresses and texts. Raises ReplayError: the game is not played
    again as it was; ParameterError: the query names no seat that may be looked at.
    """
    query = request.query_params
    viewer, move = _number(query.get("seat", "")), _number(query.get("move", "")) or 0
    own = [one for one in query.multi_items() if one[0] not in ("seat", "move")]
    held = None if all_seeing else replay.seat(viewer or 0)
    data, pictures = _shown(json.dumps(to_json(replay)), held)
    views: list[int] = data["views"]
    view = 0
    if viewer is not None and held is None and views != [-1]:  # -1 alone: nothing is hidden from anybody
        if viewer not in views:
            raise ParameterError(f"invalid seat {viewer}: give 0 to {max(views)}")
        view = views.index(viewer)
    last = len(data["frames"]) - 1
    move = min(last, move)
    scene = data["frames"][move][0][view]

    def at(number: int, seen: int | None = None) -> str:
        chosen = views[view] if seen is None else seen
        return "?" + urlencode([*own, ("move", number), *([("seat", chosen)] if chosen >= 0 else [])])

    seats = views if all_seeing else range(replay.players)
    return page(
        request,
        "watch/replay.html",
        title=title,
        back=back,
        note=note,
        links=links,
        data=trust(as_text(data)),
        player=trust(asset("player.html")),
        names=data["names"],
        moves=[_told(data, number, view) for number in range(last + 1)],
        move=move,
        last=last,
        picture=trust(pictures[scene]) if pictures else None,
        scene=_words(data, scene),
        at=at,
        seats=[(one, "everybody" if one < 0 else data["names"][one]) for one in seats],
        seen=views[view],
        reloads=not all_seeing,
        result=data["result"],
        facts=data["facts"],
    )


@functools.lru_cache(maxsize=KEPT)
def _shown(replay: str, seat: int | None) -> tuple[dict[str, Any], list[str]]:
    """Return what a page shows of a game, and SVG by scene, none where there is no room for them."""
    data = page_data(from_json(json.loads(replay)), seat)
    return data, [] if data["pictures"] is None else [one.svg() for one in unpack(data["pictures"])]


def _number(text: str) -> int | None:
    """Return a number of the query; None without one. Raises ParameterError if it is something else."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParameterError(f"{one_line(text, 40)!r} is neither a move nor a seat: write a whole number from 0")
    return int(text)


def _told(data: Mapping[str, Any], number: int, view: int) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return what a view may know of what was done: of each player the texts, and whether something was wrong."""
    said: dict[int, list[tuple[str, bool]]] = {}
    for seat, words, wrong, knowing in data["frames"][number][1]:
        if view in knowing:
            said.setdefault(seat, []).append((data["words"][words], bool(wrong)))
    return [(data["names"][seat], texts) for seat, texts in said.items()]


def _words(data: Mapping[str, Any], scene: int) -> str:
    """Return a scene as lines of text."""
    title, lines, footer = data["scenes"][scene]
    rows = [title]
    for line in lines:
        label, text, dice, active, cells = data["lines"][line]
        parts = (label, text, " ".join(cells), " ".join(map(str, dice)))
        rows.append(f"{'>' if active else ' '} " + "  ".join(one for one in parts if one))
    return "\n".join([*rows, footer] if footer else rows)
