"""What an action is worth to a player that sees what its seat sees, what a decision cost, and what that is called.

`valuer` finds the best source of values that a game has: exact ones, those of an equilibrium that is solved, or else
rollouts. `assess` asks it about states. Hints, tutors, reviews, grades and teachers all ask there and nowhere else, and
`Assessment.judge` is the one place that says what a forced, a trivial and an obvious choice is.

`MARKS` says how much a decision must cost to be called doubtful, a mistake or a blunder: in win rate, which `UNITS`
scales to other units. A person reads values as a `Hint`, and is warned by a `Tutor`.
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
"""Values within this are the same, rounded in two ways."""


class Mark(NamedTuple):
    """What a decision is called from some cost on."""

    level: str
    """What ``dicegym play --tutor`` calls it."""
    sign: str
    noun: str
    cost: float
    """In win rate, at least."""


MARKS = (
    Mark("doubtful", "?!", "a doubtful choice", 0.02),
    Mark("mistake", "?", "a mistake", 0.05),
    Mark("bad", "??", "a blunder", 0.10),
)
"""From the cheapest on."""
UNITS: dict[ValueUnit, float] = {"win rate": 1.0, "points": 100.0, "return": 2.0}
"""What a win rate of 1 is in each unit. A return goes from -1 to 1. A point of Yatzy wins about 0.7 % at the beginning
of a game for two; a hundredth is near that, and easier to remember."""
TRIVIAL = 0.001
"""In win rate: where all candidates lie within this, nothing is decided."""
OBVIOUS = 0.20
"""In win rate: where every other candidate costs more than this, only one is sensible."""
TOP = 10
"""Choices of a hint that are shown unless another number is asked for."""


def threshold(level: str, unit: ValueUnit) -> float:
    """Return what a decision of this level costs at least. Raises UnknownNameError for an unknown level."""
    for mark in MARKS:
        if mark.level == level:
            return mark.cost * UNITS[unit]
    raise unknown_name("level of mistakes", level, [mark.level for mark in MARKS])


def mark_of(cost: float, unit: ValueUnit, error: float = 0.0) -> Mark | None:
    """Return the mark of a decision; None: it has none. Arguments as of `mark_numbers`."""
    number = int(mark_numbers(cost, unit, error))
    return MARKS[number - 1] if number else None


def mark_numbers(costs: float | np.ndarray, unit: ValueUnit, errors: float | np.ndarray) -> np.ndarray:
    """Return the number of each decision's mark among `MARKS`, from 1; 0: it has none.

    Args:
        costs: of decisions.
        unit: of ``costs``.
        errors: standard errors of ``costs``: there is no mark for what may as well be chance (95 %).
    """
    bounds = np.array([mark.cost * UNITS[unit] * (1 - SAME) for mark in MARKS])  # 0.05 is 0.05, rounded or not
    costs = np.asarray(costs)
    return np.where(costs > Z_95 * errors, bounds.searchsorted(costs, side="right"), 0)  # nan has none


def amount(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return a value, a cost or luck in words: ``12.3%``, ``5.25 points``, ``0.123``; with a sign if asked."""
    plus = "+" if sign else ""
    if unit == "win rate":
        return f"{_no_zero(100 * value, 1):{plus}.1f}%"
    if unit == "points":
        return f"{_no_zero(value, 2):{plus}.2f} points"
    return f"{_no_zero(value, 3):{plus}.3f}"


def figure(value: float, unit: ValueUnit, sign: bool = False) -> str:
    """Return the same for a column whose title says the unit."""
    return amount(value, unit, sign).removesuffix(" points").removesuffix("%")


def give_or_take(error: float, unit: ValueUnit) -> str:
    """Return a standard error in words, to be put behind an amount; nothing if it is 0."""
    return f" (give or take {amount(error, unit)})" if error > 0 else ""


def describe_actions(game: Game, state: Any, actions: Sequence[int]) -> str:
    """Return what is chosen in a state, in words: one action, or a whole order."""
    return ", ".join(action_in(game, state, action) for action in actions)


def unit_title(unit: ValueUnit) -> str:
    """Return what figures of this unit are called in a title: ``%``, ``points``, ``return``."""
    return "%" if unit == "win rate" else unit


def thresholds(unit: ValueUnit) -> str:
    """Return the table in a sentence, for the unit that values are in."""
    marks = ", ".join(f"{mark.sign} {mark.noun} from {amount(mark.cost * UNITS[unit], unit)} on" for mark in MARKS)
    trivial, obvious = (amount(share * UNITS[unit], unit) for share in (TRIVIAL, OBVIOUS))
    return (
        f"Marks: {marks}. Left out of the error rate: forced moves, choices among candidates within {trivial}, and the "
        f"best one taken where every other costs more than {obvious}."
    )


def _no_zero(value: float, digits: int) -> float:
    """Return a value without the sign of a zero that rounding makes."""
    return 0.0 if abs(value) < 0.5 * 10**-digits else value


def sources(game: Game | str) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first: its own, then rollouts.

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
    """Return where the values of states of ``game`` come from.

    Args:
        game: the game, with its parameters, or its name.
        name: of one of its `sources`; default: the best of those that are ready.
        progress: told of what takes long.

    Raises:
        ParameterError: what the named one needs is not solved yet.
        UnknownNameError: it has no source of this name.

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
    """Return the sources that are better than ``asked`` and take long to be had, or have to be solved first."""
    better = itertools.takewhile(lambda source: source.name != asked.name, sources(game))
    return [source for source in better if not source.ready()]


def is_fair(asked: Valuer) -> bool:
    """Return whether a valuer judges by what a person at the table knows.

    One that sees all is fair where people see all there is: nothing is secret, and what programs may not know lies open
    (``OPEN`` of the game's ``controls.py``), such as dice that are rolled before everybody's eyes.
    """
    spec = asked.game.spec
    return not asked.sees_all or (
        not spec.secret and spec.joint_action is None and spec.private <= controls_of(asked.game).OPEN
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
    raise ParameterError(f"the values of source {found.name!r} use what is hidden from you: name another with --values")


class ValuerFacts(NamedTuple):
    """What a `Valuer` says of itself: all that is kept of one whose tables may be large."""

    name: str
    kind: ValueKind
    unit: ValueUnit
    sure: str
    sees_all: bool


def sure(valuer: Valuer | ValuerFacts) -> str:
    """Return in a sentence, without its end, whose values are meant and how sure they are."""
    called = {"win rate": "win rates", "points": "points", "return": "returns"}[valuer.unit]
    return f"Values ({called}, source {valuer.name}) are {valuer.sure}"


class Stake(IntEnum):
    """What was at stake in a decision. Only a CHOICE counts in an error rate."""

    CHOICE = 0
    FORCED = 1
    """One action was allowed, and it was played."""
    TRIVIAL = 2
    """All candidates were worth nearly the same."""
    OBVIOUS = 3
    """One candidate was better than all others by a mile, and it was played."""
    UNKNOWN = 4
    """The valuer does not say what was chosen, or anything else, is worth."""


class Judged(NamedTuple):
    """Decisions and what they cost, row by row."""

    best: np.ndarray
    """float64[rows]: value of the best choice, what was chosen included; nan if unknown."""
    chosen: np.ndarray
    """float64[rows]: value of what was chosen; nan if unknown."""
    costs: np.ndarray
    """float64[rows]: costs, never negative; 0 where nothing is known."""
    errors: np.ndarray
    """float64[rows]: standard errors of the costs."""
    stakes: np.ndarray
    """int8[rows]: a `Stake` each."""
    values: np.ndarray
    """float64[rows, n_actions]: of all candidates; nan for other actions."""


class Assessment(NamedTuple):
    """What each action is worth to the player to move in some states, row by row, and how sure that is.

    Arrays are float64[rows, n_actions]; nan for illegal actions, and for those that the valuer leaves out.
    """

    valuer: Valuer
    """Where the values come from: its ``kind`` says how they are known, its ``unit`` what they count."""
    states: np.ndarray
    """The records, none of which is over."""
    values: np.ndarray
    errors: np.ndarray
    """Standard errors of values; 0 where they are computed."""
    behind_errors: np.ndarray
    """Standard errors of how far each action is behind the best one of its row; 0 for that one."""
    first: np.ndarray
    """int64[rows]: the best action, of several the first; 0 where nothing is known."""

    def judge(self, actions: Sequence[int] | np.ndarray) -> Judged:
        """Return what decisions cost: one action for each row, wide and illegal ones included."""
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
        # Of what has no column no error is told: it is taken for as large as that of the best.
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
    """Return what each action is worth in each state, of which none is over.

    Args:
        valuer: where the values come from.
        states: the records; it reads of them only what the player to move may know, unless it ``sees_all``.

    Raises ParameterError if they are of another game than its values: it would read values of anything.
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
    """Return the same of a single state: arrays of one row."""
    states = valuer.game.new_states(1)
    states[0] = record_of(valuer.game, state)
    return assess(valuer, states)


class RankedAction(NamedTuple):
    """One legal action, and what it is worth to the player to move."""

    action: int
    name: str
    value: float
    """nan where the valuer leaves it out."""
    behind: float
    """By how much it is worth less than the best."""
    error: float
    """Standard error of ``value``; 0 where that is computed."""
    behind_error: float
    """Standard error of ``behind``."""


class Hint(NamedTuple):
    """All legal actions of a state, the best first; those that the valuer leaves out come last."""

    game: Game
    seat: int
    """The seat to move."""
    valuer: Valuer
    choices: tuple[RankedAction, ...]

    def table(self, top: int | None = TOP) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows of the best ``top`` choices, all of them if None."""
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
        """Return the table, how sure it is, and how many choices it leaves out."""
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
    known = ~np.isnan(values[legal])
    order = [*legal[known][np.argsort(-values[legal][known], kind="stable")].tolist(), *legal[~known].tolist()]
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
        asked: where the values of actions come from, as `dicegym.analysis.valuers.fair_valuer` finds it.
        level: of `dicegym.analysis.valuers.MARKS`, from which on it warns.

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
        """What it does, and whose values it goes by, in a sentence."""
        unit = self.valuer.unit
        return f"You are warned before a choice that loses {amount(self.least, unit)} or more. {sure(self.valuer)}."

    def warning(self, turn: Turn, actions: Sequence[int]) -> str:
        """Return why a person had better not play so, or nothing; see `dicegym.players.sitting.Warn`."""
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
        lost = amount(cost, unit) + give_or_take(variance**0.5, unit)
        chosen = f"{describe_actions(game, turn.record, played)} ({amount(best - cost, unit)})"
        return f"That is {mark.noun}: {chosen} loses {lost} against {better} ({amount(best, unit)})."
