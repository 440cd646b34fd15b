"""What each decision of a game cost, and how lucky everybody was: values, totals, text and tables.

A decision costs the best candidate's value less that of the chosen one, by what the mover may know. What else a step
changes is luck: dice, what others had in their cups, and the draws of players that play by chance. So for each seat::

    result = value at the beginning - own regret + others' regret + luck

to the last digit, whatever the values are; that luck has the mean 0 needs values that are right.
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
    amount,
    assess,
    describe_actions,
    figure,
    give_or_take,
    mark_of,
    sure,
    thresholds,
    unit_title,
)
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.columns import plain_table
from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.engine.scene import Scene
from dicegym.errors import ParameterError
from dicegym.escape import lines, one_line
from dicegym.games.worth import Progress, Valuer, ValueUnit
from dicegym.pictures.naming import name_players
from dicegym.pictures.watched import tell_apart
from dicegym.play.turn import record_of

AT_ONCE = 8
"""Actions that are judged in one call."""
STAKES = {Stake.FORCED: "forced", Stake.TRIVIAL: "trivial", Stake.OBVIOUS: "obvious", Stake.UNKNOWN: "not judged"}
"""Shown instead of a mark."""
COLUMN = 60
"""Characters of a choice that are shown in text: whole orders are long."""
TRUTH = 1e-9
"""Costs and luck below this are rounding."""


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
    the first action that had a regret, put right."""
    best_value: float
    """To the seat, by what it may know; nan if unknown."""
    value: float
    """Of what was chosen; nan if unknown."""
    cost: float
    """The regret of the decision, never negative; 0 where nothing is known."""
    error: float
    """Standard error of ``cost``."""
    stake: Stake
    values: tuple[float, ...]
    """What the game was worth to each seat before it."""
    luck: tuple[float, ...]
    """What each seat's luck was worth from then on until the next decision."""

    def mark(self, unit: ValueUnit) -> Mark | None:
        """Return what it is called, by `dicegym.analysis.valuers.MARKS`."""
        return mark_of(self.cost, unit, self.error)


class SeatTotal(NamedTuple):
    """What the decisions and the luck of a game add up to for one seat."""

    seat: int
    name: str
    start: float
    """What the game was worth at the beginning, the first dice having been rolled."""
    cost: float
    """Its regret."""
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
    """Mean regret of unforced decisions; 0 if there was none."""
    marks: dict[str, int]
    """Sign of a mark -> how many decisions have it."""

    @property
    def adjusted(self) -> float:
        """The result with the luck taken out."""
        return self.result - self.luck


@dataclass(frozen=True)
class Analysis:
    """A game with what each decision cost, as text, tables, rows and plain values.

    Attributes:
        game: what was played.
        names: of the players, by seat, no two alike.
        valuer: where the values of states come from, as it says itself.
        decisions: in the order in which they were made.
        values: float64[actions + 1, players]: what the game was worth to each seat before each action and at the end.
        costs: float64[actions]: the regret of each action.
        luck: float64[actions, players].
        states: the records before each action, and the last one.
    """

    game: Game
    names: tuple[str, ...]
    valuer: ValuerFacts
    decisions: tuple[PricedDecision, ...]
    values: np.ndarray
    costs: np.ndarray
    luck: np.ndarray
    states: np.ndarray

    @property
    def unit(self) -> ValueUnit:
        """What values count."""
        return self.valuer.unit

    @cached_property
    def totals(self) -> tuple[SeatTotal, ...]:
        """The totals of each seat."""
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
        """Return the decisions of the largest regret, of all seats or of one, the worst first; none without regret."""
        wrong = [one for one in self.decisions if one.cost > 0 and seat in (None, one.seat)]
        return sorted(wrong, key=lambda one: -one.cost)[:n]

    def scene(self, decision: PricedDecision) -> Scene:
        """Return the table before a decision, hidden things too."""
        return name_players(self.game.scene(self.states[decision.number - 1]), self.names)

    def describe_choice(self, decision: PricedDecision) -> str:
        """Return what was chosen, in words."""
        return describe_actions(self.game, self.states[decision.number - 1], decision.actions)

    def better(self, decision: PricedDecision) -> str:
        """Return the best choice, in words; of several the first, and how many more there are."""
        if not decision.best:
            return ""
        more = len(decision.best) - 1
        first = describe_actions(self.game, self.states[decision.number - 1], decision.best[0])
        return first + (f" (or {more} as good)" if more else "")

    def explain(self, decision: PricedDecision) -> str:
        """Return in a sentence what a decision lost and what would have been better; empty if it lost nothing."""
        if not decision.cost > 0:
            return ""
        mark = decision.mark(self.unit)
        what = mark.noun if mark else "a small loss"
        text = f"{what}: {self.describe_choice(decision)} instead of {self.better(decision)} loses "
        return text + f"{amount(decision.cost, self.unit)}{give_or_take(decision.error, self.unit)}"

    def notes(self) -> dict[tuple[int, int], str]:
        """Return of each decision that has a mark what it lost, by seat and number of the seat's decision.

        For `dicegym.arena.replay.moments`.
        """
        found = {}
        for one in self.decisions:
            mark = one.mark(self.unit)
            if mark is not None:
                lost = f"{mark.sign} loses {amount(one.cost, self.unit)}{give_or_take(one.error, self.unit)}"
                found[one.seat, one.turn] = f"{lost}, better: {self.better(one)}"
        return found

    @property
    def heading(self) -> str:
        """What was judged, and by whose values, in a sentence."""
        by = "knowing what was hidden" if self.valuer.sees_all else "by what the player to move may know"
        return f"{self.game.spec.title}: {', '.join(self.names)}. {sure(self.valuer)}. Decisions are judged {by}."

    def text(self, worst: int = 3) -> str:
        """Return it as text: a line for each decision, totals, and the worst decisions."""
        parts = [self.heading]
        if self.decisions:
            parts.append("\n".join(plain_table(*self.decision_table(COLUMN))))
        parts.append("\n".join(plain_table(*self.total_table())))
        for one in self.worst(worst):
            told = [f"Move {one.number}, {self.names[one.seat]}: {self.explain(one)}."]
            parts.append("\n".join(told + [f"    {line}" for line in self.scene(one).text().split("\n")]))
        parts.append("\n".join(self.remarks()))
        return lines("\n\n".join(parts))

    def remarks(self) -> list[str]:
        """Return sentences on what the figures mean."""
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

    def decision_table(self, longest: int = 1000) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows of the list of decisions; ``longest`` is how many characters of a choice are shown."""
        unit = self.unit
        shown = unit_title(unit)
        titles = ["move", "player", "", "chose", f"worth ({shown})", "best", f"worth ({shown})", "regret", "luck"]
        rows = []
        for one in self.decisions:
            mark = one.mark(unit)
            lost = one.cost > TRUTH
            rows.append(
                [
                    str(one.number),
                    self.names[one.seat],
                    mark.sign if mark else "",
                    one_line(self.describe_choice(one), longest),
                    _known(one.value, unit),
                    one_line(self.better(one), longest) if lost else "",
                    _known(one.best_value, unit) if lost else "",
                    figure(one.cost, unit) if lost else STAKES.get(one.stake, ""),
                    figure(one.luck[one.seat], unit, True),
                ]
            )
        return titles, rows

    def total_table(self) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows of the totals of each player."""
        unit = self.unit
        several = self.game.players > 1
        titles = ["player", "decisions", "unforced", *(mark.sign for mark in MARKS), "error rate", "start"]
        titles += ["regret", *(["others' regret"] if several else []), "luck", "result", "adjusted"]
        rows = []
        for one in self.totals:
            row = [one.name, str(one.decisions), str(one.unforced), *(str(one.marks[mark.sign]) for mark in MARKS)]
            row += [figure(one.error_rate, unit), figure(one.start, unit), figure(-one.cost, unit, True)]
            row += [figure(one.gained, unit, True)] if several else []
            row += [figure(one.luck, unit, True), figure(one.result, unit), figure(one.adjusted, unit)]
            rows.append(row)
        return [f"{titles[0]} ({unit_title(unit)})", *titles[1:]], rows

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain values for each decision, for CSV and data frames."""
        found = []
        for one in self.decisions:
            mark = one.mark(self.unit)
            words = {"player": self.names[one.seat], "chosen": self.describe_choice(one), "better": self.better(one)}
            words |= {"mark": mark.sign if mark else "", "stake": one.stake.name.lower()}
            values = {"best_value": one.best_value, "value": one.value}
            known = {name: value if math.isfinite(value) else None for name, value in values.items()}
            found.append(one._asdict() | words | known)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: who said what it was worth, totals, and a row for each decision."""
        return {
            "kind": "dicegym analysis",
            "version": 1,
            "game": self.game.name,
            "players": self.game.players,
            "parameters": dict(self.game.parameters),
            "names": list(self.names),
            "values": self.valuer._asdict() | {"at": self.values.tolist()},
            "totals": [{**one._asdict(), "adjusted": one.adjusted} for one in self.totals],
            "decisions": self.rows(),
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
    """Return what each decision of a game cost.

    Args:
        game: what was played.
        states: the records before each action and after the last one, or arrays of one record
            (`dicegym.arena.replay.Replay.states`).
        actions: what was played, of all seats in their order.
        names: of the players, by seat (default: ``player 0`` and so on).
        valuer: where the values of states come from (default: the best that is ready, `dicegym.values.valuer`).
        progress: told of the actions that are judged.

    Raises:
        ParameterError: the numbers of states, actions and names do not fit; a state is of
            another game.

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
    called = tell_apart(who)
    found, values = _asked(asked, table, np.asarray(actions, np.int64), progress)
    movers = table["player"][:-1].astype(np.int64)
    shares = np.full((len(actions), game.players), share_of_others(game, asked.unit))
    shares[np.arange(len(actions)), movers] = -1.0
    luck = np.diff(values, axis=0) - shares * found.costs[:, None]
    parts = _parts(game, movers)
    turns = np.zeros(len(actions), np.int64)
    for seat in range(game.players):
        own = movers == seat
        turns[own] = np.arange(1, own.sum() + 1)
    played = tuple(map(int, actions))
    decisions = tuple(
        _decision(first, last, int(movers[first]), int(turns[first]), played, found, values, luck)
        for first, last in parts
    )
    about = ValuerFacts(*(getattr(asked, name) for name in ValuerFacts._fields))  # its tables may be large
    return Analysis(game, tuple(called), about, decisions, values, found.costs, luck, table)


def _asked(
    asked: Valuer, table: np.ndarray, actions: np.ndarray, progress: Progress | None
) -> tuple[Judged, np.ndarray]:
    """Return what actions cost, and what the records are worth to each seat; a few at a time, as it may take long."""
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
) -> PricedDecision:
    some = slice(first, last)
    costs, stakes = found.costs[some], found.stakes[some]
    wrong = first + int((costs > 0).argmax())  # the first one, if no decision cost anything
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
    return PricedDecision(
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


def share_of_others(game: Game, unit: ValueUnit) -> float:
    """Return what part of one seat's cost each of the others gains.

    Where the values of all seats have a fixed sum, the others share it equally: values do not say who gains. Where a
    player plays alone for points, nobody gains.
    """
    shared = game.players > 1 and (unit == "win rate" or (unit == "return" and game.spec.zero_sum))
    return 1 / (game.players - 1) if shared else 0.0


def _known(value: float, unit: ValueUnit) -> str:
    return figure(value, unit) if math.isfinite(value) else "-"
