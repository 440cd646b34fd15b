"""The page of a game, move by move, for any `Replay`.

`dicegym.arena.replay.page` makes the content, as for self-contained files. The page holds the whole game, so stepping
through it sends no requests. Without scripts, it shows the final position and the list of moves.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.pages.template import asset, trust
from dicegym.arena.replay import Replay, from_json, to_json
from dicegym.arena.replay.page import as_text, page_data
from dicegym.arena.replay.replay import moments
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

    The page's script reads the query ``?move=N&seat=S``: a moment, N from 0, and a seat's view. Unless ``all_seeing``,
    the page has the view of seat S only (default: 0), and no seed. ``links`` are addresses and texts.

    Raises:
        ReplayError: the replayed game differs from the recorded one.
        ParameterError: the query has no valid seat.
    """
    seat = None if all_seeing else replay.seat(_number(request.query_params.get("seat") or "0"))
    return render_page(
        request,
        "watch/replay.html",
        title=title,
        back=back,
        note=note,
        links=links,
        seat=seat,
        player=trust(asset("player.html")),
        **_describe_game(json.dumps(to_json(replay)), seat),
    )


@functools.lru_cache(maxsize=CACHED_GAMES)
def _describe_game(replay: str, seat: int | None) -> dict[str, Any]:
    """Return a game as the template's variables: ``data`` for the script, the rest for browsers without scripts."""
    game = from_json(json.loads(replay))
    data = page_data(game, seat)
    *_, end = seen = list(moments(game, seat))
    return {
        "data": trust(as_text(data)),
        "names": data["names"],
        "moves": ["; ".join(moment.done) for moment in seen[1:]],
        "picture": trust(end.picture().svg()),
        "scene": end.scene.text(),
        "result": data["result"],
        "facts": data["facts"],
    }


def _number(text: str) -> int:
    """Return a number of the query. Raises ParameterError for any other text."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParameterError(f"invalid seat {one_line(text, 40)!r}: write a whole number from 0")
    return int(text)
