"""What a state is worth: the protocols that a game's ``values.py`` is written to.

A *valuer* answers one question, what a state is worth to a seat, and says how it knows and how sure it is. A game's
``values.py`` lists where valuers come from, the best first; `dicegym.analysis` asks them, and knows no game. A *luck
meter* is told of games while they are played, and says what their dice were worth.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dicegym.play.player import Player

if TYPE_CHECKING:
    from dicegym.engine.game import Game

Progress = Callable[[int, int, str], None]
"""Told of long work: (steps done, of how many, what is being done)."""
ValueKind = Literal["exact", "equilibrium", "rollouts"]
"""How a value is known: computed without error; by an equilibrium that was computed, exactly or nearly; by games played
from there."""
ValueUnit = Literal["win rate", "points", "return"]
"""What a value counts: the probability to win, a shared first place shared out; points of the game, for players
that play alone; the return of the rules (`dicegym.engine.spec.GameSpec`)."""


class ActionValues(NamedTuple):
    """What each action is worth to the player to move, by what it may know."""

    values: np.ndarray
    """float64[n_actions]; nan for an illegal one, and for one that the valuer leaves out (bids nobody makes)."""
    errors: np.ndarray
    """float64[n_actions]: standard error of each; 0 where the value is computed, nan as above."""
    behind: np.ndarray | None = None
    """float64[n_actions]: standard error of how far each is behind the best one, where candidates are played with
    common dice and differences are surer than values; nan as above. None: as if values were independent."""


class Valuer(Protocol):
    """What states of one game are worth.

    States are records of the game with everything in them. `action_values` reads of a record only what the player to
    move may know, unless ``sees_all``; `value` reads everything.
    """

    game: Game
    name: str
    """What it is called where it is asked for, such as ``exact``."""
    kind: ValueKind
    unit: ValueUnit
    sure: str
    """How sure its values are, in words that follow "values are": ``exact``, ``those of an equilibrium that a best
    reply beats in 0.5003 of games``."""
    sees_all: bool
    """Whether its actions are judged by the whole record, hidden things included, as a player that sees all would."""

    def value(self, state: Any, seat: int) -> float:
        """Return what a state is worth to a seat before the player to move decides, or at the end; in its unit.

        Everybody plays on as the valuer supposes. Values of all seats sum to 1 where the unit is win rate.
        """

    def action_values(self, state: Any) -> ActionValues:
        """Return what each of the ``n_actions`` is worth to the player to move, before chance has a say."""

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action, wide and illegal ones included (the rules decide what these do)."""

    def policy(self, state: Any) -> np.ndarray:
        """Return how the valuer supposes the player to move plays: float64[n_actions], probabilities."""


@runtime_checkable
class BatchValuer(Valuer, Protocol):
    """A valuer that may be asked about many states in one call, for grades over thousands of games."""

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over: arrays of float64[states, n_actions]."""


class ValueSource(NamedTuple):
    """Where a valuer of a game comes from."""

    name: str
    """As of `Valuer`."""
    kind: ValueKind
    doc: str
    """What it is, in a line."""
    ready: Callable[[], bool]
    """Whether it can be had within seconds: what it needs has been solved, or ships."""
    load: Callable[[Progress | None], Valuer]
    """Makes it. Raises ParameterError, which names the command that solves what is missing."""


class Bracket(NamedTuple):
    """How often the best response to a player wins, between two bounds; 0.5 if it cannot be exploited."""

    low: float
    """A reply that wins so often was found."""
    high: float
    """No reply wins more often."""
    how: str
    """How both are known, in words."""


class SearchTime:
    """The time limit of a search: ``seconds`` from `begin`, or until `stop` is called.

    A search calls `begin` once everything it needs is loaded and compiled. It checks `over` often, and returns the best
    answer found so far when the time is over.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stopped = False
        self._began = time.monotonic()

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()

    def stop(self) -> None:
        """End the search at its next look at `over`."""
        self.stopped = True

    @property
    def spent(self) -> float:
        """Seconds since `begin`."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the time is over; 0 after that."""
        return 0.0 if self.stopped else max(0.0, self.seconds - self.spent)

    @property
    def over(self) -> bool:
        """Whether the search must end."""
        return self.left <= 0.0


def first_place_shares(returns: ArrayLike) -> NDArray[np.float64]:
    """Return what part of the first place each player won in each game: 1 alone, 1/k if k players share it, else 0.

    Args:
        returns: of each game the return of each player, of which only the order counts: [games, players].

    Returns:
        float64[games, players]; each row sums to 1.
    """
    found = np.asarray(returns)
    first = found == np.maximum.reduce(found, axis=1, keepdims=True)  # in a match of few games methods cost twice that
    shares: NDArray[np.float64] = first / np.add.reduce(first, axis=1, keepdims=True)
    return shares


def training_against(game: Game, name: str) -> str:
    """Return the command that trains a best response to the agent ``name``."""
    parameters = "".join(
        f" -p {key}={value}" for key, value in game.parameters.items() if value != game.spec.parameters[key].default
    )
    return f"`dicegym values exploitability {game.name} {shlex.quote(name)}{parameters} --steps 1000000`"


class Exploits(Protocol):
    """What a game's ``values.py`` may also offer: how often a best response to a player wins."""

    def exploitability(
        self, player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None
    ) -> Bracket:
        """Return the bounds of how often the best response to ``player`` wins, as found when ``time`` is over.

        Raises ParameterError for a game that it knows no way for, and for a player of whom too little is known.
        """

    def best_reply(self, player: Player, game: Game, gap: float) -> Bracket:
        """Return the same bounds, at most ``gap`` apart if some ten seconds or so bring that: they depend on no clock.

        Raises ParameterError as above and as `check_best_reply` does.
        """

    def check_best_reply(self, game: Game) -> None:
        """Raise ParameterError for a game in which `best_reply` cannot be known within a minute or so."""


class Meter(Protocol):
    """Is told of many games while they are played, and adds up what their luck was worth.

    Luck is what chance brought beyond its mean, and has the mean 0 for all players (a martingale difference), so that a
    result less its luck has the same mean as the result and varies less (AIVAT: Burch, Schmid, Moravcik, Morrill and
    Bowling, AAAI 2018). Where it is known how a player chooses among its actions, what it drew is luck too.
    """

    luck: np.ndarray
    """Of each seat so far, float64[games, players], in the unit of results (the share of the first place, or the return
    of a player that plays alone)."""

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that the games ``states[rows]`` have just begun: what chance decided then is luck too."""

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that ``actions[k]`` was played in game ``rows[k]``.

        Args:
            before: the records before, by game: ``before[rows[k]]``.
            rows: int64[k], numbers of games, none twice.
            actions: int64[k], wide ones included.
            after: the records after, by game.
        """
