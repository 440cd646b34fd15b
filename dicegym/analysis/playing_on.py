"""Games that are played on from given states, thousands at once, to their end or to where their value is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.analysis.kernels.playing_on import play_out, returns_rows
from dicegym.analysis.policies import choose_rows
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.threads import Threads
from dicegym.errors import ParameterError
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.play.player import Player
from dicegym.players.twins import TwinPlayer

MOST_DECISIONS = 50_000
"""Of one game: who plays longer than that does not end."""
_BLOCK = 1024
"""Games that are asked about in one call: their records stay in the processor's cache."""


def unit_of(game: Game) -> ValueUnit:
    """Return what results of a game count: points for one who plays alone, else the share of the first place."""
    return "points" if game.players == 1 else "win rate"


def results(game: Game, states: np.ndarray) -> np.ndarray:
    """Return what finished games came to for each seat: float64[states, players], in `unit_of` the game."""
    returns = np.zeros((len(states), game.players), np.float32)
    returns_rows(states, returns)
    if game.players == 1:
        return returns.astype(np.float64)
    first = returns == returns.max(axis=1, keepdims=True)
    shares: np.ndarray = first / first.sum(axis=1, keepdims=True)
    return shares


class Continuation:
    """Who plays on, and up to where.

    Args:
        game: the game.
        players: by seat.
        leaves: says what states are worth at which nobody needs to play on: after the next public event (the end of a
            hand) in games that have such, else after the first decision; None: games are played to their end.
        threads: number of threads; results do not depend on it.

    Raises ParameterError if ``leaves`` counts something else than games' results, or knows another game.
    """

    def __init__(self, game: Game, players: Sequence[Player], leaves: Valuer | None, threads: int) -> None:
        self.game = game
        self.players = list(players)
        self.leaves = leaves
        if leaves is not None and leaves.game != game:
            raise ParameterError(f"{leaves.name} knows {leaves.game!r}, and not {game!r}")
        if leaves is not None and leaves.unit != unit_of(game):
            raise ParameterError(f"{leaves.name} counts in {leaves.unit}, and games here in {unit_of(game)}")
        self._threads = Threads(threads if all(player.at_once for player in self.players) else 1)
        self._bots = (
            np.array([player.number for player in self.players if isinstance(player, TwinPlayer)], np.int64)
            if leaves is None and all(isinstance(player, TwinPlayer) for player in self.players)
            else None
        )

    def finish(self, states: np.ndarray, since: Any) -> np.ndarray:
        """Play games on, in place; return what they came to: float64[states, players].

        ``since`` is the state from which all of them come: a hand that ended after it is a leaf.

        Raises:
            AgentError: a player failed, and the rules do not say what that costs.
            ParameterError: a game does not end.
        """
        found = np.empty((len(states), self.game.players))
        event = self.game.spec.public_event
        hand = None if event is None else since[event].item()

        def play(start: int, end: int) -> None:
            for first in range(start, end, _BLOCK):
                block = slice(first, min(first + _BLOCK, end))
                found[block] = self._finish(states[block], hand)

        self._threads.share(len(states), play)
        return found

    def _finish(self, states: np.ndarray, hand: int | None) -> np.ndarray:
        if self._bots is not None:
            unfinished = play_out(states, np.arange(len(states)), self._bots, MOST_DECISIONS)
        else:
            unfinished = self._step_by_step(states, hand)
        if unfinished:
            raise ParameterError(
                f"{unfinished} games were not over after {MOST_DECISIONS:,} decisions each: let others play them on "
                f"than {', '.join(dict.fromkeys(player.name for player in self.players))}"
            )
        found = np.empty((len(states), self.game.players))
        over = states["over"].copy()
        if over.any():
            found[over] = results(self.game, states[over])
        if not over.all() and self.leaves is not None:
            found[~over] = worth_of(self.leaves, states[~over])
        return found

    def _step_by_step(self, states: np.ndarray, hand: int | None) -> int:
        """Ask the players for all games together; return how many games had no end."""
        event = self.game.spec.public_event
        faults = np.zeros(len(states), np.int64)
        acts: list[dict[int, Any]] = [{} for _ in self.players]
        for _ in range(MOST_DECISIONS):
            going = ~states["over"]
            if self.leaves is not None:
                going &= (states[event] == hand) if event is not None else False
            rows = np.flatnonzero(going)
            if len(rows) == 0:
                return 0
            seats = states["player"][rows].astype(np.int64)
            for seat in np.unique(seats).tolist():
                its = rows[seats == seat]
                own = np.full(len(its), seat, np.int64)
                actions = choose_rows(self.players[seat], self.game, states, its, own, acts[seat])
                loops.step_rows(states, its, actions, faults)
        return int((~states["over"]).sum())


def worth_of(valuer: Valuer, states: np.ndarray) -> np.ndarray:
    """Return what states that are not over are worth to each seat: float64[states, players].

    Where a valuer knows what a hand is worth before anybody has rolled (``between_rows``), that is asked for: the dice
    of the hand that begins need not be played then.
    """
    for name in ("between_rows", "values_rows"):
        in_rows = getattr(valuer, name, None)
        if in_rows is not None:
            found: np.ndarray = in_rows(states)
            return found
    seats = range(valuer.game.players)
    return np.array([[valuer.value(state, seat) for seat in seats] for state in states])
