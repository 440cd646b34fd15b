"""Grades: what a player's decisions give away, over many games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.judging import Stake, judged
from dicegym.analysis.marks import MARKS, UNITS
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.games.parts import Z_95, Estimate, Progress
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.play.audience import Audience
from dicegym.play.drive import join_table
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

GAMES = 200
GAMES_BY_ROLLOUTS = 10
"""Games of a grade unless told otherwise, by the kind of values: a rollout of each decision takes a while."""
AT_ONCE = 512
"""Games that go on together."""


class Grade(NamedTuple):
    """What a player's decisions gave away over games, with 95 % intervals."""

    name: str
    """Of the player."""
    games: int
    unit: ValueUnit
    """Of costs."""
    error_rate: Estimate
    """What an unforced decision gave away, on average."""
    cost: Estimate
    """What the player gave away in a game."""
    decisions: float
    """Decisions of the player in a game."""
    unforced: float
    """Of these, how many count in the error rate."""
    unknown: float
    """Decisions in a game that could not be judged."""
    marks: dict[str, float]
    """Sign of a mark -> decisions in a game that have it."""


def facts(game: Game, valuer: Valuer, others: Sequence[str], seed: int, found: Sequence[Grade]) -> dict[str, Any]:
    """Return grades as plain values, with what they are of."""
    return {
        "game": game.name,
        "players": game.players,
        "parameters": dict(game.parameters),
        "others": list(others),
        "seed": seed,
        "values": {"name": valuer.name, "kind": valuer.kind, "unit": valuer.unit, "sure": valuer.sure},
        "grades": [
            one._asdict() | {"error_rate": one.error_rate._asdict(), "cost": one.cost._asdict()} for one in found
        ],
    }


def grade(
    player: Player,
    game: Game,
    others: Sequence[Player] = (),
    games: int | None = None,
    seed: int = 0,
    valuer: Valuer | None = None,
    *,
    progress: Progress | None = None,
) -> Grade:
    """Return what a player's decisions give away.

    Args:
        player: who is graded; it sits in each seat in turn.
        game: what is played.
        others: who sits in the other seats, in turn (default: ``player`` itself).
        games: how many games are played (default: 200, and 10 where values are rollouts).
        seed: which.
        valuer: who says what actions are worth (default: the best that is ready, `dicegym.analysis.valuer`).
        progress: told of games that are over.

    Raises:
        ParameterError: there are no games or no values, or more others than seats.
        AgentError: a player fails and the rules do not say what that costs.
    """
    if len(others) >= max(2, game.players):
        raise ParameterError(f"{len(others)} others do not fit beside a player of {game!r}: give {game.players - 1}")
    asked = best_valuer(game) if valuer is None else valuer
    usual = GAMES_BY_ROLLOUTS if asked.kind == "rollouts" else GAMES
    games = whole_number("games", usual if games is None else games, 1, 1 << 30, "the number of games of a grade")
    found = [
        _costs(
            player, game, others or [player], range(first, min(first + AT_ONCE, games)), seed, asked, games, progress
        )
        for first in range(0, games, AT_ONCE)
    ]
    costs, counted, decisions, unforced, unknown = (
        np.concatenate(column) for column in list(zip(*found, strict=True))[:5]
    )
    marks = np.sum([one[5] for one in found], axis=0)
    return _grade(player.name, asked.unit, costs, counted, decisions, unforced, unknown, marks)


def grades_of(
    games: Iterable[tuple[Sequence[str], np.ndarray, Sequence[int]]], valuer: Valuer
) -> Iterator[list[Grade] | None]:
    """Judge games that were played; yield None after each, and at last the grade of each player, the best first.

    Args:
        games: of each who sat where, the records before each action (others may follow), and the actions. Of a name
            that has several seats of a game each counts as a game.
        valuer: who says what actions are worth.
    """
    tallies: dict[str, list[tuple[Any, ...]]] = {}
    bounds = _bounds(valuer)
    for names, states, actions in games:
        movers = states["player"][: len(actions)]
        found = judged(valuer, states[: len(actions)], actions)
        for seat, name in enumerate(names):
            own = movers == seat
            choice = own & (found.stakes == Stake.CHOICE)
            tallies.setdefault(name, []).append(
                (
                    found.costs[own].sum(),
                    found.costs[choice].sum(),
                    own.sum(),
                    choice.sum(),
                    (own & (found.stakes == Stake.UNKNOWN)).sum(),
                    _marked(found.costs[own], found.errors[own], bounds),
                )
            )
        yield None
    grades = []
    for name, rows in tallies.items():
        costs, counted, decisions, unforced, unknown, marks = (np.array(column) for column in zip(*rows, strict=True))
        grades.append(_grade(name, valuer.unit, costs, counted, decisions, unforced, unknown, marks.sum(axis=0)))
    yield sorted(grades, key=lambda one: one.error_rate.mean)


def _grade(
    name: str,
    unit: ValueUnit,
    costs: np.ndarray,
    counted: np.ndarray,
    decisions: np.ndarray,
    unforced: np.ndarray,
    unknown: np.ndarray,
    marks: np.ndarray,
) -> Grade:
    """Return what games come to: arrays by game as of `_costs`, and how often each mark was given in all of them."""
    games = len(costs)
    rate = counted.sum() / max(1, unforced.sum())
    # A ratio of sums over games, which are independent: the delta method.
    spread = (counted - rate * unforced).std(ddof=1) if games > 1 else np.inf
    half = Z_95 * spread / max(1e-12, unforced.mean()) / games**0.5
    per_game = Z_95 * (costs.std(ddof=1) if games > 1 else np.inf) / games**0.5
    return Grade(
        name,
        games,
        unit,
        Estimate(float(rate), float(half), games),
        Estimate(float(costs.mean()), float(per_game), games),
        float(decisions.mean()),
        float(unforced.mean()),
        float(unknown.mean()),
        {mark.sign: float(share) / games for mark, share in zip(MARKS, marks, strict=True)},
    )


def _bounds(valuer: Valuer) -> np.ndarray:
    """Return what decisions cost from each mark on: float64[marks]."""
    found: np.ndarray = np.array([mark.cost for mark in MARKS]) * UNITS[valuer.unit]
    return found


def _marked(costs: np.ndarray, errors: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return how many decisions have each mark: int64[marks]."""
    reached = np.searchsorted(bounds * (1 - 1e-12), costs[costs > Z_95 * errors], side="right")
    found: np.ndarray = np.bincount(reached, minlength=len(MARKS) + 1)[1:]
    return found


def _costs(
    player: Player,
    game: Game,
    others: Sequence[Player],
    numbers: range,
    seed: int,
    valuer: Valuer,
    games: int,
    progress: Progress | None,
) -> tuple[np.ndarray, ...]:
    """Play games; return for each what was given away, the same in unforced decisions, and numbers of decisions.

    The last one counts the marks of all games together: float64[marks].
    """
    n = len(numbers)
    states, rows = game.new_states(n), np.arange(n)
    keys = np.full(n, seed % (1 << 64), np.uint64)
    loops.begin_rows(states, rows, game.blank, keys, np.array(numbers, np.uint64))
    own = np.array(numbers) % game.players
    seated = [
        [
            player if seat == own[row] else others[((seat - own[row]) % game.players - 1) % len(others)]
            for seat in range(game.players)
        ]
        for row in range(n)
    ]
    table = _Table(game, states, seated)
    costs, counted = np.zeros(n), np.zeros(n)
    decisions, unforced, unknown = (np.zeros(n, np.int64) for _ in range(3))
    marks = np.zeros(len(MARKS))
    bounds = _bounds(valuer)
    while len(rows):
        movers = states["player"][rows].astype(np.int64)
        actions = table.actions(rows, movers)
        mine = movers == own[rows]
        some = rows[mine]
        if len(some):
            found = judged(valuer, states[some], actions[mine])
            choice = found.stakes == Stake.CHOICE
            costs[some] += found.costs
            counted[some] += np.where(choice, found.costs, 0)
            decisions[some] += 1
            unforced[some] += choice
            unknown[some] += found.stakes == Stake.UNKNOWN
            marks += _marked(found.costs, found.errors, bounds)
        table.step(rows, actions)
        rows = rows[~states["over"][rows]]
        if progress is not None:
            judged_so_far = f"{player.name}: {decisions.sum():,} decisions judged"
            progress(numbers[0] + n - len(rows), games, judged_so_far)
    return costs, counted, decisions, unforced, unknown, marks


class _Table:
    """Games side by side, and who sits at them: pure players are asked about many at once."""

    def __init__(self, game: Game, states: np.ndarray, seated: Sequence[Sequence[Player]]) -> None:
        self._game, self._states = game, states
        self._players = list({id(one): one for row in seated for one in row}.values())
        number = {id(one): at for at, one in enumerate(self._players)}
        self._whose = np.array([[number[id(one)] for one in row] for row in seated])
        self._acts: list[dict[int, Act]] = []
        self._audiences: list[Audience] = []
        for row, players in enumerate(seated):
            alone = {seat: one for seat, one in enumerate(players) if not one.at_once}
            self._acts.append(join_table(game, alone, int(states[row]["key"])))
            self._audiences.append(Audience(game, states[row], self._acts[row]))

    def actions(self, rows: np.ndarray, movers: np.ndarray) -> np.ndarray:
        """Return what the movers choose: int64[rows]."""
        chosen = np.empty(len(rows), np.int64)
        whose = self._whose[rows, movers]
        for number in np.unique(whose):
            player, at = self._players[number], np.flatnonzero(whose == number)
            if player.at_once:
                chosen[at] = player.act_rows(self._game, self._states, rows[at], movers[at])
                continue
            for one in at.tolist():
                row, seat = int(rows[one]), int(movers[one])
                chosen[one] = self._acts[row][seat](Turn(self._game, self._states[row], seat))
        return chosen

    def step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Play an action in each of some games, and tell those who follow."""
        loops.step_rows(self._states, rows, actions, np.empty(len(rows), np.int64))
        for row in rows.tolist():
            self._audiences[row].tell()
