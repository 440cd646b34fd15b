"""A weighted pool of players, from which each game draws its opponents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from dicegym.engine.dice import FINE
from dicegym.engine.game import Game
from dicegym.engine.seats import pool_member
from dicegym.engine.validate import finite_number
from dicegym.errors import ParameterError
from dicegym.play.player import Player
from dicegym.players.twins import opponent


class Pool:
    """Players with weights; `pick` draws one for a seat of a game, as a function of the game's key.

    Args:
        players: the players.
        weights: one positive number each, in any unit.
        alike: the share of games, 0 to 1, in which one player has all seats; in the others each seat draws its own.

    Attributes:
        bounds: int64[players], the shares by which they are drawn: see `dicegym.engine.seats.pool_member`.
        games_alike: ``alike`` in the same unit.

    Raises:
        ParameterError: no players, a weight that is not a positive number, or ``alike`` is no share.
    """

    def __init__(self, players: Sequence[Player], weights: Sequence[Any], alike: float = 0.0) -> None:
        if not players:
            raise ParameterError("an empty pool has nobody to play: name at least one opponent")
        self.players = list(players)
        self.weights = [
            finite_number(f"weight of {player.name!r}", weight, "a share of a pool", above=0)
            for player, weight in zip(players, weights, strict=True)
        ]
        total = sum(self.weights)
        self.bounds = np.array([round(FINE * share / total) for share in accumulate(self.weights)], np.int64)
        share = finite_number("alike", alike, "a share of games")
        if not 0 <= share <= 1:
            raise ParameterError(f"alike={alike!r} cannot be used as a share of games: give a number from 0 to 1")
        self.games_alike = round(FINE * share)

    @classmethod
    def of(cls, game: Game, spec: Any, trust: bool = False) -> Pool:
        """Return ``spec`` as a pool: a Pool, an agent (see `dicegym.agent`), a list of agents, or {agent: weight}.

        Agents that have a compiled twin are played by it (see `dicegym.players.twins`). ``trust`` is as for
        `dicegym.agent`.

        Raises:
            UnknownNameError, AgentError, ModelError: an agent cannot be found or loaded.
        """
        if isinstance(spec, Pool):
            return spec
        if isinstance(spec, dict):
            return cls([opponent(game, name, trust) for name in spec], list(spec.values()))
        specs = spec if isinstance(spec, list | tuple) else [spec]
        return cls([opponent(game, name, trust) for name in specs], [1.0] * len(specs))

    @property
    def only(self) -> Player | None:
        """The one player of a pool of one, else None."""
        return self.players[0] if len(self.players) == 1 else None

    def pick(self, key: int, seat: int) -> Player:
        """Return the player that ``seat`` draws in the game with this key."""
        if len(self.players) == 1:
            return self.players[0]
        return self.players[int(pool_member(self.bounds, self.games_alike, np.uint64(key), seat))]
