"""A game that was played, on a page: with a scrubber, and without scripts by links from moment to moment.

Any `Replay` can be shown, whatever section it is from. What is shown is made by `dicegym.arena.replay.page`, as in a
file that needs no server: the page holds all of it, so that stepping through a game asks the server for nothing.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.pages.template import trust
from dicegym.arena.replay import Replay, to_json
from dicegym.arena.replay.page import as_text, page_data, part, unpack
from dicegym.errors import ParameterError, one_line
from dicegym.web.pages import page

KEPT = 64
"""Games whose pages are kept in memory: what is looked at together is mostly the same game."""


class PageLink(NamedTuple):
    """A link below a game."""

    address: str
    text: str


def replay_page(
    request: Request,
    replay: Replay,
    *,
    title: str,
    back: str,
    back_title: str,
    seat: int | None = None,
    all_seeing: bool = True,
    notes: Mapping[tuple[int, int], str] | None = None,
    note: str = "",
    links: Sequence[PageLink] = (),
    template: str = "watch/replay.html",
) -> Response:
    """Return the page of a game; it plays it again, so it is called in a thread (an endpoint that is a plain function).

    The query ``?move=N&seat=S`` names a moment, N from 0, and whose view it is. `moments_before` finds the
    moment before an action.

    Args:
        request: what is answered.
        replay: the game.
        title: of the page.
        back: where it came from.
        back_title: what that is called.
        seat: as this seat was shown it, and nothing else.
        all_seeing: whether everything may be seen; else it is one seat after the other, and nothing of the seed.
        notes: remarks on decisions, see `dicegym.arena.replay.page.page_data`.
        note: a sentence on the page.
        links: below the title.
        template: what extends the page.

    Raises:
        ReplayError: the game is not played again as it was.
        ParameterError: the query names no seat that may be looked at.
    """
    asked = request.query_params
    viewer = _number(asked.get("seat"))
    held = seat if seat is not None else None if all_seeing else replay.seat(viewer or 0)
    text = json.dumps([to_json(replay), held, sorted((notes or {}).items())])
    shown = _shown(hashlib.sha256(text.encode()).hexdigest(), _Given(replay, held, notes))
    data = shown.data
    views: list[int] = data["views"]
    view = 0 if viewer is None or held is not None else _view(views, viewer)
    last = len(data["frames"]) - 1
    move = max(0, min(last, _number(asked.get("move")) or 0))
    scene = data["frames"][move][0][view]
    own = dict(asked)

    def at(number: int, seen: int | None = None) -> str:
        chosen = views[view] if seen is None else seen
        query = {name: value for name, value in own.items() if name not in ("move", "seat")} | {"move": str(number)}
        return "?" + urlencode(query | ({"seat": str(chosen)} if chosen >= 0 else {}))

    seats = range(replay.players) if held is not None and not all_seeing and seat is None else views
    return page(
        request,
        template,
        title=title,
        back=PageLink(back, back_title),
        note=note,
        links=links,
        data=trust(as_text(data)),
        player=trust(part("player.html")),
        names=data["names"],
        moves=[_told(data, number, view) for number in range(last + 1)],
        move=move,
        last=last,
        picture=trust(shown.pictures[scene]) if shown.pictures else None,
        scene=_words(data, scene),
        at=at,
        seats=[(one, "everybody" if one < 0 else data["names"][one]) for one in seats],
        seen=views[view],
        reloads=held is not None and not all_seeing,
        result=data["result"],
        facts=data["facts"],
    )


def moments_before(replay: Replay) -> list[int]:
    """Return of each action the number of the moment in which it was chosen: what a link to a decision names."""
    numbers = [frame.number for frame in replay.frames()]
    return [max(place for place, number in enumerate(numbers) if number <= at) for at in range(len(replay.actions))]


class _Shown(NamedTuple):
    """What a page shows of a game."""

    data: dict[str, Any]
    pictures: list[str]
    """SVG by scene; empty where there is no room for them."""


class _Given:
    """What a page is made of; the same for all, so that it is kept by its digest alone."""

    def __init__(self, replay: Replay, seat: int | None, notes: Mapping[tuple[int, int], str] | None) -> None:
        self.replay, self.seat, self.notes = replay, seat, notes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Given)

    def __hash__(self) -> int:
        return 0


@functools.lru_cache(maxsize=KEPT)
def _shown(digest: str, given: _Given) -> _Shown:
    data = page_data(given.replay, given.seat, notes=given.notes)
    drawings = [] if data["pictures"] is None else unpack(data["pictures"])
    return _Shown(data, [one.svg() for one in drawings])


def _number(text: str | None) -> int | None:
    """Return a number of the query; None if there is none. Raises ParameterError if it is something else."""
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParameterError(f"{one_line(text, 40)!r} is neither a move nor a seat: write a whole number from 0")
    return int(text)


def _view(views: Sequence[int], seat: int) -> int:
    if seat not in views:
        if views == [-1]:
            return 0  # nothing is hidden from anybody
        raise ParameterError(f"invalid seat {seat}: give 0 to {max(views)}")
    return views.index(seat)


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
        faces = " ".join(map(str, dice))
        rows.append(
            f"{'>' if active else ' '} " + "  ".join(one for one in (label, text, " ".join(cells), faces) if one)
        )
    return "\n".join([*rows, footer] if footer else rows)
