"""Pictures of states, by a game's ``picture.py`` or from its scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from dicegym.engine.game import Game
from dicegym.engine.part import Part
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError
from dicegym.pictures.naming import in_words, name_players
from dicegym.pictures.scenes import scene_drawing
from dicegym.pictures.svg import Drawing
from dicegym.play.turn import record_of

__all__ = ["PICTURE", "Drawing", "Picture", "Viewpoint", "draw"]

OWN = " (you)"
"""Suffix of the viewer's name."""


class Viewpoint(NamedTuple):
    """The viewer of a picture, and the players' names."""

    seat: int | None
    """The seat whose private fields are shown; None: everything is shown."""
    names: tuple[str, ...]
    """By seat, unique; text from other people, which a drawing escapes."""
    opened: frozenset[str] = frozenset()
    """Private fields of the record that are shown for all seats, as at a real table."""

    def sees(self, seat: int, field: str) -> bool:
        """Return whether the entry of ``seat`` in a private field of the record may be shown."""
        return self.seat is None or self.seat == seat or field in self.opened

    def list_names(self, seats: Sequence[int]) -> str:
        """Return the names of players as text."""
        *most, last = (self.names[seat] for seat in seats)
        return f"{', '.join(most)} and {last}" if most else last


class Picture(Protocol):
    """A game's ``picture.py``, which draws a state. A game without one is drawn from its scene, line by line."""

    def picture(self, state: Any, view: Viewpoint) -> Drawing:
        """Return a drawing of a state, with a fixed size for a game and number of players.

        Its title becomes the game's scene in words (`dicegym.pictures.naming.in_words`), for screen readers. It shows
        private fields only if ``view.sees`` them, and secret fields only if ``view.seat`` is None.
        """


PICTURE: Part[Picture] = Part(Picture, "picture", "that draws it")


def draw(
    game: Game, state: Any, seat: int | None = None, names: Sequence[str] = (), opened: frozenset[str] = frozenset()
) -> Drawing:
    """Return the picture of a state: a `Drawing`, which notebooks show and ``.svg()`` converts to a document.

    Args:
        game: the game.
        state: its record, an array of one or a `dicegym.State`.
        seat: draw what this seat may see; None: everything.
        names: the players' names, by seat (default: ``player 0`` and so on, with ``you`` added at ``seat``).
        opened: private fields of the record that are shown for all seats, as at a real table; see
            `dicegym.games.controls.Controls`.

    Raises:
        ParameterError: ``game`` is not a `Game`, it has no such seat, the state is of another game, or ``names`` is not
            one text for each seat.

    Example:
        >>> import dicegym
        >>> state = dicegym.game("hog").new_state(seed=1)
        >>> drawing = dicegym.draw(state.game, state.record, names=["ann", "bo"])
        >>> drawing.svg()[:4]
        '<svg'
    """
    if not isinstance(game, Game):
        raise ParameterError(f"game={game!r} is not a game: give dicegym.game({game!r}), or state.game")
    seat = None if seat is None else check_seat(game, seat)
    if isinstance(names, str) or not all(isinstance(one, str) for one in names) or len(names) not in (0, game.players):
        raise ParameterError(f"names={names!r} do not name the {game.players} seats of {game!r}: give a text for each")
    called = tuple(names) or tuple(f"player {one}" + (OWN if one == seat else "") for one in range(game.players))
    own = PICTURE.beside(game.spec.module)
    state = record_of(game, state)
    scene = game.scene(state, seat)
    plain = [name.removesuffix(OWN) for name in called]
    if own is None:
        return scene_drawing(name_players(scene, plain))
    return own.picture(state, Viewpoint(seat, called, opened))._replace(title=in_words(scene, plain))
