"""How a game's own ``picture.py`` is asked for a picture."""

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
"""What follows the viewer's name."""


class Viewpoint(NamedTuple):
    """Who looks at a game, and how everybody is called."""

    seat: int | None
    """Its own hidden things are shown, and what is public; None: everything."""
    names: tuple[str, ...]
    """By seat, no two alike; harmless text of others, which a drawing escapes."""
    opened: frozenset[str] = frozenset()
    """Private fields of the record that are shown of everybody, as at a real table."""

    def sees(self, seat: int, field: str) -> bool:
        """Return whether the entry of ``seat`` in a private field of the record may be shown."""
        return self.seat is None or self.seat == seat or field in self.opened

    def list_names(self, seats: Sequence[int]) -> str:
        """Return the names of players, as a list in words."""
        *most, last = (self.names[seat] for seat in seats)
        return f"{', '.join(most)} and {last}" if most else last


class Picture(Protocol):
    """A game's ``picture.py``: how a state looks. A game without one is drawn line by line from its scene."""

    def picture(self, state: Any, view: Viewpoint) -> Drawing:
        """Return a drawing of a state: the same width and height for all states of a game and number of players.

        The game's scene in words (`dicegym.pictures.naming.in_words`) becomes its title, to be read out. Of private
        fields it shows what ``view.sees``, and nothing of secret ones unless ``view.seat`` is None.
        """


PICTURE: Part[Picture] = Part(Picture, "picture", "that draws it")


def draw(
    game: Game, state: Any, seat: int | None = None, names: Sequence[str] = (), opened: frozenset[str] = frozenset()
) -> Drawing:
    """Return the picture of a state: a `Drawing`, which a notebook shows and ``.svg()`` gives as a document.

    Args:
        game: the game.
        state: its record, an array of one or a `dicegym.State`.
        seat: as this seat may see it; None: everything.
        names: what players are called, by seat (default: ``player 0`` and so on, with ``you`` added at ``seat``).
        opened: private fields of the record that are shown of everybody, as at a real table: a game's
            `dicegym.games.controls.Controls` lists what people see there.

    Raises:
        ParameterError: ``game`` is not a `Game`, it has no such seat, the state is of another game, or the names are
            not texts, or not as many as the seats.

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
