"""Luck-adjusted results: replays games for the games' luck meters.

A result less the luck of its game has the mean of the result for any players, and varies less (AIVAT: Burch, Schmid,
Moravcik, Morrill and Bowling, "AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information
Games", AAAI 2018). The meter is part of a game's ``values.py`` (`dicegym.games.parts.Values`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import VALUES, defines, part
from dicegym.games.worth import Meter
from dicegym.play.player import Player
from dicegym.registry import GAMES

NO_SPREAD = 1e-9
"""Adjusted results with a smaller standard deviation differ by rounding only."""
MOST_SAVED = 1e6
"""With a larger saving of games, what varies is rounding only."""
FEWEST_FITTED = 40
"""The fewest games that show whether all of their luck counts."""
CLEARLY, TINY = 1.25, 1e-9
"""A part of luck is used if the squared rest with all of it is larger by this factor, and by this much."""
SIDE_BY_SIDE = 1000
"""The most games replayed side by side."""


def meter_of(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games between ``players``; see `dicegym.games.parts.Values.meter`.

    Raises ParameterError if the game has no meter for these parameters.
    """
    found = part(game, VALUES)
    meter = None if found is None else found.meter(game, players, seats)
    if meter is not None:
        return meter
    named = [name for name in GAMES if defines(name, VALUES, "meter")]
    why = f"take a game that can: {', '.join(named)}; or write values.py with a meter beside its rules"
    if defines(game, VALUES, "meter"):
        why = "choose another number of players, or other parameters, for which its values.py has a meter"
    raise ParameterError(
        f"luck cannot be taken out of the results of {game!r}: leave out less_luck and play more games, or {why}"
    )


def check_meter(game: Game) -> None:
    """Raise ParameterError if luck cannot be taken out of the results of ``game``."""
    meter_of(game, [None], np.zeros((0, game.players), np.int64))


def scale_luck(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return the luck to take out of each result: all that was measured, or a part of it.

    A meter that knows little of the players may over- or underrate the dice. So each half of the games gives, by least
    squares, the part that counts in the other half, if that is clearly better than all of it. No game affects its own
    part, so the mean stays that of the results.

    Args:
        results: float64[games, ...], such as the share of the first place of one player or of all.
        luck: the measured luck, of the same shape.
    """
    games = len(luck)
    if games < FEWEST_FITTED:
        return luck
    found = np.empty_like(luck)
    first = np.arange(games) < games // 2
    for half in (first, ~first):
        found[half] = _part(results[~half], luck[~half]) * luck[half]
    return found


def _part(results: np.ndarray, luck: np.ndarray) -> float:
    """Return the part of luck to take out of results."""
    result, drawn = (one - one.mean(axis=0) for one in (results, luck))
    spread = float((drawn**2).sum())
    part = float((result * drawn).sum()) / spread if spread > 0 else 1.0
    with_all, with_part = (float(((result - share * drawn) ** 2).sum()) for share in (1.0, part))
    return part if with_all > CLEARLY * with_part + TINY else 1.0


class Watched:
    """Games that are played side by side, decision by decision, under a luck meter.

    Args:
        states: the records, in which the games have just begun.
        meter: told of every decision.
    """

    def __init__(self, states: np.ndarray, meter: Meter) -> None:
        self._states, self._meter = states, meter
        self._before = states.copy()
        meter.begin(states, np.arange(len(states)))

    @property
    def open(self) -> np.ndarray:
        """The rows of the games that are not over: int64[k]."""
        return np.flatnonzero(~self._states["over"])

    def step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Play ``actions[k]`` in game ``rows[k]``; no row occurs twice."""
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
    """Return what luck was worth to each seat in finished games: float64[games, players of the game].

    In the unit of results: the share of the first place, or the return in a game for one player.

    Args:
        game: the game.
        players: those that played; None for one that cannot be asked.
        seats: for each game the index in ``players`` of the player in each seat.
        seed: the seed of the games.
        numbers: the number of each game.
        actions: the actions of each game in order, of all seats, until the game was over.

    Raises:
        ParameterError: the game has no meter, or the actions do not end a game.
    """
    who = np.asarray(seats, np.int64).reshape(len(numbers), game.players)
    luck = np.zeros((len(numbers), game.players))
    for first in range(0, len(numbers), SIDE_BY_SIDE):
        block = slice(first, first + SIDE_BY_SIDE)
        luck[block] = _replay(game, players, who[block], seed, numbers[block], actions[block])
    return luck


def _replay(
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
    meter = meter_of(game, players, seats)
    watched = Watched(states, meter)
    for time in range(int(lengths.max())):
        rows = watched.open
        rows = rows[lengths[rows] > time]
        watched.step(rows, np.array([actions[row][time] for row in rows.tolist()], np.int64))
    if len(left := watched.open):
        raise ParameterError(
            f"game {numbers[int(left[0])]} is not over after its {lengths[int(left[0])]} actions: give all actions of "
            "each game, of all seats"
        )
    return meter.luck
