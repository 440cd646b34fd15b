"""Values of states: the protocols of a game's ``values.py`` and ``exact.py``.

A *valuer* computes the value of a state for a seat, and says how exact it is. A *luck meter* follows games while they
are played, and computes how much their dice were worth. A `Duel` computes exact win rates of two strategies.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dicegym.engine.part import optional
from dicegym.engine.validate import check_seat
from dicegym.errors import PartError
from dicegym.play.player import Player
from dicegym.play.turn import record_of

if TYPE_CHECKING:
    from dicegym.engine.game import Game

Progress = Callable[[int, int, str], None]
"""Called during long work with (steps done, steps in all, a description)."""
ValueKind = Literal["exact", "equilibrium", "rollouts"]
"""How a value is known: computed without error; from a computed equilibrium; from games played from there."""
ValueUnit = Literal["win rate", "points", "return"]
"""The unit of a value: probability to win, where a tie for first is shared; points of the game, for a player alone;
return of the rules (`dicegym.engine.spec.GameSpec`)."""


class ActionValues(NamedTuple):
    """The value of each action for the player to move, given what it may know."""

    values: np.ndarray
    """float64[n_actions]; nan for illegal actions, and for those that the valuer leaves out (bids nobody makes)."""
    errors: np.ndarray
    """float64[n_actions], standard errors; 0 where the value is computed, nan as above."""
    behind: np.ndarray | None = None
    """float64[n_actions], standard errors of the difference to the best action, if candidates are played with common
    dice; nan as above. None: treat values as independent."""


class Valuer(Protocol):
    """Values of the states of one game: the base of all valuers.

    States are complete records. Values of actions use only what the player to move may know, unless ``sees_all``;
    values of states use everything.

    A subclass defines `action_value`, and either `values_rows` and `action_values_rows`, which take thousands of states
    in one call, or `value` and `action_values`, which are then called for each state.
    """

    game: Game
    name: str
    """The name that users ask for, such as ``exact``."""
    kind: ValueKind
    unit: ValueUnit
    sure: str
    """How exact its values are, in words after "values are": ``exact``."""
    sees_all: bool
    """Whether its values of actions use the whole record, also what is hidden from the player."""

    def value(self, state: Any, seat: int) -> float:
        """Return the value of a state for a seat, before the player to move decides or at the end, in its unit.

        All players continue as the valuer assumes. Win rates of all seats sum to 1.
        """
        return float(self.values_rows(np.atleast_1d(record_of(self.game, state)))[0, check_seat(self.game, seat)])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        seats = range(self.game.players)
        return np.array([[self.value(state, seat) for seat in seats] for state in states]).reshape(-1, len(seats))

    def action_values(self, state: Any) -> ActionValues:
        """Return the value of each of the ``n_actions`` for the player to move, before any dice fall.

        All are nan when the game is over.
        """
        state = record_of(self.game, state)
        if state["over"]:
            return ActionValues(np.full(self.game.n_actions, np.nan), np.full(self.game.n_actions, np.nan))
        values, errors, behind = self.action_values_rows(np.atleast_1d(state))
        return ActionValues(values[0], errors[0], None if behind is None else behind[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, all unfinished: arrays of float64[states, n_actions]."""
        found = [self.action_values(state) for state in states]
        values, errors = (
            np.array([one[column] for one in found], np.float64).reshape(-1, self.game.n_actions) for column in (0, 1)
        )
        behind = [one.behind for one in found if one.behind is not None]
        return ActionValues(values, errors, np.array(behind) if behind and len(behind) == len(found) else None)

    def action_value(self, state: Any, action: int) -> float:
        """Return the value of one action, which may be wide or illegal (the rules decide what it does)."""

    def policy(self, state: Any) -> np.ndarray:
        """Return how the player to move is assumed to play: float64[n_actions], probabilities.

        By default that is the first of the best actions. All are 0 when the game is over.
        """
        state, chosen = record_of(self.game, state), np.zeros(self.game.n_actions)
        if not state["over"]:
            chosen[np.nanargmax(self.action_values(state).values)] = 1.0
        return chosen

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every state: float64[states, n_actions]."""
        return np.array([self.policy(state) for state in states])


class ValueSource(NamedTuple):
    """A source of a valuer for a game."""

    name: str
    """The name of the `Valuer`."""
    kind: ValueKind
    doc: str
    """A description of one line."""
    ready: Callable[[], bool]
    """Whether loading takes only seconds: its tables are solved, or ship."""
    load: Callable[[Progress | None], Valuer]
    """Makes the valuer. Raises ParameterError, which names the command that solves what is missing."""


class Bracket(NamedTuple):
    """Bounds of the best response's win rate against a player; 0.5 if the player cannot be exploited."""

    low: float
    """The win rate of a response that was found."""
    high: float
    """No response wins more often."""
    how: str
    """How both bounds are known, in words."""


class SearchTime:
    """The time limit of a search: ``seconds`` from `begin`, or until `stop` is called.

    A search calls `begin` when everything is loaded and compiled, and returns its best result when it is `over`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stopped = False
        self.begin()

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()

    def stop(self) -> None:
        """End the search when it next checks `over`."""
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
    """Return each player's share of the first place: 1 alone, 1/k among k winners, 0 for others.

    Both ``returns`` and the result are float64[games, players].
    """
    found = np.asarray(returns)
    first = found == np.maximum.reduce(found, axis=1, keepdims=True)  # in a match of few games methods cost twice that
    shares: NDArray[np.float64] = first / np.add.reduce(first, axis=1, keepdims=True)
    return shares


def settings_of(game: Game) -> dict[str, int]:
    """Return the parameters of a game, ``players`` included, that differ from their defaults."""
    usual = {key: parameter.default for key, parameter in game.spec.parameters.items()}
    usual["players"] = game.spec.default_players or game.spec.players[0]
    return {key: value for key, value in {"players": game.players, **game.parameters}.items() if value != usual[key]}


def settings_options(game: Game) -> list[str]:
    """Return the command-line options for the parameters of ``game``."""
    return [word for key, value in settings_of(game).items() for word in ("-p", f"{key}={value}")]


def training_against(game: Game, name: str) -> str:
    """Return the command that trains an approximate best response to the agent ``name``."""
    words = ["dicegym", "values", "exploitability", game.name, name, *settings_options(game), "--steps", "1000000"]
    return f"`{shlex.join(words)}`"


class Exploits(Protocol):
    """What a game's ``values.py`` may also offer: the win rate of the best response to a player."""

    def exploitability(
        self, player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None
    ) -> Bracket:
        """Return bounds of the best response's win rate against ``player``, as found when ``time`` is over.

        Raises ParameterError for a game that is not supported, and for a player that reveals too little.
        """

    def best_reply(self, player: Player, game: Game, gap: float) -> Bracket:
        """Return the same bounds, at most ``gap`` apart if about ten seconds suffice. They do not depend on a clock.

        Raises ParameterError as above and as `check_best_reply` does.
        """

    def check_best_reply(self, game: Game) -> None:
        """Raise ParameterError for a game in which `best_reply` would take more than about a minute."""


class Meter(Protocol):
    """Follows many games while they are played, and adds up the value of their luck.

    Luck is what chance brought beyond its mean. It has mean 0 for all players (a martingale difference), so a result
    less its luck has the same mean as the result and varies less (AIVAT: Burch, Schmid, Moravcik, Morrill and Bowling,
    AAAI 2018). A player's own random draw of an action is luck too, if its probabilities are known.
    """

    luck: np.ndarray
    """float64[games, players], the luck of each seat so far, in the unit of results: the share of the first place, or
    the return of a player alone."""

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that the games ``states[rows]`` have just begun; their first dice are luck too."""

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that ``actions[k]`` was played in game ``rows[k]``.

        Args:
            before: all records before, so the game's is ``before[rows[k]]``.
            rows: int64[k], numbers of games, none twice.
            actions: int64[k], may be wide.
            after: all records after.
        """


class Duel(Protocol):
    """The ``exact.py`` of a game for two that can be solved: exact values instead of estimates.

    A table is a strategy as an array that only this module reads. A strategy may be a player, a function of the
    original interface, or a table made for the same game. All functions raise AgentError if a player fails or makes an
    invalid choice, and ParameterError for a table of another game and a game that is not solved.

    `dicegym.analysis.exploitability` asks for best responses, unless the game's ``values.py`` has a search of its own.
    """

    SOLVED: Mapping[str, int]
    """Parameters, ``players`` included, with which the game can be solved."""
    MIXED: bool
    """Whether tables contain probabilities. If not, a player that draws (`dicegym.play.player.DrawsOpenly`) has no
    exact values."""

    def solves(self, game: Game) -> bool:
        """Return whether the game, with its parameters, has exact values."""

    def questions(self, game: Game) -> int:
        """Return the most questions that `tabulate` asks a player that may draw and does not say how."""

    def tabulate(self, player: Player | Callable[..., Any], game: Game) -> np.ndarray:
        """Return the strategy of ``player`` as a table."""

    def win_rate(self, a: Any, b: Any, game: Game) -> float:
        """Return the probability that strategy ``a`` beats ``b``; a fair coin decides who moves first."""

    def win_rate_matrix(self, strategies: Sequence[Any], game: Game, *, progress: Progress | None = None) -> np.ndarray:
        """Return float64[n, n], `win_rate` of each strategy (row) against each other one (column).

        ``progress`` is called after each of the n (n - 1) / 2 pairs.
        """

    @optional
    def best_response(self, opponent: Any, game: Game) -> tuple[float, np.ndarray]:
        """Return (win rate, policy) of the best response to ``opponent`` by a player that sees everything."""
        raise PartError("nothing finds the best response: write exact.py with best_response beside the game's rules")

    @optional
    def best_table(
        self,
        opponent: Any,
        game: Game,
        *,
        seed: int = 0,
        trials: int = 0,
        progress: Progress | None = None,
        time: SearchTime | None = None,
    ) -> tuple[float, np.ndarray]:
        """Return (win rate, table) of the best table found against ``opponent``.

        With ``time`` the search takes that long, and ``trials`` is ignored.
        """
        raise PartError("nothing finds the best table: write exact.py with best_table beside the game's rules")


Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution, as in the intervals of models' files; the last digit of
``NormalDist().inv_cdf(0.975)`` differs."""


class Estimate(NamedTuple):
    """A mean over games."""

    mean: float
    half: float
    """Half the width of the 95 % interval."""
    games: int
