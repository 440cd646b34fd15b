"""Luck-adjusted results: the driver of the games' luck meters.

A result less the luck of its game has the same mean as the result for any players, and varies less (AIVAT: Burch,
Schmid, Moravcik, Morrill and Bowling, "AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect
Information Games", AAAI 2018). A game's ``values.py`` says what its luck is (`dicegym.games.parts.Values`); here games
are played again by their actions, while a meter is told of them.
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
"""Standard deviation of results less luck below which they are all the same but for rounding."""
MOST_SAVED = 1e6
"""Times as many games from which on nothing but rounding is left of luck."""
FEWEST_FITTED = 40
"""Games from which on it can be told whether the whole of their luck counts."""
CLEARLY, TINY = 1.25, 1e-9
"""How many times as large the rest must be with a part of luck, and by how much larger, for a part to be taken out."""
SIDE_BY_SIDE = 1000
"""Games that are played again side by side."""


def meter_of(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games between ``players``; see `dicegym.games.parts.Values.meter`.

    Raises ParameterError if the game has no meter as it is played.
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
    """Raise ParameterError if luck cannot be taken out of the results of ``game`` as it is played."""
    nobody = np.zeros((0, game.players), np.int64)
    meter_of(game, [None], nobody)


def scale_luck(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return how much luck is to be taken out of each result: all of it, or less where it is measured too large.

    A meter that knows little of the players may over- or underrate the dice. So either half of the games says, by least
    squares, how much of the luck of the other half counts, if that is clearly better than all of it: as no game has a
    say in its own part, the mean stays that of the results.

    Args:
        results: float64[games, ...], such as the share of the first place of one player or of all.
        luck: what the meter says, the same shape.
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
    """Return which part of luck to take out of results."""
    result, drawn = (one - one.mean(axis=0) for one in (results, luck))
    spread = float((drawn**2).sum())
    part = float((result * drawn).sum()) / spread if spread > 0 else 1.0
    with_all, with_part = (float(((result - share * drawn) ** 2).sum()) for share in (1.0, part))
    return part if with_all > CLEARLY * with_part + TINY else 1.0


class Watched:
    """Games that are played side by side, decision by decision, while a meter is told of them.

    Args:
        game: what is played.
        states: the records, in which the games have just begun.
        meter: is told of everything.

    Attributes:
        time: how many decisions have been played in each game that is not over.
    """

    def __init__(self, game: Game, states: np.ndarray, meter: Meter) -> None:
        self._states, self._meter = states, meter
        self._before = states.copy()
        self.time = 0
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
        self.time += 1


def luck_of(
    game: Game,
    players: Sequence[Player | None],
    seats: Sequence[Sequence[int]] | np.ndarray,
    seed: int,
    numbers: Sequence[int],
    actions: Sequence[Sequence[int]],
) -> np.ndarray:
    """Return what luck was worth to each seat in games that have been played: float64[games, players of the game].

    In the unit of results: the share of the first place, or the return in a game for one player.

    Args:
        game: what was played.
        players: those that played; None for one that cannot be asked.
        seats: for each game which of ``players`` sat in each seat.
        seed: of the games.
        numbers: of each game.
        actions: of each game, in the order in which they were played: of all seats, until the game was over.

    Raises:
        ParameterError: there is no meter for the game, or the actions do not end a game.
    """
    who = np.asarray(seats, np.int64).reshape(len(numbers), game.players)
    luck = np.zeros((len(numbers), game.players))
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
