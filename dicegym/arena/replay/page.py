"""A replay as a single HTML page for any browser, from a disk, a mail or a server.

The content is data, which the page's script shows as text: names and messages of others are never markup. The page may
load nothing, and runs only its own script (`dicegym.arena.pages.template`).

Each element of the pictures is stored once (`pack`). The lines of the scenes are stored too, for screen readers. If
pictures would make the page too large, it shows only the lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dicegym.arena.pages.template import asset, render, trust
from dicegym.arena.replay.replay import Frame, Notes, Replay, moment, result_lines
from dicegym.escape import harmless, one_line
from dicegym.files import write_text
from dicegym.pictures.drawing import draw
from dicegym.pictures.fonts import FAMILIES
from dicegym.pictures.svg import Drawing
from dicegym.pictures.watched import tell_apart

PICTURES_BUDGET = 400_000
"""Most characters of pictures in a page; with more, it shows lines instead."""
_PIECE = re.compile(r"<[^/][^<]*(?:</[^<]*)*|[^<]+|</[^<]*")
"""The beginning of an element, with its text and the following ends: in a drawing, ``<`` only begins tags."""


def _number(table: dict[Any, int], thing: Hashable) -> int:
    """Return the number of ``thing`` in ``table``, a new one if it is new."""
    return table.setdefault(thing, len(table))


def page_data(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> dict[str, Any]:
    """Return the content of the page as values for JSON; arguments and errors are as for `page`.

    ``views`` are the viewers: everybody (-1), and each seat if the game hides something. ``lines``, ``scenes`` and
    ``words`` are stored once and named by their numbers; ``pictures`` are those of the scenes, from `pack`, or None if
    they are too large. A frame is ``[scene of each view, actions]``, and an action is ``[seat, words, whether something
    was wrong, numbers of the views that know it]``.
    """
    game, names = replay.table(), tell_apart(replay.seats)
    hides = bool(game.spec.private) or game.spec.joint_action is not None
    views: list[int | None] = [None, *(range(game.players) if hides else ())]
    if seat is not None:
        views = [replay.seat(seat)]
    lines, scenes, texts = dict[Any, int](), dict[Any, int](), dict[Any, int]()
    shown = [harmless(name) for name in names]

    def scene_number(frame: Frame, view: int | None) -> int:
        scene = moment(game, frame, names, view).scene
        own = tuple(
            _number(lines, (harmless(line.label), harmless(line.text), line.dice, int(line.active), line.cells))
            for line in scene.lines
        )
        picture = draw(game, frame.state, view, shown)
        return _number(scenes, (harmless(scene.title), own, harmless(scene.footer), picture))

    def actions_of(frame: Frame) -> Iterator[list[Any]]:
        for played in frame.done:
            said: dict[str, list[int]] = {}
            for number, view in enumerate(views):
                if played.may_know(view):  # the page holds nothing that no view may know
                    said.setdefault(played.words(view), []).append(number)
            for text, viewers in said.items():
                yield [played.seat, _number(texts, text), int(played.wrong), viewers]

    frames = [
        [[scene_number(frame, view) for view in views], list(actions_of(frame))] for frame in replay.frames(notes)
    ]
    # The seed gives all dice, also those that a seat may not know.
    facts = [f"seed {replay.seed}, number {replay.number}"] if seat is None else [f"as {names[seat]} was shown it"]
    facts += [f"{name} {value}" for name, value in replay.parameters.items()]
    facts += [f"fingerprint {one_line(replay.fingerprint, 40)}"] if replay.fingerprint else []
    facts += [f"dicegym {one_line(replay.rules['dicegym'], 40)}"] if "dicegym" in replay.rules else []
    pictures = pack([picture for *_, picture in scenes])
    return {
        "title": game.spec.title,
        "id": one_line(replay.id),
        "names": names,
        "views": [-1 if view is None else view for view in views],
        "facts": facts,
        "result": result_lines(replay, seat),
        "lines": list(lines),
        "scenes": [scene for *scene, _ in scenes],
        "pictures": None if len(json.dumps(pictures)) > PICTURES_BUDGET else pictures,
        "words": list(texts),
        "frames": frames,
    }


def page(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> str:
    """Return a replay as an HTML page.

    Args:
        replay: the game.
        seat: the page holds only what this seat saw; None: everything, with a choice of views.
        notes: shown with the moves, which are marked as wrong.

    Raises:
        ReplayError: the game cannot be played again.
        ParameterError: the game has no such seat.
        DependencyError: Jinja2 is not installed.
    """
    shown = page_data(replay, seat, notes)
    data, player = trust(as_text(shown)), trust(asset("player.html"))
    return render("replay.html", ("player.css", "replay.css"), "player.js", page=shown, data=data, player=player)


def write_page(replay: Replay, path: str | Path, seat: int | None = None, notes: Notes | None = None) -> None:
    """Write the page of a replay, whole or not at all; arguments and errors are as for `page`."""
    write_text(path, page(replay, seat, notes))


def as_text(data: dict[str, Any]) -> str:
    """Return data as JSON for an element of a page, without ``<``, which could end the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def pack(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """Return pictures, in their order, as values for JSON, from which ``player.js`` makes them again.

    ``size`` is the width and height with room for each, ``font`` that of the letters, and ``pieces`` the texts that
    make up pictures. Each of ``pictures`` is ``[title, numbers of its pieces]``.
    """
    pieces: dict[str, int] = {}
    pictures = [
        [drawing.title, [_number(pieces, piece) for piece in _PIECE.findall(drawing.body)]] for drawing in drawings
    ]
    size = [max((one.width for one in drawings), default=0), max((one.height for one in drawings), default=0)]
    return {"size": size, "font": FAMILIES, "pieces": list(pieces), "pictures": pictures}
