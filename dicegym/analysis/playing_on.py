"""Playing games on from a state: who plays, and which hidden dice the seat to move believes in.

Players that answer at once (`dicegym.play.player.Player.at_once`) are asked for all games in one call. Other players
sit down in each game as it is, and know nothing of what happened before.

Each hidden roll that a game's ``chance.py`` lists is weighed by the likelihood that the player who saw it would then
have acted as it did (Bayes' rule over all rolls, without sampling). Secret choices of other seats in the present round
are taken back, and the players of the rollout choose anew. Secret fields are as in a new game.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.kernels.rollout_kernels import UNIFORM, play_out, returns_rows
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import LARGEST_SEED, whole_number
from dicegym.envs.opponents import Opponents
from dicegym.errors import AgentError, FaultWarning, ParameterError
from dicegym.games import game as make_game
from dicegym.games.hidden import list_hidden_fields
from dicegym.games.keyboard import STRENGTHS
from dicegym.games.parts import CHANCE, CONTROLS, part
from dicegym.games.worth import ValueUnit, first_place_shares
from dicegym.play.player import Player, RandomPlayer, draws_openly
from dicegym.play.turn import record_of
from dicegym.players.batch_players import TwinPlayer, twin_numbers
from dicegym.players.roster import opponent

RANDOM = "random"
"""The name of random play among the agents that play games on."""
MOST_DECISIONS = 50_000
"""Decisions after which a game counts as endless."""
SLIP = 0.1
"""The share of random legal actions in the supposed play of others: another player may sit there."""
DRAWS = 16
"""How often a player that draws is asked to estimate the likelihood of an action."""
_BLOCK = 1024
"""Games asked about in one call: their records stay in the processor's cache."""


def unit_of(game: Game) -> ValueUnit:
    """Return the unit of a game's results: points in games for one player, otherwise the share of the first place."""
    return "points" if game.players == 1 else "win rate"


def results(game: Game, states: np.ndarray) -> np.ndarray:
    """Return the results of finished games for each seat: float64[states, players], in `unit_of` the game."""
    returns = np.zeros((len(states), game.players), np.float32)
    returns_rows(states, returns)
    return returns.astype(np.float64) if game.players == 1 else first_place_shares(returns)


def usual_policy(game: Game) -> str:
    """Return the agent that plays games on by default: the strongest compiled one of `Controls.OPPONENTS`.

    If none of these is compiled it is the baseline.
    """
    controls, compiled = part(game, CONTROLS), twin_numbers(game)
    offered = [] if controls is None else [controls.OPPONENTS.get(strength, "") for strength in reversed(STRENGTHS)]
    return next((name for name in offered if name in compiled), game.spec.baseline)


def record_bytes(states: np.ndarray) -> np.ndarray:
    """Return records as uint8[records, bytes], in place if they are contiguous."""
    return np.ascontiguousarray(states).view(np.ndarray).view(np.uint8).reshape(len(states), -1)


def play_on(game: Game, states: np.ndarray, players: Sequence[Player]) -> np.ndarray:
    """Play games to their ends, in place; return each seat's sum of rewards: float32[states, players].

    Args:
        game: the game.
        states: the records.
        players: by seat. Random play and compiled agents never leave compiled code.

    Raises:
        AgentError: a player failed, and the rules do not say what that costs.
        ParameterError: a game does not end.
    """
    numbers = [
        player.number if isinstance(player, TwinPlayer) else UNIFORM if isinstance(player, RandomPlayer) else None
        for player in players
    ]
    compiled, mask = None not in numbers, np.zeros(game.n_actions, np.bool_)
    found = np.empty((len(states), game.players), np.float32)
    for first in range(0, len(states), _BLOCK):
        block = slice(first, first + _BLOCK)
        games = states[block]
        if compiled:
            unfinished = play_out(games, np.arange(len(games)), np.array(numbers, np.int64), MOST_DECISIONS, mask)
        else:
            _play_together(game, games, players, functools.partial(_unfinished, games))
            unfinished = len(_unfinished(games))
        if unfinished:
            raise ParameterError(
                f"{unfinished} games were not over after {MOST_DECISIONS:,} decisions each: choose other players than "
                f"{', '.join(dict.fromkeys(player.name for player in players))} to play them on"
            )
        returns_rows(games, found[block])
    return found


def _unfinished(states: np.ndarray) -> np.ndarray:
    return np.flatnonzero(~states["over"])


def _play_together(
    game: Game, states: np.ndarray, players: Sequence[Player], find_rows: Callable[[], np.ndarray]
) -> None:
    """Let the players act in the games that ``find_rows`` finds until it finds none, or for `MOST_DECISIONS`."""
    table, nobody = Opponents(game, states), np.full(len(states), -1)
    for row, key in enumerate(states["key"].tolist()):
        table.sit(row, key, dict(enumerate(players)))
    with contextlib.ExitStack() as stack:
        if not all(player.at_once for player in players):  # such games are played in one thread
            stack.enter_context(warnings.catch_warnings(action="ignore", category=FaultWarning))
        for _ in range(MOST_DECISIONS):
            if not len(rows := find_rows()):
                return
            actions, _ = table.answers(rows, nobody)
            loops.step_rows(states, rows, actions, np.empty(len(rows), np.int64))


def likelihoods(player: Player, game: Game, states: np.ndarray, action: int) -> np.ndarray | None:
    """Return the probability that ``player`` chooses ``action`` in each state: float64[states]; None if unknown.

    The same seat is to move in all ``states``, which are not changed.
    """
    if not player.at_once:
        return None
    if draws_openly(player):
        found = player.chances(game, states)[:, action]
    else:
        rows, seats, asked = np.arange(len(states)), states["player"].astype(np.int64), states.copy()
        draws = 1 if player.pure else DRAWS
        found = np.zeros(len(states))
        try:
            for number in range(draws):
                asked["key"] = named_seed("likelihood", number)
                found += player.act_rows(game, asked, rows, seats) == action
        except AgentError:
            return None
        found /= draws
    likely: np.ndarray = (1 - SLIP) * found + SLIP / max(int(game.legal(states[0]).sum()), 1)
    return likely


class Belief(NamedTuple):
    """What the seat to move believes of one draw of chance that another seat saw."""

    chances: np.ndarray
    """float64[outcomes]: the probability of each outcome."""
    places: np.ndarray
    """int64[bytes]: the bytes of a record that the outcomes change."""
    hidden: np.ndarray
    """uint8[outcomes, bytes]: their values."""


class Beliefs:
    """What the seat to move may believe of a state, and states drawn from it.

    An action that the supposed player never chooses says nothing about its dice.

    Args:
        game: the game.
        state: its record; what is hidden from the seat to move is not read.
        players: the supposed players, by seat.

    Attributes:
        seat: the seat to move.
        draws: a `Belief` for each hidden draw.

    Raises:
        ParameterError: the game hides something, and has no ``chance.py`` that says what may be believed of it.
    """

    def __init__(self, game: Game, state: Any, players: Sequence[Player]) -> None:
        self.game = game
        self.seat = int(state["player"])
        self._players = players
        self._base = game.new_states(1)
        self._base[0] = state
        begun = game.new_game()
        for name in game.spec.secret:
            self._base[name] = begun[name]
        chance, self._secrets = part(game, CHANCE), game.spec.joint_action
        self.draws: list[Belief] = []
        if self._secrets is not None:
            for other in range(game.players):
                if other != self.seat:
                    self._secrets.withdraw(self._base[0], other)
        elif chance is not None:
            self.draws += [self._weigh(chance, draw) for draw in chance.unseen(self._base[0], self.seat)]
        elif hidden := list_hidden_fields(game):
            raise ParameterError(
                f"{game.spec.title} hides {', '.join(sorted(hidden))}, and nothing says what may be believed of it: "
                "write chance.py beside its rules, as the protocol Chance of dicegym.games.parts says"
            )

    def _weigh(self, chance: Any, draw: int) -> Belief:
        """Weigh the outcomes of one draw."""
        weights = np.array([probability for probability, _ in chance.outcomes(self._base[0], draw)])
        settled = np.repeat(self._base, len(weights))
        for outcome in range(len(weights)):
            chance.settle(settled[outcome], draw, outcome)
        raw = record_bytes(settled)
        places = np.flatnonzero((raw != raw[0]).any(axis=0))
        hidden = raw[:, places].copy()
        for before, action in chance.decisions(self._base[0], draw):
            asked = self.game.new_states(len(weights))
            asked[:] = before
            record_bytes(asked)[:, places] = hidden
            found = likelihoods(self._players[int(before["player"])], self.game, asked, action)
            if found is not None and (weights * found).sum() > 0:
                weights *= found
        return Belief(weights / weights.sum(), places, hidden)

    def deal(self, n: int, keys: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``n`` states that the seat to move may be in; ``keys`` (uint64[n]) are those of the games."""
        states = self.game.new_states(n)
        states[:] = self._base[0]
        states["key"] = keys
        raw = record_bytes(states)
        for belief in self.draws:
            edges = belief.chances.cumsum()
            drawn = edges.searchsorted(generator.random(n) * edges[-1], side="right").clip(max=len(edges) - 1)
            raw[:, belief.places] = belief.hidden[drawn]
        if self._secrets is not None:  # the seats before the one to move choose again
            states["player"] = 0
            _play_together(self.game, states, self._players, lambda: np.flatnonzero(states["player"] < self.seat))
        return states


def fork(game: Game | str, state: Any, seed: int = 0, *, against: Any = None) -> np.ndarray:
    """Return another game that the seat to move may be in, by what it can know: for planning.

    The dice to come are fresh. What is hidden from that seat is drawn anew, from what it may believe after the actions
    of the others. By contrast, ``state.copy()`` is the same game with the same dice to come.

    Args:
        game: the game.
        state: its record, an array of one or a `State`, in which somebody is to move. What that player may not know is
            not read: it may be zero.
        seed: names the dice; the same seed forks alike.
        against: the supposed players of the other seats: an agent's name or a `dicegym.Player`; default:
            `dicegym.analysis.playing_on.usual_policy`.

    Returns:
        An array of one record, as `dicegym.Game.new_game` returns it.

    Raises:
        ParameterError: the game is over, the state or seed is invalid, or the game has no ``chance.py`` that says what
            may be believed of what it hides.
        UnknownNameError, AgentError, ModelError, DependencyError: the others cannot play; see `dicegym.agent`.

    Example:
        >>> import dicegym
        >>> from dicegym.values import fork
        >>> state = dicegym.game("liarsdice").new_state(seed=1)
        >>> fork(state.game, state, seed=2).shape
        (1,)
    """
    game = make_game(game)
    state = record_of(game, state)
    if state["over"]:
        raise ParameterError("the game is over and has no dice to come: fork it before its end")
    seed = whole_number("seed", seed, -LARGEST_SEED, LARGEST_SEED, "a number that names dice")
    generator = np.random.default_rng(named_seed("fork", seed))
    keys = generator.integers(0, 1 << 64, 1, dtype=np.uint64)
    return Beliefs(game, state, suppose_players(game, against)).deal(1, keys, generator)


def suppose_players(game: Game, against: Any = None) -> list[Player]:
    """Return the player that `fork` supposes in each seat; empty for games that hide nothing. Raises as `fork` does."""
    if not list_hidden_fields(game):
        if against is not None:
            opponent(game, against)
        return []
    return [opponent(game, usual_policy(game) if against is None else against)] * game.players
