"""The page of a game, move by move, for any `Replay`.

`dicegym.arena.replay.page` makes the content, as for self-contained files. The page holds the whole game, so stepping
through it sends no requests.
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
from dicegym.web.pages import render_page

CACHED_GAMES = 64


def render_replay(
    request: Request,
    replay: Replay,
    *,
    title: str,
    back: tuple[str, str],
    all_seeing: bool = True,
    note: str = "",
    links: Sequence[tuple[str, str]] = (),
) -> Response:
    """Return the page of a game. It replays the game, so do not call it in the event loop.

    The query ``?move=N&seat=S`` selects a moment, N from 0, and a seat's view. Unless ``all_seeing``, the page has one
    seat's view only, and no seed. ``links`` are addresses and texts.

    Raises:
        ReplayError: the replayed game differs from the recorded one.
        ParameterError: the query has no valid move or seat.
    """
    query = request.query_params
    viewer, move = _number(query.get("seat", "")), _number(query.get("move", "")) or 0
    own = [one for one in query.multi_items() if one[0] not in ("seat", "move")]
    held = None if all_seeing else replay.seat(viewer or 0)
    data, pictures = _page_data(json.dumps(to_json(replay)), held)
    views: list[int] = data["views"]
    view = 0
    if viewer is not None and held is None and views != [-1]:  # [-1]: the game has no hidden information
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
    return render_page(
        request,
        "watch/replay.html",
        title=title,
        back=back,
        note=note,
        links=links,
        data=trust(as_text(data)),
        player=trust(asset("player.html")),
        names=data["names"],
        moves=[_visible_actions(data, number, view) for number in range(last + 1)],
        move=move,
        last=last,
        picture=trust(pictures[scene]) if pictures else None,
        scene=_scene_text(data, scene),
        at=at,
        seats=[(one, "everybody" if one < 0 else data["names"][one]) for one in seats],
        seen=views[view],
        reloads=not all_seeing,
        result=data["result"],
        facts=data["facts"],
    )


@functools.lru_cache(maxsize=CACHED_GAMES)
def _page_data(replay: str, seat: int | None) -> tuple[dict[str, Any], list[str]]:
    """Return the data of a game's page, and the SVG of each scene; no SVG if the game has too many."""
    data = page_data(from_json(json.loads(replay)), seat)
    return data, [] if data["pictures"] is None else [one.svg() for one in unpack(data["pictures"])]


def _number(text: str) -> int | None:
    """Return a number of the query; None if it is empty. Raises ParameterError for any other text."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParameterError(f"invalid move or seat {one_line(text, 40)!r}: write a whole number from 0")
    return int(text)


def _visible_actions(data: Mapping[str, Any], number: int, view: int) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the actions that a view may know: for each player the texts, and whether each is a fault."""
    said: dict[int, list[tuple[str, bool]]] = {}
    for seat, words, wrong, knowing in data["frames"][number][1]:
        if view in knowing:
            said.setdefault(seat, []).append((data["words"][words], bool(wrong)))
    return [(data["names"][seat], texts) for seat, texts in said.items()]


def _scene_text(data: Mapping[str, Any], scene: int) -> str:
    """Return a scene as lines of text."""
    title, lines, footer = data["scenes"][scene]
    rows = [title]
    for line in lines:
        label, text, dice, active, cells = data["lines"][line]
        parts = (label, text, " ".join(cells), " ".join(map(str, dice)))
        rows.append(f"{'>' if active else ' '} " + "  ".join(one for one in parts if one))
    return "\n".join([*rows, footer] if footer else rows)
