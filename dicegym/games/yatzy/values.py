"""Values of Yatzy: exact ones alone, and the luck of rolls for any number of players.

Alone, only points count, and `dicegym.games.yatzy.solving.points` solves the game within seconds. The luck of each roll
is exact then. The score less that luck is the best mean less the regret of the player's choices, which estimates a
player's mean far better than the score does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.solved import Claim
from dicegym.games.worth import ActionValues, Meter, Progress, ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.games.yatzy.rules import BEST, BONUS, BONUS_FROM, COUNTS, FACES, KEEPS, SPEC, TWO_PAIRS
from dicegym.games.yatzy.solving import points
from dicegym.play.player import Player
from dicegym.play.turn import record_of

SOLVED = {"players": 1}
"""With several players, others' points count too, and no exact values are known."""


def solves(game: Game) -> bool:
    """Return whether ``game`` is Yatzy for one."""
    return game.name == SPEC.name and game.players == SOLVED["players"]


def optimum(game: Game, *, progress: Progress | None = None) -> float:
    """Return the mean score of best play; ``progress`` is called with the number of sets of boxes solved.

    Raises ParameterError if ``game`` is not Yatzy for one.
    """
    if not solves(game):
        raise ParameterError(f"{game!r} has no exact values: give dicegym.game({SPEC.name!r}, players=1)")
    return float(points.solve_once(progress)[0, 0])


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the source of state values; none for several players."""
    if not solves(game):
        return ()
    doc = "the highest possible mean of the points, solved by dynamic programming within seconds"
    return (ValueSource(AloneValuer.name, "exact", doc, lambda: True, lambda progress: AloneValuer(game, progress)),)


class AloneValuer(Valuer):
    """Values of Yatzy for one: the mean final score if the player continues with best play.

    The first valuer of a process solves the game, and calls ``progress`` meanwhile.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "points"
    sure = "exact"
    sees_all = False

    def __init__(self, game: Game, progress: Progress | None = None) -> None:
        self.game = game
        self._values = points.solve_once(progress)

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state: float64[states, 1]."""
        out = np.empty(len(states))
        points.value_rows(self._values, states, out)
        return (_points_so_far(states) + out)[:, np.newaxis]

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, all unfinished: arrays of float64[states, n_actions]."""
        to_come = points.action_values(self._values, states, states["player"].astype(np.int64))
        values = _points_so_far(states)[:, np.newaxis] + to_come
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the value of one action, see `Valuer.action_value`; turns that the server plays are included."""
        before = np.atleast_1d(record_of(self.game, state))
        after = before.copy()
        self.game.step(after[0], action)
        old, new = before[0], after[0]
        if new["over"] or new["round_number"] != old["round_number"]:
            return float(_points_so_far(after)[0] + points.still_to_come(self._values, new, 0))
        if new["rolls_left"] != old["rolls_left"]:
            return float(self.action_values(state).values[points.set_kept(old, action)])
        return self.value(state, 0)


def _points_so_far(states: np.ndarray) -> np.ndarray:
    """Return the points of the only player of each state, the bonus included: float64[states]."""
    found: np.ndarray = states["totals"][:, 0] + np.where(states["upper"][:, 0] >= BONUS_FROM, float(BONUS), 0.0)
    return found


class RollMeter:
    """Adds up the luck of rolls: in points for one player, in shares of the first place for several; see `Meter`."""

    def __init__(self, seats: np.ndarray) -> None:
        self.luck = np.zeros(seats.shape)
        self._values = points.solve_once()

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        points.begin_rows(self._values, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        points.add_rows(self._values, before, rows, actions, after, self.luck)


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter, the same for all players; see `dicegym.games.parts.Values`."""
    return RollMeter(seats)


def score_single_pairs() -> np.ndarray:
    """Return the points of each hand if a single pair also scores in Two Pairs: int64[252, 15].

    The program of Larsson and Sjöberg ("Optimal Yatzy Strategy", KTH, 2012) scores so: its `scorePair` adds the two
    highest pairs, and 0 for a missing second one. The rules in their text ask for two different pairs.
    """
    scores = BEST.astype(np.int64)
    pairs = np.where(COUNTS[KEEPS:] >= 2, 2 * np.arange(1, FACES + 1), 0)
    scores[:, TWO_PAIRS] = np.sort(pairs, axis=1)[:, -2:].sum(axis=1)
    return scores


def claims() -> Sequence[Claim]:
    """Return the published values of Yatzy: the best mean score alone, which other solvers confirm."""
    proof = "backward induction; two independent solvers agree to 1e-10"
    source = "Larsson and Sjöberg, Optimal Yatzy Strategy, KTH, 2012: their program scores one pair in Two Pairs"

    def alone() -> float:
        return optimum(make_game(SPEC.name, players=1))

    def by_their_program() -> float:
        return float(points.solve(scores=score_single_pairs())[0, 0])

    return (
        Claim("mean score of best play, alone", 248.4399893779, 1e-9, proof, alone),
        Claim("the same where one pair scores in Two Pairs", 248.6328539121, 1e-9, source, by_their_program),
    )
