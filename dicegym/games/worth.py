"""What a state is worth: the protocols that a game's ``values.py`` and ``exact.py`` are written to.

A *valuer* says what a state is worth to a seat, how it knows and how sure it is. A *luck meter* is told of games while
they are played, and says what their dice were worth. A `Duel` knows true win rates of two.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dicegym.engine.validate import check_seat
from dicegym.play.player import Player
from dicegym.play.turn import record_of

if TYPE_CHECKING:
    from dicegym.engine.game import Game

Progress = Callable[[int, int, str], None]
"""Told of long work: (steps done, of how many, what is being done)."""
ValueKind = Literal["exact", "equilibrium", "rollouts"]
"""How a value is known: computed without error; by a computed equilibrium; by games played from there."""
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
    common dice; nan as above. None: as if values were independent."""


class Valuer(Protocol):
    """What states of one game are worth: the base of all valuers.

    States are records of the game with everything in them. Values of actions read of a record only what the player to
    move may know, unless ``sees_all``; values of states read everything.

    A subclass defines `action_value`, and either `values_rows` and `action_values_rows`, which answer thousands of
    states in one call, or `value` and `action_values`, which are then called for each state. The others follow.
    """

    game: Game
    name: str
    """What it is called where it is asked for, such as ``exact``."""
    kind: ValueKind
    unit: ValueUnit
    sure: str
    """How sure its values are, in words that follow "values are": ``exact``."""
    sees_all: bool
    """Whether its actions are judged by the whole record, hidden things included."""

    def value(self, state: Any, seat: int) -> float:
        """Return what a state is worth to a seat before the player to move decides, or at the end; in its unit.

        Everybody plays on as the valuer supposes. Values of all seats sum to 1 where the unit is win rate.
        """
        return float(self.values_rows(np.atleast_1d(record_of(self.game, state)))[0, check_seat(self.game, seat)])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        seats = range(self.game.players)
        return np.array([[self.value(state, seat) for seat in seats] for state in states]).reshape(-1, len(seats))

    def action_values(self, state: Any) -> ActionValues:
        """Return what each of the ``n_actions`` is worth to the player to move, before chance has a say.

        All are nan when the game is over.
        """
        state = record_of(self.game, state)
        if state["over"]:
            return ActionValues(np.full(self.game.n_actions, np.nan), np.full(self.game.n_actions, np.nan))
        values, errors, behind = self.action_values_rows(np.atleast_1d(state))
        return ActionValues(values[0], errors[0], None if behind is None else behind[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over: arrays of float64[states, n_actions]."""
        found = [self.action_values(state) for state in states]
        values, errors = (
            np.array([one[column] for one in found], np.float64).reshape(-1, self.game.n_actions) for column in (0, 1)
        )
        behind = [one.behind for one in found if one.behind is not None]
        return ActionValues(values, errors, np.array(behind) if behind and len(behind) == len(found) else None)

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action, wide and illegal ones included (the rules decide what these do)."""

    def policy(self, state: Any) -> np.ndarray:
        """Return how the valuer supposes the player to move plays: float64[n_actions], probabilities.

        That is the best action, of equal ones the first, unless it says otherwise; all are 0 when the game is over.
        """
        state, chosen = record_of(self.game, state), np.zeros(self.game.n_actions)
        if not state["over"]:
            chosen[np.nanargmax(self.action_values(state).values)] = 1.0
        return chosen

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every state: float64[states, n_actions]."""
        return np.array([self.policy(state) for state in states])


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

    A search calls `begin` once all it needs is loaded and compiled, and returns its best answer when it is `over`.
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

    ``returns`` are those of each player in each game, as are the shares: float64[games, players].
    """
    found = np.asarray(returns)
    first = found == np.maximum.reduce(found, axis=1, keepdims=True)  # in a match of few games methods cost twice that
    shares: NDArray[np.float64] = first / np.add.reduce(first, axis=1, keepdims=True)
    return shares


def settings_of(game: Game) -> dict[str, int]:
    """Return the parameters of a game, players among them, that are not at their defaults."""
    usual = {key: parameter.default for key, parameter in game.spec.parameters.items()}
    usual["players"] = game.spec.default_players or game.spec.players[0]
    return {key: value for key, value in {"players": game.players, **game.parameters}.items() if value != usual[key]}


def settings_options(game: Game) -> list[str]:
    """Return the options of a command that mean ``game`` with its parameters."""
    return [word for key, value in settings_of(game).items() for word in ("-p", f"{key}={value}")]


def training_against(game: Game, name: str) -> str:
    """Return the command that trains a best response to the agent ``name``."""
    words = ["dicegym", "values", "exploitability", game.name, name, *settings_options(game), "--steps", "1000000"]
    return f"`{shlex.join(words)}`"


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

    Luck is what chance brought beyond its mean, and has the mean 0 for all players (a martingale difference), so a
    result less its luck has the same mean as the result and varies less (AIVAT: Burch, Schmid, Moravcik, Morrill and
    Bowling, AAAI 2018). What a player drew among its actions is luck too where its probabilities are known.
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


class Duel(Protocol):
    """What ``exact.py`` of a game for two offers, if it can be solved: true values instead of estimates.

    A table is a strategy as an array that only the module reads. A strategy may be a player, a function in the form of
    the original interface, or a table made for the same game. All functions raise AgentError if a player fails or
    chooses what the rules do not know, and ParameterError for a table that does not fit and a game that is not solved.
    """

    SOLVED: Mapping[str, int]
    """Parameters, the number of players among them, with which the game can be solved."""
    MIXED: bool
    """Whether tables hold probabilities; elsewhere a player that draws (`dicegym.play.player.DrawsOpenly`) has no exact
    values."""

    def solves(self, game: Game) -> bool:
        """Return whether the game, with its parameters, has exact values."""

    def questions(self, game: Game) -> int:
        """Return how many questions at most `tabulate` asks a player that may draw and does not say how."""

    def tabulate(self, player: Player | Callable[..., Any], game: Game) -> np.ndarray:
        """Return all that ``player`` would choose."""

    def win_rate(self, a: Any, b: Any, game: Game) -> float:
        """Return the probability that strategy ``a`` beats ``b``, who moves first being drawn by a fair coin."""

    def win_rate_matrix(self, strategies: Sequence[Any], game: Game, *, progress: Progress | None = None) -> np.ndarray:
        """Return float64[n, n]: `win_rate` of each strategy (row) against each other one (column).

        ``progress`` is called after each of the n (n - 1) / 2 pairs.
        """

    def best_response(self, opponent: Any, game: Game) -> tuple[float, np.ndarray]:
        """Return the best win rate against ``opponent`` for a player that sees everything, and how to play it."""

    def best_table(
        self,
        opponent: Any,
        game: Game,
        *,
        seed: int = 0,
        trials: int = ...,
        progress: Progress | None = None,
        time: SearchTime | None = None,
    ) -> tuple[float, np.ndarray]:
        """Return the best win rate found for a table against ``opponent``, and the table.

        With ``time`` the search takes that long, whatever ``trials`` says.
        """


Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution, in whose last digit ``NormalDist().inv_cdf(0.975)`` differs: the
intervals in models' files are made with it."""


class Estimate(NamedTuple):
    """A mean over games."""

    mean: float
    half: float
    """Half the width of its 95 % interval."""
    games: int
