"""Grades: what a player's decisions cost, over many games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.valuers import MARKS, Mark, Stake, assess, mark_numbers, unit_title
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.envs.batch_kernels import PLAY
from dicegym.envs.opponents import Opponents
from dicegym.errors import ParameterError
from dicegym.games.parts import Z_95, Estimate, Progress
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.play.player import Player, Usage

GAMES = 200
GAMES_BY_ROLLOUTS = 10
"""Games of a grade unless told otherwise, by the kind of values: a rollout of each decision takes a while."""
AT_ONCE, JUDGED_AT_ONCE = 512, 1_000
"""Games that are played, and decisions that are judged, at the same time."""


class Grade(NamedTuple):
    """What a player's decisions cost over games, with 95 % intervals."""

    name: str
    """Of the player."""
    games: int
    unit: ValueUnit
    """Of costs."""
    error_rate: Estimate
    """What an unforced decision cost, on average. Answers of a language model that are no actions do not count."""
    cost: Estimate
    """What the player's decisions cost in a game."""
    decisions: float
    """Decisions of the player in a game."""
    unforced: float
    """Of these, how many count in the error rate."""
    unknown: float
    """Decisions in a game that could not be judged."""
    marks: dict[str, float]
    """Sign of a mark -> decisions in a game that have it."""
    usage: Usage | None = None
    """What a language model was asked and what it used in this process; None of any other player."""


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
            {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in one._asdict().items()}
            for one in found
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
    """Return what a player's decisions cost.

    Args:
        player: the one that is graded; it sits in each seat in turn.
        game: what is played.
        others: the players of the other seats, in turn (default: ``player`` itself).
        games: how many games are played (default: 200, and 10 where values are rollouts).
        seed: which.
        valuer: the source of values of actions (default: the best that is ready, `dicegym.analysis.valuer`).
        progress: told of games that are over.

    Raises:
        ParameterError: there are no games or no values, or more others than seats.
        AgentError: a player fails and the rules do not say what that costs.

    Example:
        >>> import dicegym
        >>> from dicegym.values import grade
        >>> game = dicegym.game("hog")
        >>> grade(dicegym.agent(game, "ppo"), game, games=20).error_rate.mean < 0.05
        True
    """
    if len(others) >= max(2, game.players):
        raise ParameterError(f"{len(others)} others do not fit beside a player of {game!r}: give {game.players - 1}")
    asked = best_valuer(game) if valuer is None else valuer
    usual = GAMES_BY_ROLLOUTS if asked.kind == "rollouts" else GAMES
    games = whole_number("games", usual if games is None else games, 1, 1 << 30, "the number of games of a grade")
    found = []
    for first in range(0, games, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, games))
        rows, states, actions = _play(player, game, others or [player], numbers, seed)
        tally = None
        for start in range(0, max(1, len(rows)), JUDGED_AT_ONCE):
            some = slice(start, start + JUDGED_AT_ONCE)
            own = player.has_answered(game, states[some])
            part = _tally(asked, states[some], actions[some], rows[some], len(numbers), own)
            tally = part if tally is None else tuple(map(np.add, tally, part))
            if progress is not None:
                progress(first + int(rows[some].max(initial=0)), games, f"{player.name}: {start:,} decisions judged")
        found.append(tally)
    judged = _grade(player.name, asked.unit, *map(np.concatenate, zip(*found, strict=True)))
    return judged._replace(usage=player.usage)


def _play(
    player: Player, game: Game, others: Sequence[Player], numbers: range, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play games; return of each decision of the player its game (int64[n]), the record before, and the action."""
    n = len(numbers)
    states, rows = game.new_states(n), np.arange(n)
    keys = np.full(n, seed % (1 << 64), np.uint64)
    loops.begin_rows(states, rows, game.blank, keys, np.array(numbers, np.uint64))
    own = np.array(numbers) % game.players
    table = Opponents(game, states)
    for row, seat in enumerate(own.tolist()):
        rivals = {(seat + place) % game.players: others[(place - 1) % len(others)] for place in range(1, game.players)}
        table.sit(row, int(states[row]["key"]), {seat: player, **rivals})
    everybody = np.full(n, -1)
    found = [(rows[:0], states[:0], np.zeros(0, np.int64))]
    while True:
        actions, tasks = table.answers(rows, everybody)  # followers of a game that is over are told of its end
        going = tasks == PLAY
        rows, actions = rows[going], actions[going]
        if not len(rows):
            break
        mine = states["player"][rows] == own[rows]
        found.append((rows[mine], states[rows[mine]], actions[mine]))
        loops.step_rows(states, rows, actions, np.empty(len(rows), np.int64))
    which, before, chosen = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(which, kind="stable")
    return which[order], before[order], chosen[order]


def _tally(
    valuer: Valuer,
    states: np.ndarray,
    actions: np.ndarray,
    rows: np.ndarray,
    n: int,
    own: np.ndarray | bool = True,
) -> tuple[np.ndarray, ...]:
    """Judge decisions; return sums by row, of which there are ``n``.

    These are the costs, the same in unforced decisions, the numbers of all, of unforced and of unknown decisions, and
    that of each mark, int64[n, marks]. Decisions that are not the player's ``own`` (bool[decisions]) count as forced.
    """
    found = assess(valuer, states).judge(actions)
    choice = (found.stakes == Stake.CHOICE) & own
    marks = np.zeros((n, len(MARKS) + 1), np.int64)
    np.add.at(marks, (rows, mark_numbers(found.costs, valuer.unit, found.errors)), 1)
    return (
        np.bincount(rows, found.costs, n),
        np.bincount(rows, np.where(choice, found.costs, 0.0), n),
        np.bincount(rows, minlength=n),
        np.bincount(rows[choice], minlength=n),
        np.bincount(rows[found.stakes == Stake.UNKNOWN], minlength=n),
        marks[:, 1:],
    )


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
    """Return the grade of games: sums by game as of `_tally`."""
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
        {mark.sign: float(share) / games for mark, share in zip(MARKS, marks.sum(axis=0), strict=True)},
    )


def grade_table(grades: Sequence[Grade], marks: Sequence[Mark]) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of grades, the best first."""
    unit = grades[0].unit
    shown = unit_title(unit)
    titles = ["agent", f"error rate ({shown})", "+-", f"given away a game ({shown})", "+-", "decisions", "unforced"]
    titles += [mark.sign for mark in marks]
    asked = any(one.usage is not None for one in grades)
    titles += ["unreadable", "illegal", "tokens"] if asked else []
    scale, digits = (100, 2) if unit == "win rate" else (1, 3)
    rows = [
        [
            one.name,
            f"{scale * one.error_rate.mean:.{digits}f}",
            f"{scale * one.error_rate.half:.{digits}f}",
            f"{scale * one.cost.mean:.{digits - 1}f}",
            f"{scale * one.cost.half:.{digits - 1}f}",
            f"{one.decisions:.1f}",
            f"{one.unforced:.1f}",
            *(f"{one.marks[mark.sign]:.2f}" for mark in marks),
            *(_used(one.usage) if asked else []),
        ]
        for one in sorted(grades, key=lambda one: one.error_rate.mean)
    ]
    return titles, rows


def _used(usage: Usage | None) -> list[str]:
    """Return the cells of a language model: the shares of its answers that are no actions, and its tokens."""
    if usage is None:
        return ["", "", ""]
    shares = [f"{number / max(1, usage.decisions):.1%}" for number in (usage.unreadable, usage.illegal)]
    return [*shares, f"{usage.prompt_tokens + usage.completion_tokens:,}"]
