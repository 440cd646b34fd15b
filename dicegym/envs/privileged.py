"""Privileged observations: what a value network may see in training beyond what its seat may know.

They are the private parts of the other seats' observations. Where a game can show a seat more than it does
(`dicegym.engine.spec.GameSpec.sighted`), everything it could show is included, for the own seat too.

Only training asks a critic, so it may see everybody's dice. Its values then vary less with hidden dice, and so do the
advantages that the policy learns from ("asymmetric actor critic", Pinto, Andrychowicz, Welinder, Zaremba and Abbeel,
RSS 2018; "centralised critic", Lowe et al., NeurIPS 2017). The policy never sees any of it.

A part of an observation is private if it changes with the seat's own entries of the game's private fields
(`private_parts`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import ParameterError

_GAMES, _DECISIONS = 64, 64
"""Random games, and decisions in each, in which observations are compared."""


class Privileged:
    """The privileged part of observations of a game.

    It holds the private parts (`private_parts`) of all seats' observations, from the own seat to the left. The own seat
    is left out if it sees its private parts anyway.

    Args:
        game: the game.

    Attributes:
        game: the game.
        parts: names of the private parts.
        size: length of the privileged part: that of the parts, times the number of seats shown.

    Raises:
        ParameterError: the game has one player, or seats hide nothing from each other.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        parameters = {**game.parameters, **game.spec.sighted}
        self._sighted = game if parameters == game.parameters else Game(game.spec, game.players, **parameters)
        self.parts = private_parts(self._sighted) if game.players > 1 else ()
        if not self.parts:
            why = "it has one player" if game.players == 1 else "no observation shows what others may not know"
            raise ParameterError(f"{game!r} has nothing privileged: {why}; leave privileged out")
        features = self._sighted.features
        ends = np.cumsum(list(features.values()))
        places = [
            np.arange(end - length, end)
            for (name, length), end in zip(features.items(), ends.tolist(), strict=True)
            if name in self.parts
        ]
        self._places = np.concatenate(places)
        sees_its_own = all(name in game.features for name in self.parts)
        self._seats = range(1 if sees_its_own else 0, game.players)  # to the left
        self.size = len(self._places) * len(self._seats)

    def of(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return what is hidden from ``seats`` (int64[n]) in ``states`` (records[n]): float32[n, size]."""
        n, width, players = len(states), len(self._places), self.game.players
        rows = np.arange(n)
        if self._sighted is not self.game:
            states = states.copy()
            for name, value in self.game.spec.sighted.items():
                states[name] = value
        seen = np.zeros((n, self._sighted.observation_size), np.float32)
        masks = np.zeros((n, self.game.n_actions), np.bool_)
        gained = np.zeros((n, players), np.float32)
        found = np.empty((n, self.size), np.float32)
        for number, left in enumerate(self._seats):
            loops.observe_rows(states, rows, (seats + left) % players, seen, masks, gained)
            found[:, number * width : (number + 1) * width] = seen[:, self._places]
        return found


@lru_cache(maxsize=64)
def private_parts(game: Game) -> tuple[str, ...]:
    """Return the observation parts that show what only the seat knows, in order.

    In random games, each seat's observation is compared with that of the same record with the seat's entries of private
    fields (`dicegym.engine.spec.GameSpec.private`) set to 0.
    """
    if not game.spec.private:
        return ()
    batch = game.batch(_GAMES, seed=0)
    rows = np.arange(_GAMES)
    shown = np.zeros(game.observation_size, np.bool_)
    masks = np.zeros((_GAMES, game.n_actions), np.bool_)
    gained = np.zeros((_GAMES, game.players), np.float32)
    before, after = (np.zeros((_GAMES, game.observation_size), np.float32) for _ in range(2))
    for time in range(_DECISIONS):
        for seat in range(game.players):
            seats = np.full(_GAMES, seat)
            without = batch.states.copy()
            for name in game.spec.private:
                without[name][:, seat] = 0
            loops.observe_rows(batch.states, rows, seats, before, masks, gained)
            loops.observe_rows(without, rows, seats, after, masks, gained)
            shown |= (before != after).any(axis=0)
        batch.step(batch.random_actions(time))
    ends = np.cumsum(list(game.features.values())).tolist()
    return tuple(
        name for (name, length), end in zip(game.features.items(), ends, strict=True) if shown[end - length : end].any()
    )
