"""The value of each action by what its seat sees, the cost of a decision, and the words for it.

`valuer` finds the best source of values that a game has: exact values, a solved equilibrium, or rollouts. `assess` asks
it about states. Hints, tutors, reviews, grades and teachers all ask here, and only `Assessment.judge` decides which
choices are forced, trivial or obvious.

`MARKS` says from which cost on a decision is doubtful, a mistake or a blunder: in win rate, which `UNITS` converts to
other units. A person reads values as a `Hint`, and is warned by a `Tutor`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.rollouts import RolloutValuer
from dicegym.columns import plain_table
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, unknown_name
from dicegym.games import game as make_game
from dicegym.games.parts import VALUES, Z_95, Progress, part
from dicegym.games.worth import ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.pictures.watched import action_in
from dicegym.play.turn import Turn, record_of
from dicegym.players.sitting import controls_of

SAME = 1e-12
"""Smaller differences of values are rounding."""


class Mark(NamedTuple):
    """A class of costly decisions."""

    level: str
    """Its name in ``dicegym play --tutor``."""
    sign: str
    noun: str
    cost: float
    """The least cost, in win rate."""


MARKS = (
    Mark("doubtful", "?!", "a doubtful choice", 0.02),
    Mark("mistake", "?", "a mistake", 0.05),
    Mark("bad", "??", "a blunder", 0.10),
)
"""The cheapest first."""
UNITS: dict[ValueUnit, float] = {"win rate": 1.0, "points": 100.0, "return": 2.0}
"""The equivalent of a win rate of 1 in each unit. A return is from -1 to 1. A point of Yatzy wins about 0.7 % at the
beginning of a game for two, so points are worth a round hundredth."""
TRIVIAL = 0.001
"""In win rate: candidates that differ by less decide nothing."""
OBVIOUS = 0.20
"""In win rate: only one choice is sensible if every other costs more than this."""
TOP = 10
"""The default number of choices in a hint."""
_FORMATS = {"win rate": (100, 1, "%"), "points": (1, 2, " points"), "return": (1, 3, "")}
"""By unit: factor, decimals and suffix."""


def threshold(level: str, unit: ValueUnit) -> float:
    """Return the least cost of a decision of this level. Raises UnknownNameError for an unknown level."""
    for mark in MARKS:
        if mark.level == level:
            return mark.cost * UNITS[unit]
    raise unknown_name("level of mistakes", level, [mark.level for mark in MARKS])


def mark_of(cost: float, unit: ValueUnit, error: float = 0.0) -> Mark | None:
    """Return the mark of a decision, or None. Arguments as for `mark_numbers`."""
    number = int(mark_numbers(cost, unit, error))
    return MARKS[number - 1] if number else None


def mark_numbers(costs: float | np.ndarray, unit: ValueUnit, errors: float | np.ndarray) -> np.ndarray:
    """Return the number of each decision's mark among `MARKS`, from 1; 0 without a mark.

    Args:
        costs: costs of decisions.
        unit: their unit.
        errors: their standard errors: a cost that may be chance (95 %) has no mark.
    """
    bounds = np.array([mark.cost * UNITS[unit] * (1 - SAME) for mark in MARKS])  # 0.05 is at least 0.05
    costs = np.asarray(costs)
    return np.where(costs > Z_95 * errors, bounds.searchsorted(costs, side="right"), 0)  # nan has no mark


def amount(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return a value, a cost or luck in words: ``12.3%``, ``5.25 points``, ``0.123``; with a plus sign if asked."""
    return figure(value, unit, sign) + _FORMATS[unit][2]


def figure(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return the same without its unit, for a column whose title has it."""
    scale, digits, _ = _FORMATS[unit]
    return f"{scale * value:{'+' if sign else ''}z.{digits}f}"


def amount_with_error(value: float, error: float, unit: ValueUnit) -> str:
    """Return an amount and, unless it is 0, its standard error: ``12.3% (give or take 0.4%)``."""
    return amount(value, unit) + (f" (give or take {amount(error, unit)})" if error > 0 else "")


def describe_actions(game: Game, state: Any, actions: Sequence[int]) -> str:
    """Return the names of actions in a state: a single one, or a whole order."""
    return ", ".join(action_in(game, state, action) for action in actions)


def unit_title(unit: ValueUnit) -> str:
    """Return the unit as it is written in titles: ``%``, ``points``, ``return``."""
    return "%" if unit == "win rate" else unit


def thresholds(unit: ValueUnit) -> str:
    """Return `MARKS` and the excluded choices in sentences, in a unit."""
    marks = ", ".join(f"{mark.sign} {mark.noun} from {amount(mark.cost * UNITS[unit], unit)} on" for mark in MARKS)
    trivial, obvious = (amount(share * UNITS[unit], unit) for share in (TRIVIAL, OBVIOUS))
    return (
        f"Marks: {marks}. Left out of the error rate: forced moves, choices among candidates within {trivial}, and the "
        f"best one taken where every other costs more than {obvious}."
    )


def sources(game: Game | str) -> Sequence[ValueSource]:
    """Return the sources of values of ``game``, the best first: its own, then rollouts.

    Example:
        >>> import dicegym
        >>> from dicegym.values import sources
        >>> [source.name for source in sources(dicegym.game("hog"))][-1]
        'rollouts'
    """
    game = make_game(game)
    found = part(game, VALUES)
    own = () if found is None else found.sources(game)
    doc = "the mean of games that are played on from a state"
    return [*own, ValueSource("rollouts", "rollouts", doc, lambda: True, lambda progress: RolloutValuer(game))]


def valuer(game: Game | str, name: str | None = None, *, progress: Progress | None = None) -> Valuer:
    """Return a valuer: it tells what states and actions of ``game`` are worth.

    Args:
        game: the game, with its parameters, or its name.
        name: one of its `sources`; default: the best that is ready.
        progress: told of long work.

    Raises:
        ParameterError: the named source needs tables that are not solved yet.
        UnknownNameError: the game has no source of this name.

    Example:
        >>> import dicegym
        >>> from dicegym.values import valuer
        >>> game = dicegym.game("hog")
        >>> 0.4 < valuer(game).value(game.new_game(seed=1)[0], seat=0) < 0.6
        True
    """
    game = make_game(game)
    found = {source.name: source for source in sources(game)}
    if name is not None:
        if name not in found:
            raise unknown_name("source of values", name, list(found), f"These are for {game!r}.")
        return found[name].load(progress)
    best = next(source for source in found.values() if source.ready())  # rollouts always are
    return best.load(progress)


def better_sources(game: Game, asked: Valuer) -> list[ValueSource]:
    """Return the sources that are better than ``asked`` but not ready."""
    better = itertools.takewhile(lambda source: source.name != asked.name, sources(game))
    return [source for source in better if not source.ready()]


def is_fair(asked: Valuer) -> bool:
    """Return whether a valuer judges by what a person at the table knows.

    A valuer that sees all is fair in a game without secrets in which a person sees all that is hidden from programs
    (``OPEN`` of the game's ``controls.py``), such as dice that are rolled in the open.
    """
    spec = asked.game.spec
    return not asked.sees_all or (
        not spec.secret and spec.joint_action is None and spec.private <= controls_of(asked.game).OPEN
    )


def fair_valuer(game: Game, name: str | None = None, *, progress: Progress | None = None) -> Valuer:
    """Return the best valuer of ``game`` that judges by what a person knows, or the named one.

    Raises:
        ParameterError: the valuer judges by what is hidden, or has no values.
        UnknownNameError: there is no source of this name.
    """
    if name is None:
        asked = (source.load(progress) for source in sources(game) if source.ready())
        return next(filter(is_fair, asked))  # rollouts are always ready and fair
    found = valuer(game, name, progress=progress)
    if not is_fair(found):
        raise ParameterError(f"the values of source {name!r} use what is hidden from you: name another with --values")
    return found


class ValuerFacts(NamedTuple):
    """The description of a `Valuer`, without its tables."""

    name: str
    kind: ValueKind
    unit: ValueUnit
    sure: str
    sees_all: bool


def sure(valuer: Valuer | ValuerFacts) -> str:
    """Return a sentence, without its full stop, on the source of values and how sure they are."""
    called = {"win rate": "win rates", "points": "points", "return": "returns"}[valuer.unit]
    return f"Values ({called}, source {valuer.name}) are {valuer.sure}"


class Stake(IntEnum):
    """What was at stake in a decision. Only a CHOICE counts in an error rate."""

    CHOICE = 0
    FORCED = 1
    """The only legal action was played."""
    TRIVIAL = 2
    """All candidates were worth nearly the same."""
    OBVIOUS = 3
    """The action played was better than all others by far (`OBVIOUS`)."""
    UNKNOWN = 4
    """The valuer has no value of the action played, or of any."""


class Judged(NamedTuple):
    """The costs of decisions, row by row."""

    best: np.ndarray
    """float64[rows]: value of the best action, the chosen one included; nan if unknown."""
    chosen: np.ndarray
    """float64[rows]: value of the chosen action; nan if unknown."""
    costs: np.ndarray
    """float64[rows]: costs, never negative; 0 if unknown."""
    errors: np.ndarray
    """float64[rows]: standard errors of the costs."""
    stakes: np.ndarray
    """int8[rows]: a `Stake` each."""
    values: np.ndarray
    """float64[rows, n_actions]: values of all candidates; nan for other actions."""


class Assessment(NamedTuple):
    """The value of each action to the player to move in some states, row by row, with its error.

    Arrays are float64[rows, n_actions]; nan for illegal actions, and for those that the valuer leaves out.
    """

    valuer: Valuer
    """The source of the values."""
    states: np.ndarray
    """The records, none of which is over."""
    values: np.ndarray
    errors: np.ndarray
    """Standard errors of values; 0 where they are computed."""
    behind_errors: np.ndarray
    """Standard errors of each action's distance behind the best one of its row; 0 for that one."""
    first: np.ndarray
    """int64[rows]: the first of the best actions; 0 if no value is known."""

    def judge(self, actions: Sequence[int] | np.ndarray) -> Judged:
        """Return the costs of decisions: one action for each row, wide and illegal ones included."""
        valuer, values, first = self.valuer, self.values, self.first
        actions = np.asarray(actions, np.int64)
        rows = np.arange(len(actions))
        known = (actions >= 0) & (actions < valuer.game.n_actions)
        inside = np.where(known, actions, 0)
        chosen = np.where(known, values[rows, inside], np.nan)
        for row in np.flatnonzero(np.isnan(chosen)):
            chosen[row] = valuer.action_value(self.states[row], int(actions[row]))
        candidates = ~np.isnan(values)
        lowest = np.where(candidates, values, np.inf)
        highest = np.where(candidates, values, -np.inf)
        top = highest[rows, first]
        unknown = np.isnan(chosen) | ~np.isfinite(top)
        best = np.where(unknown, np.nan, np.maximum(top, chosen))
        costs = np.where(unknown, 0.0, best - np.where(unknown, 0.0, chosen))
        costs[costs <= SAME] = 0.0
        # A wide action has no column, so its error is taken to be that of the best action.
        errors = np.where(known, self.behind_errors[rows, inside], 2**0.5 * self.errors[rows, first])
        errors[costs == 0] = 0.0
        below = np.where(highest < top[:, None] - SAME, highest, -np.inf).max(axis=1)
        stakes = np.full(len(rows), Stake.CHOICE, np.int8)
        scale = UNITS[valuer.unit]
        with np.errstate(invalid="ignore"):
            sensible = np.isfinite(below) & (top - below > OBVIOUS * scale) & (costs == 0)
            spread = top - lowest.min(axis=1)
            level = (spread <= TRIVIAL * scale) & (costs <= TRIVIAL * scale)
        stakes[sensible] = Stake.OBVIOUS
        stakes[level] = Stake.TRIVIAL
        stakes[(candidates.sum(axis=1) == 1) & known & candidates[rows, inside]] = Stake.FORCED
        stakes[unknown] = Stake.UNKNOWN
        return Judged(best, chosen, costs, np.nan_to_num(errors), stakes, values)


def assess(valuer: Valuer, states: np.ndarray) -> Assessment:
    """Return what each action is worth in each state, none of which is over.

    Args:
        valuer: the source of values.
        states: the records; it reads only what the player to move may know, unless it ``sees_all``.

    Raises ParameterError for states of another game, whose records the valuer would misread.
    """
    for one in states[:1]:
        record_of(valuer.game, one)
    asked = valuer.action_values_rows(states)
    first = np.where(np.isnan(asked.values), -np.inf, asked.values).argmax(axis=1)
    behind = asked.behind
    if behind is None:
        rows = np.arange(len(first))
        behind = np.hypot(asked.errors, asked.errors[rows, first][:, None])
        behind[rows, first] = 0.0
    return Assessment(valuer, states, asked.values, asked.errors, behind, first)


def assess_state(valuer: Valuer, state: Any) -> Assessment:
    """Return the same for a single state: arrays of one row."""
    states = valuer.game.new_states(1)
    states[0] = record_of(valuer.game, state)
    return assess(valuer, states)


class RankedAction(NamedTuple):
    """A legal action and its value to the player to move."""

    action: int
    name: str
    value: float
    """nan if the valuer leaves the action out."""
    behind: float
    """The best value less this one."""
    error: float
    """Standard error of ``value``; 0 if it is computed."""
    behind_error: float
    """Standard error of ``behind``."""


class Hint(NamedTuple):
    """All legal actions of a state, the best first; actions that the valuer leaves out come last."""

    game: Game
    seat: int
    """The seat to move."""
    valuer: Valuer
    choices: tuple[RankedAction, ...]

    def table(self, top: int | None = TOP) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows of the best ``top`` choices; None: of all."""
        unit = self.valuer.unit
        estimated = any(one.error > 0 for one in self.choices)
        titles = ["", "choice", unit_title(unit), "behind", *(["± error"] if estimated else []), ""]
        rows = []
        for place, one in enumerate(self.choices[:top], 1):
            known = not math.isnan(one.value)
            mark = mark_of(one.behind, unit, one.behind_error) if known else None
            rows.append(
                [
                    str(place),
                    one.name,
                    figure(one.value, unit) if known else "not known",
                    figure(one.behind, unit) if known and place > 1 else "",
                    *([figure(one.error, unit) if one.error > 0 else ""] if estimated else []),
                    "" if mark is None else mark.sign,
                ]
            )
        return titles, rows

    def lines(self, top: int | None = TOP) -> list[str]:
        """Return the lines of the table, the number of choices left out, and how sure the values are."""
        found = plain_table(*self.table(top))
        left_out = 0 if top is None else max(len(self.choices) - top, 0)
        if left_out:
            found.append(f"({left_out} more)")
        used = "what the player to move may know" if is_fair(self.valuer) else "what is hidden, too"
        found.append(f"{sure(self.valuer)}. They use {used}.")
        return found


def hint(game: Game | str, state: Any, valuer: Valuer) -> Hint:
    """Return all legal actions of a state with what they are worth, the best first.

    Args:
        game: the game.
        state: its record, an array of one or a `dicegym.State`.
        valuer: the source of their values (`dicegym.values.valuer`).

    Raises ParameterError if the game is over, or the state or the values are those of another one.

    Example:
        >>> import dicegym
        >>> from dicegym.values import hint, valuer
        >>> game = dicegym.game("hog")
        >>> found = hint(game, game.new_game(seed=1)[0], valuer(game))
        >>> found.choices[0].name
        'roll 8'
    """
    game = make_game(game)
    state = record_of(game, state)
    if state["over"]:
        raise ParameterError("the game is over: there is nothing left to choose")
    asked = assess_state(valuer, state)
    values, errors, behind_errors = asked.values[0], asked.errors[0], asked.behind_errors[0]
    legal = np.flatnonzero(game.legal(state))
    order = legal[np.argsort(-values[legal], kind="stable")].tolist()  # nan comes last
    best = float(values[order[0]])
    choices = []
    for action in order:
        value, error = float(values[action]), float(errors[action])
        behind_error = float(behind_errors[action]) if action != order[0] else 0.0
        choices.append(RankedAction(action, game.action_name(action), value, best - value, error, behind_error))
    return Hint(game, int(state["player"]), valuer, tuple(choices))


class Tutor:
    """Warns a person before a choice of large regret, by what the person knows.

    Args:
        asked: the source of values, as `fair_valuer` finds it.
        level: the mildest of the `MARKS` that it warns of.

    Raises:
        UnknownNameError: the level is unknown.
        ParameterError: ``asked`` judges by what is hidden from people.
    """

    def __init__(self, asked: Valuer, level: str = MARKS[-1].level) -> None:
        if not is_fair(asked):
            raise ParameterError(
                f"the values of source {asked.name!r} use what is hidden from a person: use `fair_valuer`"
            )
        self.valuer = asked
        self.least = threshold(level, asked.unit)

    @property
    def says(self) -> str:
        """When it warns, and by which values."""
        unit = self.valuer.unit
        return f"You are warned before a choice that loses {amount(self.least, unit)} or more. {sure(self.valuer)}."

    def warning(self, turn: Turn, actions: Sequence[int]) -> str:
        """Return a warning of a costly choice, or nothing; see `dicegym.players.sitting.Warn`."""
        game, unit = self.valuer.game, self.valuer.unit
        state = turn.record.copy()
        cost, variance, better, best = 0.0, 0.0, "", 0.0
        played: list[int] = []
        for action in actions:
            if state["over"] or int(state["player"]) != turn.seat:
                break
            found = assess_state(self.valuer, state).judge([action])
            if found.costs[0] > 0 and not better:
                right = int(np.nanargmax(found.values[0] >= found.best[0] - SAME))
                better = describe_actions(game, turn.record, [*played, right])
                best = float(found.best[0])
            cost += float(found.costs[0])
            variance += float(found.errors[0]) ** 2
            played.append(int(action))
            if len(played) < len(actions):
                game.step(state, action)
        mark = mark_of(cost, unit, variance**0.5)
        if mark is None or cost < self.least * (1 - SAME):
            return ""
        lost = amount_with_error(cost, variance**0.5, unit)
        chosen = f"{describe_actions(game, turn.record, played)} ({amount(best - cost, unit)})"
        return f"That is {mark.noun}: {chosen} loses {lost} against {better} ({amount(best, unit)})."
