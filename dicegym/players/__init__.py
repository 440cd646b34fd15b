"""Players: whatever can be asked for an action, scripted, learned or human.

A `Player` sits down at a game with `Player.join` and from then on is asked with a `Turn`. What it can ask the
turn for are plain copies of what its seat may know.
"""

from __future__ import annotations

import contextlib
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from dicegym.core import Game
from dicegym.dice import private_seed
from dicegym.errors import AgentError, ParameterError
from dicegym.scene import Scene

_TOO_LARGE = 1 << 63

Act = Callable[["Turn"], int]
"""What a seated player is: a function from its turn to an action."""


@runtime_checkable
class Follower(Protocol):
    """A seated player (an `Act` that is an object) which is told of what happens between its own turns.

    Only games whose fact sheet names a ``milestone`` tell: whenever that field has changed, all followers of the
    game are called, their seat's view of the state being that after the change. What they return is ignored.
    """

    def __call__(self, turn: Turn) -> int:
        """Return an action; see `Act`."""

    def follow(self, turn: Turn) -> None:
        """Take note of the state; ``turn.seat`` is not to move."""


def follows(act: Act) -> TypeGuard[Follower]:
    """Return whether a seated player is a `Follower`; asking the protocol itself takes longer than a move."""
    return hasattr(act, "follow")


class Turn:
    """One decision: what the player to move may know, computed when asked for.

    Attributes:
        game: the game, with its parameters.
        seat: the seat that is to move.
        order: per seat the number of the player in it, by the order in which the players of a match were named;
            the number of the seat itself where there is no match.
    """

    __slots__ = ("_state", "game", "order", "seat")

    def __init__(self, game: Game, state: Any, seat: int, order: Sequence[int] | None = None) -> None:
        self.game = game
        self.seat = seat
        self.order = tuple(range(game.players) if order is None else order)
        self._state = state

    @property
    def view(self) -> NamedTuple:
        """What the seat may know, as plain values with names."""
        return self.game.rules.view(self._state, self.seat)

    @property
    def observation(self) -> np.ndarray:
        """What the seat may know, encoded: a new float32[observation_size]."""
        return self.game.observe(self._state, self.seat)

    @property
    def mask(self) -> np.ndarray:
        """Which actions are legal: a new bool[n_actions]."""
        return self.game.legal(self._state)

    @property
    def scene(self) -> Scene:
        """The table as the seat sees it, for people."""
        return self.game.scene(self._state, self.seat)


class Player:
    """Base class of all players. Subclasses define `join`; fast ones override `act_rows` too.

    Attributes:
        name: how reports call the player.
        pure: True if its action is a function of what its seat knows alone (no memory, no randomness), so that
            one seated player may serve many games at once.
    """

    name: str = "player"
    pure: bool = False

    @property
    def at_once(self) -> bool:
        """Whether `act_rows` may be asked for many games at once instead of a seated player for each."""
        return self.pure

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in ``seat`` of one new game; return the function that will be asked for actions.

        ``seed`` is the only source of randomness that the player may use.

        Raises:
            AgentError: the player cannot play this game; the returned function raises it when the player
                fails while it is asked.
        """
        raise NotImplementedError(f"{type(self).__name__} must define join(game, seat, seed)")

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action (int64) for each game ``states[rows[k]]``, in which ``seats[k]`` is to move.

        Only asked of players who answer `at_once`. This one asks a seated player game by game.
        """
        act = sit_down(self, game, 0, 0)
        turns = (Turn(game, states[row], int(seat)) for row, seat in zip(rows, seats, strict=True))
        chosen = (answer(act, turn, self) for turn in turns)
        return np.fromiter(chosen, np.int64, len(rows))


def whole(chosen: Any, player: Player) -> int:
    """Return what a player chose as an int. Raises AgentError unless it is a whole number of 64 bits."""
    try:
        number = operator.index(chosen)
    except TypeError:
        number = _TOO_LARGE
    if not -_TOO_LARGE <= number < _TOO_LARGE:
        raise AgentError(player.name, f"chose {chosen!r}, which is no action: an action is a whole number")
    return number


class FunctionPlayer(Player):
    """A player made of a function from `Turn` to an action."""

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
        """Return a chooser with a generator of its own."""
        generator = np.random.default_rng(seed)

        def act(turn: Turn) -> int:
            return int(generator.choice(np.flatnonzero(turn.mask)))

        return act


class Audience:
    """The followers of one game, who are told when its milestone has passed; most games have none.

    Args:
        game: the game.
        state: its record, which changes while it is played.
        acts: who sits in each seat.
        order: see `Turn`.
    """

    def __init__(self, game: Game, state: Any, acts: Mapping[int, Act], order: Sequence[int] | None = None) -> None:
        self._milestone = game.rules.milestone
        self._state = state
        self._followers = [
            (act, Turn(game, state, seat, order)) for seat, act in acts.items() if self._milestone and follows(act)
        ]
        self._seen = self._now() if self._followers else 0

    def __bool__(self) -> bool:
        """Return whether there is anybody to tell."""
        return bool(self._followers)

    def _now(self) -> int:
        return int(self._state[self._milestone])

    def due(self) -> list[tuple[Follower, Turn]]:
        """Return who is to be told now, and of what: nobody unless the milestone has changed since the last call."""
        if not self._followers or (now := self._now()) == self._seen:
            return []
        self._seen = now
        return self._followers

    def tell(self) -> None:
        """Tell everybody who is due. That one of them fails to take note is nobody's loss but its own."""
        for follower, turn in self.due():
            with contextlib.suppress(AgentError):
                follower.follow(turn)


def play_game(game: Game, players: Sequence[Player], seed: int = 0, episode: int = 0) -> Any:
    """Play one game to its end; return its record. ``players[s]`` sits in seat s.

    Raises AgentError if a player fails and the rules do not say what that costs, ParameterError if there are
    more or fewer players than seats.
    """
    state = game.new_game(seed, episode)[0]
    if len(players) != game.players:
        raise ParameterError(f"{len(players)} players cannot play {game!r}: give {game.players}")
    acts = join_table(game, dict(enumerate(players)), int(state["key"]))
    turns = [Turn(game, state, seat) for seat in acts]
    audience = Audience(game, state, acts)
    while not state["over"]:
        seat = int(state["player"])
        game.step(state, acts[seat](turns[seat]))
        audience.tell()
    return state


def sit_down(player: Player, game: Game, seat: int, seed: int) -> Act:
    """Return ``player.join(game, seat, seed)``; whoever fails to, and may by the rules, fails when it is asked.

    Raises AgentError if it fails in a game whose rules know no ``forfeit``.
    """
    try:
        return player.join(game, seat, seed)
    except AgentError as error:
        if game.rules.forfeit is None:
            raise
        failure = error

    def act(turn: Turn) -> int:
        raise failure

    return act


def join_table(game: Game, players: Mapping[int, Player], key: int) -> dict[int, Act]:
    """Seat ``players`` (seat -> player) in the game with this key; return who to ask in each seat.

    What is returned answers with an int. When a player fails, that is the action that the game's rules take it
    for (``forfeit``), with a warning; AgentError is raised if they know none.
    """
    found: dict[int, Act] = {}
    for seat, player in players.items():
        act = sit_down(player, game, seat, private_seed(key, seat))
        found[seat] = (_FollowingSeat if follows(act) else _Seat)(act, player)
    return found


class _Seat:
    """A seated player whose answers are whole numbers."""

    __slots__ = ("_act", "_player")

    def __init__(self, act: Act, player: Player) -> None:
        self._act = act
        self._player = player

    def __call__(self, turn: Turn) -> int:
        return answer(self._act, turn, self._player)


class _FollowingSeat(_Seat):
    """One that follows the game."""

    __slots__ = ()

    def follow(self, turn: Turn) -> None:
        self._act.follow(turn)  # type: ignore[attr-defined]  # made of followers alone


def answer(act: Act, turn: Turn, player: Player) -> int:
    """Return the action of a seated player; if it fails, the one that the rules take that for, with a warning.

    Raises AgentError if it fails in a game whose rules know no such action.
    """
    try:
        return whole(act(turn), player)
    except AgentError as error:
        forfeit = turn.game.rules.forfeit
        if forfeit is None:
            raise
        warnings.warn(f"{error}; {turn.game.rules.title} takes that for a fault", RuntimeWarning, stacklevel=2)
        return forfeit
