"""A replay as one page of HTML that holds all it needs, for any browser: from a disk, a mail or a server.

Everything in it comes as data, which the page's script puts on the screen as text: names and messages of
others are nowhere markup. The page may load nothing, and run no script but its own (`dicegym.arena.pages.template`).

Of the pictures each element is kept once, and of each picture only in what it differs from the one before (`pack`);
beside them stand the lines of their scenes, to be read out. Where pictures would make the page too large, the lines
alone are shown.
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
from dicegym.pictures.svg import Drawing, Tile
from dicegym.pictures.watched import tell_apart

PICTURES_BUDGET = 400_000
"""Characters that pictures may take in a page; where they would take more, lines are shown instead."""
_PIECE = re.compile(r"<[^/][^<]*(?:</[^<]*)*|[^<]+|</[^<]*")
"""An element's beginning, with its text and whatever ends after it: in a drawing, ``<`` begins tags alone."""


class _Table(dict[Any, int]):
    """Things that are the same, kept once: thing -> its number, in the order in which they came."""

    def number(self, thing: Hashable) -> int:
        """Return the number of ``thing``, a new one if it is new."""
        return self.setdefault(thing, len(self))


def page_data(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> dict[str, Any]:
    """Return all that the page shows, as values that JSON can hold; arguments and errors as of `page`.

    ``views`` are the possible viewers: everybody (-1), and each seat where something is hidden from some. ``lines``,
    ``scenes`` and ``words`` are kept once each and named by their numbers; ``pictures`` are those of the scenes, as
    `pack` has them, or None where there is no room for them. A frame is ``[scene of each view, what was done]``, and
    one thing done ``[seat, words, whether something was wrong, numbers of the views that know it]``.
    """
    game, names = replay.table(), tell_apart(replay.seats)
    hides = bool(game.spec.private) or game.spec.joint_action is not None
    views: list[int | None] = [None, *(range(game.players) if hides else ())]
    if seat is not None:
        views = [replay.seat(seat)]
    lines, scenes, texts = _Table(), _Table(), _Table()
    shown = [harmless(name) for name in names]

    def scene_number(frame: Frame, view: int | None) -> int:
        scene = moment(game, frame, names, view).scene
        own = tuple(
            lines.number((harmless(line.label), harmless(line.text), line.dice, int(line.active), line.cells))
            for line in scene.lines
        )
        picture = draw(game, frame.state, view, shown)
        return scenes.number((harmless(scene.title), own, harmless(scene.footer), picture))

    def actions_of(frame: Frame) -> Iterator[list[Any]]:
        for played in frame.done:
            said: dict[str, list[int]] = {}
            for number, view in enumerate(views):
                if played.may_know(view):  # what none of them may know is not in the page either
                    said.setdefault(played.words(view), []).append(number)
            for text, viewers in said.items():
                yield [played.seat, texts.number(text), int(played.wrong), viewers]

    frames = [
        [[scene_number(frame, view) for view in views], list(actions_of(frame))] for frame in replay.frames(notes)
    ]
    # From the seed follow all dice, those too that a seat may not know.
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
    """Return a replay as a page of HTML.

    Args:
        replay: the game.
        seat: as this seat was shown it: the page then holds nothing else; None: everything, with a choice of views.
        notes: told with the moves, which are marked as those with which something was wrong.

    Raises:
        ReplayError: the game is not played again as it was.
        ParameterError: the game has no seat of that number.
        DependencyError: Jinja2 is not installed.
    """
    shown = page_data(replay, seat, notes)
    data, player = trust(as_text(shown)), trust(asset("player.html"))
    return render("replay.html", ("player.css", "replay.css"), "player.js", page=shown, data=data, player=player)


def write_page(replay: Replay, path: str | Path, seat: int | None = None, notes: Notes | None = None) -> None:
    """Write the page of a replay, whole or not at all; arguments and errors as of `page`."""
    write_text(path, page(replay, seat, notes))


def as_text(data: dict[str, Any]) -> str:
    """Return data as JSON that fits into an element of a page, which its text could end by ``<`` alone."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def pack(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """Return pictures as values that JSON can hold, from which `unpack` and ``player.js`` make pictures again.

    ``size`` is the width and height that has room for each, ``font`` that of its letters, and ``pieces`` texts that
    stand one after the other in pictures. Each of ``pictures`` is ``[title, front, back, middle]``: its pieces are the
    first ``front`` of the picture before it, those with the numbers ``middle``, and the last ``back`` of it.

    Args:
        drawings: the pictures, in the order in which they are seen.
    """
    pieces: dict[str, int] = {}
    pictures: list[list[Any]] = []
    before: list[int] = []
    for drawing in drawings:
        own = [pieces.setdefault(piece, len(pieces)) for piece in _PIECE.findall(drawing.body)]
        front = _count_alike(before, own)
        back = _count_alike(before[front:][::-1], own[front:][::-1])
        pictures.append([drawing.title, front, back, own[front : len(own) - back]])
        before = own
    size = [max((one.width for one in drawings), default=0), max((one.height for one in drawings), default=0)]
    return {"size": size, "font": FAMILIES, "pieces": list(pieces), "pictures": pictures}


def unpack(values: dict[str, Any]) -> list[Drawing]:
    """Return the pictures that `pack` packed into these values."""
    (width, height), found, before = values["size"], [], list[int]()
    for title, front, back, middle in values["pictures"]:
        before = [*before[:front], *middle, *before[len(before) - back :]]
        body = "".join(values["pieces"][number] for number in before)
        found.append(Drawing(width, height, (Tile(0, 0, width, height, body),), title))
    return found


def _count_alike(one: list[int], other: list[int]) -> int:
    """Return how many numbers two lists have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (first, second) in enumerate(pairs) if first != second), min(len(one), len(other)))
