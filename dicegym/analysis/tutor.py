"""A tutor for people who play: warns of a blunder before it is played, and says afterwards how one has played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.analysis.decisions import Analysis, analyse
from dicegym.analysis.judging import SAME, judge
from dicegym.analysis.marks import MARKS, amount, mark_of, threshold
from dicegym.analysis.report import sure
from dicegym.analysis.valuers import sources, valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress
from dicegym.games.worth import Valuer
from dicegym.play.turn import Turn
from dicegym.players.human import keyboard_of
from dicegym.players.watched import action_in

LEVEL = MARKS[-1].level
"""What a tutor warns of unless told otherwise: blunders."""


def is_fair(asked: Valuer) -> bool:
    """Return whether a valuer judges by what a person at the table knows.

    One that sees all is fair where people see all there is: nothing is secret, and what programs may not know lies open
    (``OPEN`` of the game's ``controls.py``), such as dice that are rolled before everybody's eyes.
    """
    spec = asked.game.spec
    return not asked.sees_all or (
        not spec.secret and spec.joint_action is None and spec.private <= keyboard_of(asked.game).OPEN
    )


def fair_valuer(game: Game, name: str | None = None, *, progress: Progress | None = None) -> Valuer:
    """Return the best valuer of ``game`` that judges by what a person knows, or the named one.

    Raises:
        ParameterError: it judges by what is hidden, or there are no values.
        UnknownNameError: there is no source of this name.
    """
    found = valuer(game, name, progress=progress)
    if is_fair(found):
        return found
    if name is None:
        for source in sources(game):
            if source.name != found.name and source.ready():
                other = source.load(progress)
                if is_fair(other):
                    return other
    raise ParameterError(
        f"values of source {found.name!r} are for who sees what is hidden from you: name another with --values"
    )


class Tutor:
    """Warns a person of what gives much away, by what the person knows.

    Args:
        asked: who says what actions are worth; `fair_valuer`.
        level: of `dicegym.analysis.marks.MARKS`, from which on it warns.

    Raises:
        UnknownNameError: there is no such level.
        ParameterError: ``asked`` judges by what is hidden from people.
    """

    def __init__(self, asked: Valuer, level: str = LEVEL) -> None:
        if not is_fair(asked):
            raise ParameterError(
                f"values of source {asked.name!r} are for who sees what is hidden from a person: take `fair_valuer`"
            )
        self.valuer = asked
        self.least = threshold(level, asked.unit)

    @property
    def says(self) -> str:
        """What it does, and whose values it goes by, in a sentence."""
        unit = self.valuer.unit
        return f"You are warned of what gives away {amount(self.least, unit)} or more. {sure(self.valuer)}."

    def warning(self, turn: Turn, actions: Sequence[int]) -> str:
        """Return why a person had better not play so, or nothing; see `dicegym.players.sitting.Warn`."""
        game, unit = self.valuer.game, self.valuer.unit
        state = turn.record.copy()
        cost, variance, better, value, best = 0.0, 0.0, "", 0.0, 0.0
        played: list[int] = []
        for action in actions:
            if state["over"] or int(state["player"]) != turn.seat:
                break
            found = judge(self.valuer, state, action)
            if found.costs[0] > 0 and not better:
                right = int(np.nanargmax(found.values[0] >= found.best[0] - SAME))
                better = _names(game, turn.record, [*played, right])
                best, value = float(found.best[0]), float(found.chosen[0])
            cost += float(found.costs[0])
            variance += float(found.errors[0]) ** 2
            played.append(int(action))
            if len(played) < len(actions):
                game.step(state, action)
        mark = mark_of(cost, unit, variance**0.5)
        if mark is None or cost < self.least * (1 - SAME):
            return ""
        lost = amount(cost, unit) + (f" (give or take {amount(variance**0.5, unit)})" if variance else "")
        chosen = f"{_names(game, turn.record, played)} ({amount(value, unit)})"
        return f"That is {mark.noun}: {chosen} gives away {lost} against {better} ({amount(best, unit)})."

    def review(self, states: Sequence[Any], actions: Sequence[int], names: Sequence[str], seat: int) -> str:
        """Return how a person has played a game, in a few lines.

        Args:
            states: as of `dicegym.analysis.analyse`, as all that follows.
            actions: what was played.
            names: of the players.
            seat: the person's.
        """
        return review(analyse(self.valuer.game, states, actions, names, self.valuer), seat)


def review(analysis: Analysis, seat: int, worst: int = 3) -> str:
    """Return how a seat has played, in a few lines: what it gave away, its luck, and its worst decisions."""
    unit, total = analysis.unit, analysis.totals[seat]
    marks = ", ".join(f"{number} {sign}" for sign, number in total.marks.items() if number)
    per = f"{amount(total.error_rate, unit)} for each of {total.unforced} decisions that count"
    lines = [
        f"How you played: {amount(total.cost, unit)} given away, {per}{f' ({marks})' if marks else ''}.",
        f"Your luck: {amount(total.luck, unit, True)}. Without it: {amount(total.adjusted, unit)}.",
    ]
    found = analysis.worst(worst, seat)
    lines += [f"  move {one.number}: {analysis.explained(one)}" for one in found]
    if not found:
        lines.append("You gave nothing away.")
    return "\n".join(lines)


def _names(game: Game, state: Any, actions: Sequence[int]) -> str:
    return ", ".join(action_in(game, state, action) for action in actions)
