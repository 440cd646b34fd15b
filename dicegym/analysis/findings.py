"""What was found out about a game: its decisions with what they cost, and what they came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dicegym.analysis.judging import Stake
from dicegym.analysis.marks import MARKS, Mark, amount, mark_of
from dicegym.engine.game import Game
from dicegym.engine.scene import Scene
from dicegym.games.worth import ValueUnit
from dicegym.pictures.naming import named
from dicegym.players.watched import action_in


class PricedDecision(NamedTuple):
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
class Findings:
    """A game with what each decision cost: what `dicegym.analysis.Analysis` shows.

    Attributes:
        game: what was played.
        names: of the players, by seat, no two alike.
        about: who says what states are worth.
        decisions: in the order in which they were made.
        values: float64[actions + 1, players]: what the game was worth to each seat before each action and at the end.
        costs: float64[actions]: what each action gave away.
        luck: float64[actions, players].
        states: the records before each action, and the last one.
    """

    game: Game
    names: tuple[str, ...]
    about: About
    decisions: tuple[PricedDecision, ...]
    values: np.ndarray
    costs: np.ndarray
    luck: np.ndarray
    states: np.ndarray

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

    def worst(self, n: int = 3, seat: int | None = None) -> list[PricedDecision]:
        """Return the decisions that gave away most, of all seats or of one, the worst first; none that cost nothing."""
        wrong = [one for one in self.decisions if one.cost > 0 and seat in (None, one.seat)]
        return sorted(wrong, key=lambda one: -one.cost)[:n]

    def scene(self, decision: PricedDecision) -> Scene:
        """Return the table before a decision, hidden things too."""
        return named(self.game.scene(self.states[decision.number - 1]), self.names)

    def chosen(self, decision: PricedDecision) -> str:
        """Return what was chosen, in words."""
        return self._words(decision, decision.actions)

    def better(self, decision: PricedDecision) -> str:
        """Return the best choice, in words; of several the first, and how many more there are."""
        if not decision.best:
            return ""
        more = len(decision.best) - 1
        return self._words(decision, decision.best[0]) + (f" (or {more} as good)" if more else "")

    def _words(self, decision: PricedDecision, actions: Sequence[int]) -> str:
        state = self.states[decision.number - 1]
        return ", ".join(action_in(self.game, state, action) for action in actions)

    def explained(self, decision: PricedDecision) -> str:
        """Return in a sentence what a decision gave away and what would have been better; empty if it cost nothing."""
        if not decision.cost > 0:
            return ""
        mark = decision.mark(self.unit)
        what = mark.noun if mark else "a small loss"
        text = f"{what}: {self.chosen(decision)} instead of {self.better(decision)} gives away "
        return text + f"{amount(decision.cost, self.unit)}{_give_or_take(decision.error, self.unit)}"

    def notes(self) -> dict[tuple[int, int], str]:
        """Return of each decision that has a mark what it gave away, by seat and number of the seat's decision.

        For `dicegym.arena.replay.moments`.
        """
        found = {}
        for one in self.decisions:
            mark = one.mark(self.unit)
            if mark is not None:
                lost = f"{mark.sign} gives away {amount(one.cost, self.unit)}{_give_or_take(one.error, self.unit)}"
                found[one.seat, one.turn] = f"{lost}, better: {self.better(one)}"
        return found


def share_of_others(game: Game, unit: ValueUnit) -> float:
    """Return what part of one seat's cost each of the others gains.

    Where values of all seats have a fixed sum the others share it alike, as values do not say who gains how much; who
    plays for points alone gives nothing to anybody.
    """
    shared = game.players > 1 and (unit == "win rate" or (unit == "return" and game.spec.zero_sum))
    return 1 / (game.players - 1) if shared else 0.0


def _give_or_take(error: float, unit: ValueUnit) -> str:
    return f" (give or take {amount(error, unit)})" if error > 0 else ""
