"""One decision as the player to move may see it, and the functions that make it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, runtime_checkable

import numpy as np

from dicegym.engine.scene import Scene
from dicegym.engine.spec import V
from dicegym.engine.state import State
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError, one_line

if TYPE_CHECKING:
    from dicegym.engine.game import Game

Act = Callable[["Turn"], int]
"""A seated player: a function from its turn to an action."""


@runtime_checkable
class Follower(Protocol):
    """A seated player (an `Act` object) that is notified between its own turns.

    In games with a ``public_event``, all followers are called whenever that field has changed.
    """

    def __call__(self, turn: Turn) -> int:
        """Return an action; see `Act`."""

    def follow(self, turn: Turn) -> None:
        """Note the state after the change; ``turn.seat`` is not to move."""


def follows(act: Act) -> TypeGuard[Follower]:
    """Return whether a seated player is a `Follower`; ``isinstance`` takes longer than a move."""
    return hasattr(act, "follow")


def explain_fault(act: Act, fault: str) -> str:
    """Return a fault in words, with the seated player's ``explain`` if it has one."""
    explain: Callable[[], str] | None = getattr(act, "explain", None)
    more = "" if explain is None else explain()
    return f"{fault}: {more}" if more else fault


class Turn(Generic[V]):
    """One decision: what the player to move may know, computed on demand.

    For type checkers it is generic in the game's view: ``def act(turn: Turn[View]) -> int`` with the ``View`` of the
    game's rules. A bare ``Turn`` has a view of any type.

    Attributes:
        game: the game, with its parameters.
        seat: the seat to move. Raises ParameterError if the game does not have it.
        order: the number, among the players of a match, of the player in each seat; otherwise the seat itself.
        record: the game's record with everything hidden, for the game's own players (compiled twins), which use only
            what their seat may know. All other players read `view` or `observation`.

    Example:
        >>> import dicegym
        >>> game = dicegym.game("hog")
        >>> turn = dicegym.Turn(game, game.new_game(seed=1)[0], seat=0)
        >>> turn.view.score, turn.mask.shape
        (0, (12,))
    """

    __slots__ = ("game", "order", "record", "seat")

    def __init__(self, game: Game[V], state: Any, seat: int, order: Sequence[int] | None = None) -> None:
        self.game = game
        self.seat = check_seat(game, seat)
        self.order = tuple(range(game.players) if order is None else order)
        self.record = state

    @property
    def view(self) -> V:
        """What the seat may know, as named plain values."""
        return self.game.spec.view(self.record, self.seat)

    @property
    def observation(self) -> np.ndarray:
        """What the seat may know, encoded: a new float32[observation_size]."""
        return self.game.observe(self.record, self.seat)

    @property
    def mask(self) -> np.ndarray:
        """Which actions are legal: a new bool[n_actions]."""
        return self.game.legal(self.record)

    @property
    def scene(self) -> Scene:
        """The table as the seat sees it, for display."""
        return self.game.scene(self.record, self.seat)


def record_of(game: Game, given: Any) -> Any:
    """Return the record of a state of ``game``, given as a record, an array of one, or a `dicegym.State`.

    Raises ParameterError for anything else, and for other parameters, since compiled code trusts records.
    """
    record = given.record if isinstance(given, State) else given
    if isinstance(record, np.ndarray) and record.shape == (1,):
        record = record[0]
    if getattr(record, "dtype", None) != game.spec.state or np.shape(record):
        raise ParameterError(
            f"state={one_line(given, 60)} cannot be read as a state of {game.spec.title}: give game.new_state(), or a "
            "record such as env.state (the reset of an environment also takes an id)"
        )
    for name in ("players", *game.all_parameters):
        if record[name] != game.blank[name][0]:
            raise ParameterError(
                f"a record whose {name} is {record[name]} does not fit {game!r}: use the same parameters"
            )
    return record
