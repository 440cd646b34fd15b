"""A replay as one page of HTML that holds all it needs, for any browser: from a disk, a mail or a server.

Everything in it comes as data, which the page's script puts on the screen as text: names and messages of
others are nowhere markup. The page may load nothing, and run no script but its own (`Content-Security-Policy`).

Of the pictures each element is kept once, and of each picture only in what it differs from the one before (`pack`);
beside them stand the lines of their scenes, to be read out. Where pictures would make the page too large, the lines
alone are shown.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Hashable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from dicegym.arena.replay.replay import Frame, Replay
from dicegym.arena.replay.telling import Notes, find_note, may_know, moment, result_lines, words
from dicegym.engine.game import Game
from dicegym.engine.scene import Scene
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


def page_data(
    replay: Replay, seat: int | None = None, game: Game | None = None, notes: Notes | None = None
) -> dict[str, Any]:
    """Return all that the page shows, as values that JSON can hold; arguments and errors as of `page`.

    ``views`` are the possible viewers: everybody (-1), and each seat where something is hidden from some. ``lines``,
    ``scenes`` and ``words`` are kept once each and named by their numbers; ``pictures`` are those of the scenes, as
    `pack` has them, or None where there is no room for them. A frame is ``[scene of each view, what was done]``, and
    one thing done ``[seat, words, whether something was wrong, numbers of the views that know it]``.
    """
    table = replay.table(game)
    names = tell_apart(replay.seats)
    views: list[int | None] = [None, *(range(table.players) if _hides(table) else ())]
    if seat is not None:
        views = [replay.seat(seat)]
    lines, scenes, texts = _Table(), _Table(), _Table()
    shown = [harmless(name) for name in names]

    def scene_number(scene: Scene, picture: Drawing) -> int:
        own = tuple(
            lines.number((harmless(line.label), harmless(line.text), line.dice, int(line.active), line.cells))
            for line in scene.lines
        )
        return scenes.number((harmless(scene.title), own, harmless(scene.footer), picture))

    def frame_of(frame: Frame) -> list[Any]:
        done = []
        for played in frame.done:
            told: dict[str, list[int]] = {}
            for number, view in enumerate(views):
                if may_know(played, view):  # what none of them may know is not in the page either
                    told.setdefault(words(table, played, view, notes), []).append(number)
            wrong = int(bool(played.wrong or find_note(played, notes)))
            done += [[played.seat, texts.number(text), wrong, who] for text, who in told.items()]
        return [[scene_number(*see(frame, view)) for view in views], done]

    def see(frame: Frame, view: int | None) -> tuple[Scene, Drawing]:
        return moment(table, frame, names, view).scene, draw(table, frame.state, view, shown)

    frames = [frame_of(frame) for frame in replay.frames(table)]
    # From the seed follow all dice, those too that a seat may not know.
    facts = [f"seed {replay.seed}, number {replay.number}"] if seat is None else [f"as {names[seat]} was shown it"]
    facts += [f"{name} {value}" for name, value in replay.parameters.items()]
    facts += [f"fingerprint {one_line(replay.fingerprint, 40)}"] if replay.fingerprint else []
    facts += [f"dicegym {one_line(replay.rules['dicegym'], 40)}"] if "dicegym" in replay.rules else []
    pictures: dict[str, Any] | None = pack([picture for *_, picture in scenes])
    if len(json.dumps(pictures)) > PICTURES_BUDGET:
        pictures = None
    return {
        "title": table.spec.title,
        "id": one_line(replay.id),
        "names": names,
        "views": [-1 if view is None else view for view in views],
        "facts": facts,
        "result": result_lines(replay, seat, table),
        "lines": list(lines),
        "scenes": [scene for *scene, _ in scenes],
        "pictures": pictures,
        "words": list(texts),
        "frames": frames,
    }


def _hides(game: Game) -> bool:
    """Return whether seats see less than everybody does."""
    return bool(game.spec.private) or game.spec.joint_action is not None


def page(
    replay: Replay, seat: int | None = None, game: Game | None = None, notes: Notes | None = None, back: str = ""
) -> str:
    """Return a replay as a page of HTML.

    Args:
        replay: the game.
        seat: as this seat was shown it: the page then holds nothing else; None: everything, with a choice of views.
        game: as of `Replay.table`.
        notes: told with the moves, which are marked as those with which something was wrong.
        back: address of the page that leads here, if one does.

    Raises:
        ReplayError: the game is not played again as it was.
        ParameterError: there is no such seat.
    """
    return _filled(page_data(replay, seat, game, notes), back)


def _filled(data: dict[str, Any], back: str) -> str:
    style, script = part("player.css") + part("page.css"), part("player.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    title = f"{data['title']}: {', '.join(data['names'])}"
    texts = {
        "policy": policy,
        "title": html.escape(title),
        "back": f'<p><a href="{html.escape(back)}">All games</a></p>' if back else "",
        "result": "".join(f"<p>{html.escape(line)}</p>" for line in data["result"]),
        "style": style,
        "script": script,
        "player": part("player.html"),
        "data": as_text(data),
    }
    # All marks at once, as what is put in may hold others.
    return re.sub(r"@(\w+)@", lambda mark: texts[mark[1]], part("page.html"))


def as_text(data: dict[str, Any]) -> str:
    """Return data as JSON that fits into an element of a page, which its text could end by ``<`` alone."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def part(name: str) -> str:
    """Return a file of this folder: the page around the game, or ``player.*``, which other pages hold too."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return how a policy names an element that holds ``text``."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def write_page(
    replay: Replay,
    path: str | Path,
    seat: int | None = None,
    game: Game | None = None,
    notes: Notes | None = None,
    back: str = "",
) -> None:
    """Write the page of a replay, whole or not at all; arguments and errors as of `page`."""
    write_text(path, page(replay, seat, game, notes, back))


def pack(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """Return pictures as values that JSON can hold, of which `unpack` and ``player.js`` make pictures again.

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
    """Return the pictures of which `pack` made these values."""
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
