"""A weighted pool of players, from which each game draws its opponents."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from dicegym.bots.source import Source
from dicegym.engine.dice import FINE
from dicegym.engine.game import Game
from dicegym.engine.seats import seat_pool
from dicegym.engine.validate import finite_number
from dicegym.errors import ParameterError, UntrustedCodeWarning
from dicegym.play.player import Player
from dicegym.players.batch_players import TwinPlayer
from dicegym.players.roster import agents_folder, is_strangers, opponent, resolve
from dicegym.registry import is_shipped as is_own_game

_WARNED: list[str] = []
"""The program that `UntrustedCodeWarning` named."""


class Pool:
    """Players with weights; `draw_seats` draws one for each seat of a game by the game's key.

    Args:
        players: the players.
        weights: one positive number each, in any unit.

    Raises:
        ParameterError: no players, or a weight that is not a positive number.
    """

    def __init__(self, players: Sequence[Player], weights: Sequence[Any]) -> None:
        if not players:
            raise ParameterError("an empty pool has no players: name at least one opponent")
        self.players = list(players)
        self.weights = [
            finite_number(f"weight of {player.name!r}", weight, "a share of a pool", above=0)
            for player, weight in zip(players, weights, strict=True)
        ]
        total = sum(self.weights)
        finite_number("sum of weights", FINE * total, "the whole of a pool")
        self.bounds = np.array([round(FINE * share / total) for share in accumulate(self.weights)], np.int64)

    @classmethod
    def of(cls, game: Game, spec: Any) -> Pool:
        """Return a pool of a Pool, an agent (see `dicegym.agent`), a list of agents, or {agent: weight}.

        None means the game's default opponents. Agents are replaced by their compiled twins
        (`dicegym.players.batch_players`). The first file that does not ship with the package or the game gives an
        UntrustedCodeWarning.

        Raises:
            UnknownNameError, AgentError, ModelError: an agent cannot be found or loaded.
        """
        if isinstance(spec, Pool):
            return spec
        spec = game.spec.default_opponent if spec is None else spec
        specs = list(spec) if isinstance(spec, dict | list | tuple) else [spec]
        weights = list(spec.values()) if isinstance(spec, dict) else [1.0] * len(specs)
        pool = cls([opponent(game, name) for name in specs], weights)
        for name, player in zip(specs, pool.players, strict=True):
            if not isinstance(player, TwinPlayer) and is_program(game, name):
                _warn_of_program(player.name)
        return pool

    def draw_seats(self, key: int, learner: int, seats: int) -> dict[int, Player]:
        """Return seat -> player in the game with this key, except for the ``learner``'s seat."""
        members = np.empty(seats, np.int16)
        seat_pool(self.bounds, np.uint64(key), learner, members)
        return {seat: self.players[member] for seat, member in enumerate(members.tolist()) if member >= 0}


def is_program(game: Game, spec: Any) -> bool:
    """Return whether ``spec`` names a bot's file that ships neither with the package nor with its game."""
    if not is_strangers(game, spec):
        return False
    origin = resolve(game, spec)
    if is_own_game(game.name) or not isinstance(origin, Source):
        return True
    return not origin.file.resolve().is_relative_to(agents_folder(game).resolve())


def needs_trust(game: Game, spec: Any) -> bool:
    """Return whether playing ``spec`` from a stranger's settings is unsafe.

    A program would run in this process; a language model would get the user's key, at an address of the author's.
    """
    found = resolve(game, spec)
    return found.costly if isinstance(found, Player) else is_program(game, spec)


def _warn_of_program(name: str) -> None:
    """Warn once in a process, of the first program."""
    if _WARNED:
        return
    _WARNED.append(name)
    warnings.warn(
        f"the opponent {name!r} is a program that runs in this process: it can read the dice, the learner and your "
        "files. Use it only if you trust its author; contests run such programs in a sandbox",
        UntrustedCodeWarning,
        stacklevel=3,
    )
