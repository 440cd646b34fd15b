"""One decision, as the player to move may know it, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, runtime_checkable

import numpy as np

from dicegym.engine.scene import Scene
from dicegym.engine.spec import V

if TYPE_CHECKING:
    from dicegym.engine.game import Game

Act = Callable[["Turn"], int]
"""What a seated player is: a function from its turn to an action."""


@runtime_checkable
class Follower(Protocol):
    """A seated player (an `Act` that is an object) which is told of what happens between its own turns.

    Only games with a ``public_event`` tell: all followers are called whenever that field has changed.
    """

    def __call__(self, turn: Turn) -> int:
        """Return an action; see `Act`."""

    def follow(self, turn: Turn) -> None:
        """Take note of the state after the change; ``turn.seat`` is not to move."""


def follows(act: Act) -> TypeGuard[Follower]:
    """Return whether a seated player is a `Follower`; asking the protocol itself takes longer than a move."""
    return hasattr(act, "follow")


def explain_fault(act: Act, fault: str) -> str:
    """Return a fault in words, and what the seated player says of its last answer if it has an ``explain``."""
    explain: Callable[[], str] | None = getattr(act, "explain", None)
    more = "" if explain is None else explain()
    return f"{fault}: {more}" if more else fault


class Turn(Generic[V]):
    """One decision: what the player to move may know, computed when asked for.

    For type checkers it is generic in the game's view: ``def act(turn: Turn[View]) -> int`` with the ``View`` of the
    game's rules. A bare ``Turn`` has a view of any type.

    Attributes:
        game: the game, with its parameters.
        seat: the seat that is to move.
        order: the player in each seat, by its number among the players of a match; elsewhere the seat itself.
        record: the game's record with all that is hidden in it, for the game's own players (compiled twins), which
            choose by what their seat may know. Any other player reads `view` or `observation`.

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
        self.seat = seat
        self.order = tuple(range(game.players) if order is None else order)
        self.record = state

    @property
    def view(self) -> V:
        """What the seat may know, as plain values with names."""
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
        """The table as the seat sees it, for people."""
        return self.game.scene(self.record, self.seat)
