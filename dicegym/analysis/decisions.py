"""What each decision of a game cost, and how lucky everybody was.

The mover gives away the best candidate's value less that of what was chosen, by what it may know. What else a step
changes is luck: dice, what others had in their cups, and the draws of whoever plays by chance. So for each seat::

    result = value at the beginning - own costs + what others gave it + luck

to the last digit, whatever the values are; that luck has the mean 0 needs values that are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.judging import SAME, Judged, Stake, judged, values_of
from dicegym.analysis.marks import MARKS, Mark, amount, mark_of
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.engine.scene import Scene
from dicegym.errors import ParameterError
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.players.watched import named, told_apart


class Decision(NamedTuple):
    """One decision of a game: where all choose at once, the whole choice of one seat, elsewhere one action."""

    number: int
    """Of its first action in the game, from 1."""
    seat: int
    turn: int
    """Of its first action among the seat's own, from 1."""
    actions: tuple[int, ...]
    best: tuple[tuple[int, ...], ...]
    """What was worth most: several where they are worth the same. Of a choice of many actions the one up to and with
    the first action that gave something away, put right."""
    best_value: float
    """To the seat, by what it may know; nan if unknown."""
    value: float
    """Of what was chosen; nan if unknown."""
    cost: float
    """What was given away, never negative; 0 where nothing is known."""
    error: float
    """Standard error of ``cost``."""
    stake: Stake
    values: tuple[float, ...]
    """What the game was worth to each seat before it."""
    luck: tuple[float, ...]
    """What each seat's luck was worth from then on until the next decision."""

    def mark(self, unit: ValueUnit) -> Mark | None:
        """Return what it is called, by `dicegym.analysis.marks.MARKS`."""
        return mark_of(self.cost, unit, self.error)


class SeatTotal(NamedTuple):
    """What the decisions and the luck of a game came to for one seat."""

    seat: int
    name: str
    start: float
    """What the game was worth at the beginning, the first dice having been rolled."""
    cost: float
    """What it gave away."""
    gained: float
    """What others gave it."""
    luck: float
    result: float
    """What the game came to: ``start - cost + gained + luck``."""
    decisions: int
    unforced: int
    """Decisions that count: neither forced nor trivial nor obvious."""
    unknown: int
    """Decisions that could not be judged."""
    error_rate: float
    """What an unforced decision gave away on average; 0 if there was none."""
    marks: dict[str, int]
    """Sign of a mark -> how many decisions have it."""

    @property
    def adjusted(self) -> float:
        """The result with the luck taken out."""
        return self.result - self.luck


class About(NamedTuple):
    """Who said what the states of an analysis are worth."""

    name: str
    kind: str
    unit: ValueUnit
    sure: str
    sees_all: bool


@dataclass(frozen=True)
class Analysis:
    """A game with what each decision cost.

    Attributes:
        game: what was played.
        names: of the players, by seat, no two alike.
        about: who says what states are worth.
        decisions: in the order in which they were made.
        values: float64[actions + 1, players]: what the game was worth to each seat before each action and at the end.
        costs: float64[actions]: what each action gave away.
        luck: float64[actions, players].
        scenes: the table before each decision, hidden things too.
    """

    game: Game
    names: tuple[str, ...]
    about: About
    decisions: tuple[Decision, ...]
    values: np.ndarray
    costs: np.ndarray
    luck: np.ndarray
    scenes: tuple[Scene, ...]

    @property
    def unit(self) -> ValueUnit:
        """What values count."""
        return self.about.unit

    @cached_property
    def totals(self) -> tuple[SeatTotal, ...]:
        """What it came to for each seat."""
        return tuple(self._total(seat) for seat in range(self.game.players))

    def _total(self, seat: int) -> SeatTotal:
        own = [one for one in self.decisions if one.seat == seat]
        cost = float(sum(one.cost for one in own))
        others = float(sum(one.cost for one in self.decisions)) - cost
        unforced = [one for one in own if one.stake == Stake.CHOICE]
        found = [mark for one in own if (mark := one.mark(self.unit))]
        return SeatTotal(
            seat,
            self.names[seat],
            float(self.values[0, seat]),
            cost,
            others * share_of_others(self.game, self.unit),
            float(self.luck[:, seat].sum()),
            float(self.values[-1, seat]),
            len(own),
            len(unforced),
            sum(one.stake == Stake.UNKNOWN for one in own),
            sum(one.cost for one in unforced) / len(unforced) if unforced else 0.0,
            {mark.sign: sum(one == mark for one in found) for mark in MARKS},
        )

    def worst(self, n: int = 3, seat: int | None = None) -> list[Decision]:
        """Return the decisions that gave away most, of all seats or of one, the worst first; none that cost nothing."""
        wrong = [one for one in self.decisions if one.cost > 0 and seat in (None, one.seat)]
        return sorted(wrong, key=lambda one: -one.cost)[:n]

    def chosen(self, decision: Decision) -> str:
        """Return what was chosen, in words."""
        return self._words(decision.actions)

    def better(self, decision: Decision) -> str:
        """Return the best choice, in words; of several the first, and how many more there are."""
        if not decision.best:
            return ""
        more = len(decision.best) - 1
        return self._words(decision.best[0]) + (f" (or {more} as good)" if more else "")

    def _words(self, actions: Sequence[int]) -> str:
        return ", ".join(map(self.game.action_name, actions))

    def explained(self, decision: Decision) -> str:
        """Return in a sentence what a decision gave away and what would have been better; empty if it cost nothing."""
        if not decision.cost > 0:
            return ""
        mark = decision.mark(self.unit)
        what = mark.noun if mark else "a small loss"
        text = f"{what}: {self.chosen(decision)} instead of {self.better(decision)} gives away "
        return text + f"{amount(decision.cost, self.unit)}{_give_or_take(decision.error, self.unit)}"

    def text(self, brief: bool = False, worst: int = 3) -> str:
        """Return it as text: totals, the worst decisions, and unless ``brief`` a line for each decision."""
        from dicegym.analysis.report import text_of

        return text_of(self, brief, worst)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain values for each decision, for CSV and data frames."""
        from dicegym.analysis.report import rows_of

        return rows_of(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: who said what it was worth, totals, and a row for each decision."""
        from dicegym.analysis.report import json_of

        return json_of(self)


def share_of_others(game: Game, unit: ValueUnit) -> float:
    """Return what part of one seat's cost each of the others gains.

    Where values of all seats have a fixed sum the others share it alike, as values do not say who gains how much; who
    plays for points alone gives nothing to anybody.
    """
    shared = game.players > 1 and (unit == "win rate" or (unit == "return" and game.spec.zero_sum))
    return 1 / (game.players - 1) if shared else 0.0


def analyse(
    game: Game,
    states: Iterable[Any],
    actions: Sequence[int],
    names: Sequence[str] | None = None,
    valuer: Valuer | None = None,
) -> Analysis:
    """Return what each decision of a game cost.

    Args:
        game: what was played.
        states: the records before each action and after the last one, or arrays of one record
            (`dicegym.arena.replay.Replay.states`).
        actions: what was played, of all seats in their order.
        names: of the players, by seat (default: ``player 0`` and so on).
        valuer: who says what states are worth (default: the best that is ready, `dicegym.analysis.valuer`).

    Raises:
        ParameterError: the game has no values; the numbers of states, actions and names do not fit; a state is of
            another game.
    """
    asked = best_valuer(game) if valuer is None else valuer
    table = _table(game, states, len(actions))
    who = [f"player {seat}" for seat in range(game.players)] if names is None else names
    if len(who) != game.players:
        raise ParameterError(f"{len(who)} names are none of a game of {game.players}: give one for each seat")
    called = told_apart(who)
    found = judged(asked, table[:-1], actions)
    values = values_of(asked, table)
    movers = table["player"][:-1].astype(np.int64)
    shares = np.full((len(actions), game.players), share_of_others(game, asked.unit))
    shares[np.arange(len(actions)), movers] = -1.0
    luck = np.diff(values, axis=0) - shares * found.costs[:, None]
    parts = _parts(game, movers)
    turns = np.zeros(len(actions), np.int64)
    for seat in range(game.players):
        own = movers == seat
        turns[own] = np.arange(1, own.sum() + 1)
    decisions = tuple(
        _decision(first, last, int(movers[first]), int(turns[first]), tuple(map(int, actions)), found, values, luck)
        for first, last in parts
    )
    scenes = tuple(named(game.scene(table[first]), called) for first, _ in parts)
    about = About(asked.name, asked.kind, asked.unit, asked.sure, asked.sees_all)
    return Analysis(game, tuple(called), about, decisions, values, found.costs, luck, scenes)


def _table(game: Game, states: Iterable[Any], n_actions: int) -> np.ndarray:
    """Return the records as one array, checked."""
    listed = [one[0] if isinstance(one, np.ndarray) and one.ndim else one for one in states]
    if len(listed) != n_actions + 1:
        raise ParameterError(
            f"{len(listed)} states do not fit {n_actions} actions: give the one before each action, and the last one"
        )
    table = records(len(listed), game.spec.state)
    for row, one in enumerate(listed):
        if getattr(one, "dtype", None) != table.dtype or int(one["players"]) != game.players:
            raise ParameterError(f"state {row} is no record of {game!r}: give those of `Game.new_game` and `Game.step`")
        table[row] = one
    if table["over"][:-1].any():
        raise ParameterError(
            f"the game is over in state {int(table['over'].argmax())}, and actions follow: leave these out"
        )
    return table


def _parts(game: Game, movers: np.ndarray) -> list[tuple[int, int]]:
    """Return of each decision its first action, and the one behind its last."""
    if game.spec.joint_action is None:
        return [(time, time + 1) for time in range(len(movers))]
    first = [0, *(np.flatnonzero(np.diff(movers)) + 1).tolist()] if len(movers) else []
    return list(zip(first, [*first[1:], len(movers)], strict=True))


def _decision(
    first: int,
    last: int,
    seat: int,
    turn: int,
    actions: tuple[int, ...],
    found: Judged,
    values: np.ndarray,
    luck: np.ndarray,
) -> Decision:
    some = slice(first, last)
    costs, stakes = found.costs[some], found.stakes[some]
    wrong = first + int((costs > 0).argmax())  # the first one, if nothing was given away
    stake = Stake(int(min(stakes)))
    if Stake.UNKNOWN in stakes:
        stake = Stake.UNKNOWN
    candidates, top = found.values[wrong], found.best[wrong]
    best = np.flatnonzero(candidates >= top - SAME).tolist() if np.isfinite(top) else []
    put_right = [(*actions[first:wrong], one) for one in best]
    if not costs.any():
        put_right = [actions[first:last], *(one for one in put_right if one != actions[first:last])]
    cost = float(costs.sum())
    # What the whole choice is worth follows from its last action; what it could have been worth, from its cost.
    value = float(found.chosen[last - 1])
    return Decision(
        first + 1,
        seat,
        turn,
        actions[some],
        tuple(put_right) if last - first == 1 or costs.any() else (actions[some],),
        value + cost if last - first > 1 else float(found.best[first]),
        value,
        cost,
        float(np.sqrt((found.errors[some] ** 2).sum())),
        stake,
        tuple(values[first].tolist()),
        tuple(luck[some].sum(axis=0).tolist()),
    )


def _give_or_take(error: float, unit: ValueUnit) -> str:
    return f" (give or take {amount(error, unit)})" if error > 0 else ""
