"""Players: anything that chooses actions, scripted, learned or human.

A `Player` sits down at a game by `Player.join`; then it is asked with a `Turn`, which has plain copies of what the seat
may know.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dicegym.engine.validate import as_int64
from dicegym.errors import AgentError, FaultWarning
from dicegym.play.printed import Printed
from dicegym.play.turn import Act, Turn

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from dicegym.engine.game import Game


class Usage(NamedTuple):
    """Counts of the answers and tokens of a language model."""

    decisions: int = 0
    """Decisions, each text once; a whole order is one."""
    unreadable: int = 0
    """Decisions with an unreadable answer or a refusal."""
    illegal: int = 0
    """Decisions with an illegal answer."""
    requests: int = 0
    """Requests to the endpoint; the other answers were in the log."""
    prompt_tokens: int = 0
    """Of all decisions, including those from the log."""
    completion_tokens: int = 0


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum of the counts of several players or matches."""
    return Usage(*map(sum, zip(Usage(), *usages, strict=True)))


class Player:
    """Base class of all players. Subclasses define `join`; fast ones override `act_rows` too.

    Attributes:
        name: the player's name in reports.
        pure: True if its action is a function of what its seat may know (no memory, no randomness), so that one seated
            player can serve many games at once.
        costly: True if each answer costs money or seconds, so that it is asked only in games and not in every possible
            situation.
        printed: the output of its bots, if their ``print`` is redirected; None (default): it is not.

    Example:
        >>> import dicegym
        >>> class FirstLegal(dicegym.Player):
        ...     name = "first legal"
        ...
        ...     def join(self, game, seat, seed):
        ...         return lambda turn: int(turn.mask.argmax())
        >>> dicegym.agent("hog", FirstLegal()).name
        'first legal'
    """

    name: str = "player"
    pure: bool = False
    costly: bool = False
    printed: Printed | None = None

    @property
    def usage(self) -> Usage | None:
        """Counts of its answers in this process, or None (default)."""
        return None

    def has_answered(self, game: Game, states: np.ndarray) -> np.ndarray:
        """Return in which states the action of `act_rows` was the player's own choice: bool[states].

        That is everywhere, unless something replaces invalid answers.
        """
        return np.ones(len(states), np.bool_)

    @property
    def at_once(self) -> bool:
        """Whether `act_rows` may replace a seated player for each of many games."""
        return self.pure

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in ``seat`` of one new game; return the function that chooses actions.

        ``seed`` is the only source of randomness that the player may use.

        Raises:
            AgentError: the player cannot play this game. The returned function raises it if the player fails.
        """
        raise NotImplementedError(f"{type(self).__name__} must define join(game, seat, seed)")

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action (int64) for each game ``states[rows[k]]``, in which ``seats[k]`` is to move.

        Only players with `at_once` are asked. This default asks a seated player game by game.
        """
        act = sit_down(self, game, 0, 0)
        turns = (Turn(game, states[row], int(seat)) for row, seat in zip(rows, seats, strict=True))
        chosen = (answer(act, turn, self) for turn in turns)
        return np.fromiter(chosen, np.int64, len(rows))


class DrawsOpenly(Protocol):
    """A player that draws its actions, with known probabilities."""

    name: str

    def chances(self, game: Game, states: np.ndarray) -> np.ndarray:
        """Return action probabilities of the player to move: float64[states, n_actions]."""


def draws_openly(player: object) -> TypeIs[DrawsOpenly]:
    """Return whether a player draws its actions with known probabilities."""
    return isinstance(player, Player) and not player.pure and hasattr(player, "chances")


def whole(chosen: Any, player: Player) -> int:
    """Return a player's choice as an int. Raises AgentError unless it is a whole number of 64 bits."""
    number = as_int64(chosen)
    if number is None:
        raise AgentError(player.name, f"chose {chosen!r}, which is no action: an action is a whole number")
    return number


class FunctionPlayer(Player):
    """A player from a function of `Turn`.

    Example:
        >>> from dicegym.agents import FunctionPlayer
        >>> FunctionPlayer(lambda turn: int(turn.mask.argmax()), "first legal", pure=True).name
        'first legal'
    """

    def __init__(self, function: Act, name: str = "", pure: bool = False) -> None:
        self._function = function
        self.name = name or getattr(function, "__name__", "function")
        self.pure = pure

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return the function itself."""
        return self._function


class RandomPlayer(Player):
    """Chooses uniformly among the legal actions."""

    name = "uniform"

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a function with its own generator."""
        generator = np.random.default_rng(seed)

        def act(turn: Turn) -> int:
            (legal,) = turn.mask.nonzero()
            return int(legal[generator.integers(len(legal))])  # draws as `choice` does, in a third of its time

        return act


def sit_down(player: Player, game: Game, seat: int, seed: int) -> Act:
    """Return ``player.join(game, seat, seed)``.

    If it fails and the rules have a ``forfeit``, the returned function raises the AgentError when it is asked.
    """
    try:
        return player.join(game, seat, seed)
    except AgentError as error:
        if game.spec.forfeit is None:
            raise
        failure = error

    def act(turn: Turn) -> int:
        raise failure

    return act


def answer(act: Act, turn: Turn, player: Player) -> int:
    """Return the action of a seated player, or `forfeit_for` its failure."""
    try:
        return whole(act(turn), player)
    except AgentError as error:
        return forfeit_for(error, turn.game)


def forfeit_for(error: AgentError, game: Game) -> int:
    """Return the rules' action for a failure, with a warning; raise ``error`` if they have none."""
    forfeit = game.spec.forfeit
    if forfeit is None:
        raise error
    warnings.warn(f"{error}; {game.spec.title} takes that for a fault", FaultWarning, stacklevel=3)
    return forfeit
