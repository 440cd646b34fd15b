"""The cost of each decision of a game, and everybody's luck: values, totals, text and tables.

A decision costs the best candidate's value less that of the chosen one, by what the mover may know. All other changes
of a step are luck: dice, what others had in their cups, and the draws of players that play by chance. So for each
seat::

    result = value at the beginning - own regret + others' regret + luck

This holds to the last digit for any values; that luck has the mean 0 needs correct values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.valuers import (
    MARKS,
    SAME,
    Judged,
    Mark,
    Stake,
    ValuerFacts,
    amount_with_error,
    assess,
    describe_actions,
    figure,
    mark_of,
    sure,
    thresholds,
    unit_title,
)
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.columns import plain_table
from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.errors import ParameterError
from dicegym.escape import lines, one_line
from dicegym.games.worth import Progress, Valuer, ValueUnit
from dicegym.pictures.naming import name_players
from dicegym.pictures.watched import tell_apart
from dicegym.play.turn import record_of

AT_ONCE = 8
"""Actions judged in one call."""
STAKES = {Stake.FORCED: "forced", Stake.TRIVIAL: "trivial", Stake.OBVIOUS: "obvious", Stake.UNKNOWN: "not judged"}
"""Shown in place of a regret."""
COLUMN = 60
"""The most characters of a choice in text: whole orders are long."""
TRUTH = 1e-9
"""Smaller costs are rounding."""


class PricedDecision(NamedTuple):
    """One decision of a game: an action, or the whole choice of a seat where all seats choose at once."""

    number: int
    """The number of its first action in the game, from 1."""
    seat: int
    turn: int
    """The number of its first action among the seat's own, from 1."""
    actions: tuple[int, ...]
    best: tuple[tuple[int, ...], ...]
    """The best choices, which are worth the same. For a choice of many actions: those before the first one with a
    regret, and the best action in its place."""
    best_value: float
    """Their value to the seat, by what it may know; nan if unknown."""
    value: float
    """The value of the choice; nan if unknown."""
    cost: float
    """The regret of the decision, never negative; 0 if unknown."""
    error: float
    """Standard error of ``cost``."""
    stake: Stake
    values: tuple[float, ...]
    """What the game was worth to each seat before it."""
    luck: tuple[float, ...]
    """Each seat's luck from this decision to the next."""

    def mark(self, unit: ValueUnit) -> Mark | None:
        """Return its mark among `dicegym.analysis.valuers.MARKS`, or None."""
        return mark_of(self.cost, unit, self.error)


class SeatTotal(NamedTuple):
    """The sums of one seat's decisions and luck in a game."""

    seat: int
    name: str
    start: float
    """The value of the game at the beginning, after the first roll."""
    cost: float
    """The seat's regret."""
    gained: float
    """Its share of the others' regret."""
    luck: float
    result: float
    """The result of the game: ``start - cost + gained + luck``."""
    decisions: int
    unforced: int
    """Decisions that count: neither forced nor trivial nor obvious."""
    unknown: int
    """Decisions that could not be judged."""
    error_rate: float
    """Mean regret of unforced decisions; 0 without any."""
    marks: dict[str, int]
    """Sign of a mark -> number of decisions."""

    @property
    def adjusted(self) -> float:
        """The result less the luck."""
        return self.result - self.luck


@dataclass(frozen=True)
class Analysis:
    """The costs of a game's decisions, as text and plain values.

    Attributes:
        game: the game.
        names: the players by seat, no two alike.
        valuer: the source of values.
        decisions: in the order in which they were made.
        values: float64[actions + 1, players]: the value of the game to each seat before each action and at the end.
        luck: float64[actions, players].
        states: the records before each action, and the last one.
    """

    game: Game
    names: tuple[str, ...]
    valuer: ValuerFacts
    decisions: tuple[PricedDecision, ...]
    values: np.ndarray
    luck: np.ndarray
    states: np.ndarray

    @property
    def unit(self) -> ValueUnit:
        """The unit of values."""
        return self.valuer.unit

    @cached_property
    def totals(self) -> tuple[SeatTotal, ...]:
        """The totals, by seat."""
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

    def worst(self, n: int = 3) -> list[PricedDecision]:
        """Return the ``n`` decisions with the largest regret, the worst first."""
        return sorted((one for one in self.decisions if one.cost > 0), key=lambda one: -one.cost)[:n]

    def describe_choice(self, decision: PricedDecision) -> str:
        """Return the choice in words."""
        return describe_actions(self.game, self.states[decision.number - 1], decision.actions)

    def better(self, decision: PricedDecision) -> str:
        """Return the first of the best choices in words, and how many more are as good; empty if unknown."""
        if not decision.best:
            return ""
        more = len(decision.best) - 1
        first = describe_actions(self.game, self.states[decision.number - 1], decision.best[0])
        return first + (f" (or {more} as good)" if more else "")

    def explain(self, decision: PricedDecision) -> str:
        """Return what a decision with a regret lost, and a better choice."""
        mark, lost = decision.mark(self.unit), amount_with_error(decision.cost, decision.error, self.unit)
        what = mark.noun if mark else "a small loss"
        return f"{what}: {self.describe_choice(decision)} instead of {self.better(decision)} loses {lost}"

    def notes(self) -> dict[tuple[int, int], str]:
        """Return a note on each decision with a mark, by seat and turn, for `dicegym.arena.replay.moments`."""
        found = {}
        for one in self.decisions:
            mark = one.mark(self.unit)
            if mark is not None:
                lost = amount_with_error(one.cost, one.error, self.unit)
                found[one.seat, one.turn] = f"{mark.sign} loses {lost}, better: {self.better(one)}"
        return found

    def text(self, worst: int = 3) -> str:
        """Return the analysis as text: a line for each decision, totals, and the ``worst`` decisions explained."""
        by = "knowing what was hidden" if self.valuer.sees_all else "by what the player to move may know"
        names = ", ".join(self.names)
        parts = [f"{self.game.spec.title}: {names}. {sure(self.valuer)}. Decisions are judged {by}."]
        if self.decisions:
            parts.append("\n".join(plain_table(*self._decision_table())))
        parts.append("\n".join(plain_table(*self._total_table())))
        for one in self.worst(worst):
            scene = name_players(self.game.scene(self.states[one.number - 1]), self.names).text()
            told = f"Move {one.number}, {self.names[one.seat]}: {self.explain(one)}."
            parts.append("\n".join([told, *(f"    {line}" for line in scene.split("\n"))]))
        parts.append("\n".join(self._remarks()))
        return lines("\n\n".join(parts))

    def _remarks(self) -> list[str]:
        """Return sentences that explain the figures."""
        found = [thresholds(self.unit)]
        if self.game.players > 1:
            found.append("Luck in the list of decisions is that of the player that moved.")
        found.append("Result = start - regret + others' regret + luck; adjusted is the result less the luck.")
        unknown = sum(total.unknown for total in self.totals)
        if unknown:
            found.append(f"{unknown} decisions could not be judged by these values; what they changed counts as luck.")
        if any(one.error > 0 for one in self.decisions):
            found.append("Costs are estimates: what may as well be chance (95 %) has no mark.")
        return found

    def _decision_table(self) -> tuple[list[str], list[list[str]]]:
        unit = self.unit
        worth = f"worth ({unit_title(unit)})"
        titles = ["move", "player", "", "chose", worth, "best", worth, "regret", "luck"]
        rows = []
        for one in self.decisions:
            mark = one.mark(unit)
            lost = one.cost > TRUTH
            rows.append(
                [
                    str(one.number),
                    self.names[one.seat],
                    mark.sign if mark else "",
                    one_line(self.describe_choice(one), COLUMN),
                    _known(one.value, unit),
                    one_line(self.better(one), COLUMN) if lost else "",
                    _known(one.best_value, unit) if lost else "",
                    figure(one.cost, unit) if lost else STAKES.get(one.stake, ""),
                    figure(one.luck[one.seat], unit, True),
                ]
            )
        return titles, rows

    def _total_table(self) -> tuple[list[str], list[list[str]]]:
        unit = self.unit
        gained = ["others' regret"] if self.game.players > 1 else []
        titles = [f"player ({unit_title(unit)})", "decisions", "unforced", *(mark.sign for mark in MARKS)]
        titles += ["error rate", "start", "regret", *gained, "luck", "result", "adjusted"]
        rows = []
        for one in self.totals:
            row = [one.name, str(one.decisions), str(one.unforced), *(str(one.marks[mark.sign]) for mark in MARKS)]
            row += [figure(one.error_rate, unit), figure(one.start, unit), figure(-one.cost, unit, True)]
            row += [figure(one.gained, unit, True)] if gained else []
            row += [figure(one.luck, unit, True), figure(one.result, unit), figure(one.adjusted, unit)]
            rows.append(row)
        return titles, rows

    def _row(self, one: PricedDecision) -> dict[str, Any]:
        """Return a decision as plain values."""
        mark = one.mark(self.unit)
        words = {"player": self.names[one.seat], "chosen": self.describe_choice(one), "better": self.better(one)}
        words |= {"mark": mark.sign if mark else "", "stake": one.stake.name.lower()}
        values = {"best_value": one.best_value, "value": one.value}
        return one._asdict() | words | {name: value if math.isfinite(value) else None for name, value in values.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the analysis as plain values: the source of values, totals, and a row for each decision."""
        return {
            "kind": "dicegym analysis",
            "version": 1,
            "game": self.game.name,
            "players": self.game.players,
            "parameters": dict(self.game.parameters),
            "names": list(self.names),
            "values": self.valuer._asdict() | {"at": self.values.tolist()},
            "totals": [{**one._asdict(), "adjusted": one.adjusted} for one in self.totals],
            "decisions": [self._row(one) for one in self.decisions],
        }


def analyse(
    game: Game,
    states: Iterable[Any],
    actions: Sequence[int],
    names: Sequence[str] | None = None,
    valuer: Valuer | None = None,
    *,
    progress: Progress | None = None,
) -> Analysis:
    """Return the cost of each decision of a game.

    Args:
        game: the game.
        states: the records before each action and after the last one, or arrays of one record
            (`dicegym.arena.replay.Replay.states`).
        actions: the actions of all seats in order.
        names: the players by seat (default: ``player 0`` and so on).
        valuer: the source of values (default: the best that is ready, `dicegym.values.valuer`).
        progress: told of the actions that are judged.

    Raises:
        ParameterError: the numbers of states, actions and names do not match, or a state is of another game.

    Example:
        >>> import dicegym
        >>> from dicegym.values import analyse
        >>> game = dicegym.game("hog", goal=20)
        >>> state, states, actions = game.new_state(seed=1), [], []
        >>> while not state.over:
        ...     states.append(state.record.copy())
        ...     actions.append(int(state.legal_actions()[-1]))
        ...     _ = state.step(actions[-1])
        >>> found = analyse(game, [*states, state.record], actions)
        >>> len(found.decisions) == len(actions)
        True
    """
    asked = best_valuer(game) if valuer is None else valuer
    table = _table(game, states, len(actions))
    who = [f"player {seat}" for seat in range(game.players)] if names is None else names
    if len(who) != game.players:
        raise ParameterError(f"{len(who)} names do not fit a game of {game.players}: give one for each seat")
    found, values = _judge(asked, table, np.asarray(actions, np.int64), progress)
    movers = table["player"][:-1].astype(np.int64)
    shares = np.full((len(actions), game.players), share_of_others(game, asked.unit))
    shares[np.arange(len(actions)), movers] = -1.0
    luck = np.diff(values, axis=0) - shares * found.costs[:, None]
    turns = np.zeros(len(actions), np.int64)
    for seat in range(game.players):
        own = movers == seat
        turns[own] = np.arange(1, own.sum() + 1)
    played = tuple(map(int, actions))
    decisions = tuple(
        _decision(first, last, int(movers[first]), int(turns[first]), played, found, values, luck)
        for first, last in _parts(game, movers)
    )
    about = ValuerFacts(*(getattr(asked, name) for name in ValuerFacts._fields))
    return Analysis(game, tuple(tell_apart(who)), about, decisions, values, luck, table)


def _judge(
    asked: Valuer, table: np.ndarray, actions: np.ndarray, progress: Progress | None
) -> tuple[Judged, np.ndarray]:
    """Return the costs of actions and the values of the records, judged a few at a time as it may take long."""
    values, found = [], []
    for first in range(0, len(actions), AT_ONCE):
        some = slice(first, min(first + AT_ONCE, len(actions)))
        found.append(assess(asked, table[some]).judge(actions[some]))
        values.append(asked.values_rows(table[some]))
        if progress is not None:
            progress(some.stop, len(actions), "")
    values.append(asked.values_rows(table[-1:]))
    found = found or [assess(asked, table[:0]).judge(actions)]
    return Judged(*map(np.concatenate, zip(*found, strict=True))), np.concatenate(values)


def _table(game: Game, states: Iterable[Any], n_actions: int) -> np.ndarray:
    """Return the records as one array, checked."""
    listed = list(states)
    if len(listed) != n_actions + 1:
        raise ParameterError(
            f"{len(listed)} states do not fit {n_actions} actions: give the one before each action, and the last one"
        )
    table = records(len(listed), game.spec.state)
    for row, one in enumerate(listed):
        table[row] = record_of(game, one)
    if table["over"][:-1].any():
        raise ParameterError(
            f"the game is over in state {int(table['over'].argmax())}, but actions follow: leave them out"
        )
    return table


def _parts(game: Game, movers: np.ndarray) -> list[tuple[int, int]]:
    """Return the numbers of each decision's first action and of the action after its last."""
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
) -> PricedDecision:
    some = slice(first, last)
    costs, stakes, chosen = found.costs[some], found.stakes[some], actions[some]
    best = [chosen]
    if last - first == 1 or costs.any():
        wrong = first + int((costs > 0).argmax())  # the first one, if no action cost anything
        right = np.flatnonzero(found.values[wrong] >= found.best[wrong] - SAME).tolist()
        put_right = [(*actions[first:wrong], one) for one in right]
        best = put_right if costs.any() else [chosen, *(one for one in put_right if one != chosen)]
    cost = float(costs.sum())
    # The value of a whole choice is that of its last action; the best value follows from the cost.
    value = float(found.chosen[last - 1])
    return PricedDecision(
        first + 1,
        seat,
        turn,
        chosen,
        tuple(best),
        value + cost if last - first > 1 else float(found.best[first]),
        value,
        cost,
        float(np.sqrt((found.errors[some] ** 2).sum())),
        Stake.UNKNOWN if Stake.UNKNOWN in stakes else Stake(int(min(stakes))),
        tuple(values[first].tolist()),
        tuple(luck[some].sum(axis=0).tolist()),
    )


def share_of_others(game: Game, unit: ValueUnit) -> float:
    """Return the share of one seat's cost that each other seat gains.

    Values do not say who gains, so the others share the cost equally if the values of all seats have a fixed sum.
    Otherwise nobody gains.
    """
    shared = game.players > 1 and (unit == "win rate" or (unit == "return" and game.spec.zero_sum))
    return 1 / (game.players - 1) if shared else 0.0


def _known(value: float, unit: ValueUnit) -> str:
    return figure(value, unit) if math.isfinite(value) else "-"
