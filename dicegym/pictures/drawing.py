"""A picture as SVG, and how a game's own ``picture.py`` is asked for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from dicegym.engine.game import Game
from dicegym.engine.part import Part
from dicegym.pictures.scenes import scene_drawing
from dicegym.pictures.svg import Drawing

__all__ = ["PICTURE", "Drawing", "Picture", "Viewpoint", "draw"]


class Viewpoint(NamedTuple):
    """Who looks at a game, and how everybody is called."""

    seat: int | None
    """Its own hidden things are shown, and what is public; None: everything."""
    names: tuple[str, ...]
    """By seat, no two alike; harmless text of others, which a drawing escapes."""


class Picture(Protocol):
    """A game's ``picture.py``: how a state looks. A game without one is drawn line by line from its scene."""

    def picture(self, state: Any, view: Viewpoint) -> Drawing:
        """Return a drawing of a state: the same width and height for all states of a game and number of players."""


PICTURE: Part[Picture] = Part(Picture, "picture", "that draws it")


def draw(game: Game, state: Any, seat: int | None = None, names: Sequence[str] = ()) -> Drawing:
    """Return the picture of a state.

    Args:
        game: the game.
        state: its record.
        seat: as this seat may see it; None: everything.
        names: what players are called, by seat (default: ``player 0`` and so on).
    """
    view = Viewpoint(seat, tuple(names) or tuple(f"player {number}" for number in range(game.players)))
    own = PICTURE.beside(game.spec.module)
    return scene_drawing(game.scene(state, seat)) if own is None else own.picture(state, view)
