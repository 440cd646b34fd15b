"""A weighted pool of players, from which each game draws its opponents."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from dicegym.engine.dice import FINE, HOST_SEAT, drawn
from dicegym.engine.game import Game
from dicegym.engine.seats import LEARNER_TURN
from dicegym.errors import ParameterError
from dicegym.play.player import Player
from dicegym.players.twins import opponent


class Pool:
    """Players with weights; `pick` draws one for a seat of a game, as a function of the game's key.

    Args:
        players: the players.
        weights: one positive number each, in any unit.

    Attributes:
        bounds: for each player the number below which it is drawn unless one before it is, see `pick`.

    Raises:
        ParameterError: no players, or a weight that is not a positive number.
    """

    def __init__(self, players: Sequence[Player], weights: Sequence[Any]) -> None:
        if not players:
            raise ParameterError("an empty pool has nobody to play: name at least one opponent")
        for player, weight in zip(players, weights, strict=True):
            number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not number or not math.isfinite(weight) or weight <= 0:
                raise ParameterError(
                    f"weight {weight!r} of {player.name!r} is no share of a pool: give a number above 0"
                )
        self.players = list(players)
        self.weights = [float(weight) for weight in weights]
        total = sum(self.weights)
        self.bounds = [round(FINE * share / total) for share in accumulate(self.weights)]

    @classmethod
    def of(cls, game: Game, spec: Any) -> Pool:
        """Return ``spec`` as a pool: a Pool, an agent (see `dicegym.agent`), a list of agents, or {agent: weight}.

        Agents that have a compiled twin are played by it (see `dicegym.players.twins`).

        Raises:
            UnknownNameError, AgentError, ModelError: an agent cannot be found or loaded.
        """
        if isinstance(spec, Pool):
            return spec
        if isinstance(spec, dict):
            return cls([opponent(game, name) for name in spec], list(spec.values()))
        specs = spec if isinstance(spec, list | tuple) else [spec]
        return cls([opponent(game, name) for name in specs], [1.0] * len(specs))

    @property
    def only(self) -> Player | None:
        """The one player of a pool of one, else None."""
        return self.players[0] if len(self.players) == 1 else None

    def pick(self, key: int, seat: int) -> Player:
        """Return the player that ``seat`` draws in the game with this key."""
        if len(self.players) == 1:
            return self.players[0]
        at = drawn(key, HOST_SEAT, LEARNER_TURN, 1 + seat, FINE)
        return self.players[min(bisect_right(self.bounds, at), len(self.players) - 1)]
