"""What each decision of a game cost, and how lucky everybody was.

The mover gives away the best candidate's value less that of what was chosen, by what it may know. What else a step
changes is luck: dice, what others had in their cups, and the draws of whoever plays by chance. So for each seat::

    result = value at the beginning - own costs + what others gave it + luck

to the last digit, whatever the values are; that luck has the mean 0 needs values that are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dicegym.analysis.findings import About, Findings, PricedDecision, share_of_others
from dicegym.analysis.judging import SAME, Judged, Stake, judged, values_of
from dicegym.analysis.report import json_of, rows_of, text_of
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.engine.game import Game
from dicegym.engine.jit import records
from dicegym.errors import ParameterError
from dicegym.games.worth import Progress, Valuer
from dicegym.players.watched import told_apart

AT_ONCE = 8
"""Actions that are judged in one call."""


class Analysis(Findings):
    """A game with what each decision cost, as text, rows and plain values; attributes as of `Findings`."""

    def text(self, brief: bool = False, worst: int = 3) -> str:
        """Return it as text: totals, the worst decisions, and unless ``brief`` a line for each decision."""
        return text_of(self, brief, worst)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain values for each decision, for CSV and data frames."""
        return rows_of(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: who said what it was worth, totals, and a row for each decision."""
        return json_of(self)


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
        valuer: who says what states are worth (default: the best that is ready, `dicegym.analysis.valuer`).
        progress: told of the actions that are judged.

    Raises:
        ParameterError: the numbers of states, actions and names do not fit; a state is of
            another game.
    """
    asked = best_valuer(game) if valuer is None else valuer
    table = _table(game, states, len(actions))
    who = [f"player {seat}" for seat in range(game.players)] if names is None else names
    if len(who) != game.players:
        raise ParameterError(f"{len(who)} names are none of a game of {game.players}: give one for each seat")
    called = told_apart(who)
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
    decisions = tuple(
        _decision(first, last, int(movers[first]), int(turns[first]), tuple(map(int, actions)), found, values, luck)
        for first, last in parts
    )
    about = About(asked.name, asked.kind, asked.unit, asked.sure, asked.sees_all)
    return Analysis(game, tuple(called), about, decisions, values, found.costs, luck, table)


def _asked(
    asked: Valuer, table: np.ndarray, actions: np.ndarray, progress: Progress | None
) -> tuple[Judged, np.ndarray]:
    """Return what actions cost, and what the records are worth to each seat; a few at a time, as it may take long."""
    values, found = [values_of(asked, table[-1:])], []
    for first in range(0, len(actions), AT_ONCE):
        some = slice(first, min(first + AT_ONCE, len(actions)))
        found.append(judged(asked, table[some], actions[some]))
        values.insert(-1, values_of(asked, table[some]))
        if progress is not None:
            progress(some.stop, len(actions), "")
    whole = Judged(*map(np.concatenate, zip(*found, strict=True))) if found else judged(asked, table[:0], actions)
    return whole, np.concatenate(values)


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
) -> PricedDecision:
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
