"""Results with their luck taken out: the driver of the games' luck meters.

A result less the luck of its game has the same mean as the result, whoever plays, and varies less, so that fewer games
say as much (AIVAT: Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games", AAAI 2018). What luck is in a game is for its ``luck.py`` to say
(`dicegym.games.worth.Luck`); here games are played again by their actions, side by side, while a meter is told of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import LUCK, part
from dicegym.games.worth import Meter
from dicegym.play.player import Player
from dicegym.registry import GAMES

SIDE_BY_SIDE = 1000
"""Games that are played again side by side."""


def meter_of(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games between ``players``; see `dicegym.games.worth.Luck.meter`.

    Raises ParameterError if there is none for the game as it is played.
    """
    found = part(game, LUCK)
    meter = None if found is None else found.meter(game, players, seats)
    if meter is None:
        raise _no_meter(game, found is not None)
    return meter


def check_meter(game: Game) -> None:
    """Raise ParameterError if luck cannot be taken out of the results of ``game`` as it is played."""
    nobody = np.zeros((0, game.players), np.int64)
    meter_of(game, [None], nobody)


def _no_meter(game: Game, others: bool) -> ParameterError:
    """Return the error for a game without a meter; ``others``: with other players or parameters it may have one."""
    named = [name for name in GAMES if part(name, LUCK) is not None]
    if others:
        why = "choose another number of players, or other parameters, for which its luck.py has a way"
    elif named:
        why = f"take a game that can: {', '.join(named)}; or write luck.py beside its rules"
    else:
        why = "write luck.py beside its rules"
    return ParameterError(
        f"luck cannot be taken out of the results of {game!r}: leave out less_luck and play more games, or {why}"
    )


class Watched:
    """Games that are played side by side, decision by decision, while a meter is told of them.

    Args:
        game: what is played.
        states: the records, in which the games have just begun.
        meter: is told of everything.
    """

    def __init__(self, game: Game, states: np.ndarray, meter: Meter) -> None:
        self._states, self._meter = states, meter
        self._before = states.copy()
        meter.begin(states, np.arange(len(states)))

    @property
    def open(self) -> np.ndarray:
        """Numbers of the games that are not over: int64[k]."""
        return np.flatnonzero(~self._states["over"])

    def step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Play ``actions[k]`` in game ``rows[k]``, none twice."""
        self._before[rows] = self._states[rows]
        loops.step_rows(self._states, rows, actions, np.empty(len(rows), np.int64))
        self._meter.add(self._before, rows, actions, self._states)


def luck_of(
    game: Game,
    players: Sequence[Player | None],
    seats: Sequence[Sequence[int]] | np.ndarray,
    seed: int,
    numbers: Sequence[int],
    actions: Sequence[Sequence[int]],
) -> np.ndarray:
    """Return what luck was worth to each seat in games that have been played: float64[games, players of the game].

    In the unit of results: the share of the first place, or the return of one who plays alone.

    Args:
        game: what was played.
        players: who played; None for one who cannot be asked.
        seats: for each game which of ``players`` sat in each seat.
        seed: of the games.
        numbers: of each game.
        actions: of each game, in the order in which they were played: of all seats, until the game was over.

    Raises:
        ParameterError: there is no meter for the game, or the actions do not end a game.
    """
    who = np.asarray(seats, np.int64).reshape(len(numbers), game.players)
    luck = np.zeros((len(numbers), game.players))
    if not len(numbers):
        return luck
    for first in range(0, len(numbers), SIDE_BY_SIDE):
        part_of = slice(first, first + SIDE_BY_SIDE)
        luck[part_of] = _played_again(game, players, who[part_of], seed, numbers[part_of], actions[part_of])
    return luck


def _played_again(
    game: Game,
    players: Sequence[Player | None],
    seats: np.ndarray,
    seed: int,
    numbers: Sequence[int],
    actions: Sequence[Sequence[int]],
) -> np.ndarray:
    n = len(numbers)
    states = game.new_states(n)
    keys = np.full(n, np.uint64(seed % (1 << 64)), np.uint64)
    loops.begin_rows(states, np.arange(n), game.blank, keys, np.array(numbers, np.uint64))
    lengths = np.array([len(one) for one in actions])
    table = np.zeros((n, int(lengths.max(initial=0))), np.int64)
    for row, one in enumerate(actions):
        table[row, : len(one)] = one
    meter = meter_of(game, players, seats)
    watched = Watched(game, states, meter)
    for time in range(table.shape[1]):
        rows = watched.open
        rows = rows[lengths[rows] > time]
        watched.step(rows, table[rows, time])
    if len(left := watched.open):
        raise ParameterError(
            f"game {numbers[int(left[0])]} is not over after its {lengths[int(left[0])]} actions: give all actions of "
            "each game, of all seats"
        )
    return meter.luck
