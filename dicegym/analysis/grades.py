"""Grades: the cost of a player's decisions over many games (`grade`) and in a fixed suite of every game (`suite`).

The situations of a suite come from games of a scripted agent that plays a quarter of its moves at random. They are the
same for every player, and each is one question. The games of a suite are those of `grade` against the game's baseline,
with luck-adjusted results. Answers of a language model that cannot be played are counted separately, without regret.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from operator import sub
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.playing_on import results
from dicegym.analysis.valuers import MARKS, Assessment, Stake, assess, mark_numbers, sources, unit_title
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.analysis.variance_reduction import Watched, meter_of
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import seed_number, whole_number
from dicegym.envs.batch_kernels import PLAY
from dicegym.envs.opponents import Opponents
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.parts import Z_95, Estimate, Progress, list_solved_settings
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.play.drive import walk
from dicegym.play.player import Player, Usage, sit_down
from dicegym.play.turn import Turn
from dicegym.players.llm import LlmPlayer
from dicegym.players.prompts import decision_start
from dicegym.players.roster import agent, opponent
from dicegym.registry import GAMES

GRADED_GAMES, GRADED_BY_ROLLOUTS = 200, 10
"""Default games of a grade: with computed values, and with rollouts, which take seconds a decision."""
AT_ONCE, JUDGED_AT_ONCE = 512, 1_000
"""Games played, and decisions judged, at the same time."""
SITUATIONS, GAMES_PLAYED = 100, 20
"""Default sizes of a suite, for each game with computed values."""
SITUATIONS_BY_ROLLOUTS, GAMES_BY_ROLLOUTS = 20, 4
"""The same with rollouts; the decisions of these games are not judged."""
STRAY = 0.25
"""Share of random moves in the games that situations come from."""
LONGEST = 400
"""The most decisions of such a game before its situation."""
VERSION = 1
"""The version of the suite: grades of one version can be compared."""


class Grade(NamedTuple):
    """The cost of a player's decisions over games, with 95 % intervals."""

    name: str
    games: int
    unit: ValueUnit
    """The unit of costs."""
    error_rate: Estimate
    """Mean cost of an unforced decision. Answers of a language model that cannot be played do not count."""
    cost: Estimate
    """Cost of the player's decisions in a game."""
    decisions: float
    """Decisions of the player in a game."""
    unforced: float
    """Those of them that count in the error rate."""
    unknown: float
    """Decisions in a game that could not be judged."""
    marks: dict[str, float]
    """Sign of a mark -> decisions in a game."""
    usage: Usage | None = None


def grade(
    player: Player | str,
    game: Game | str,
    others: Sequence[Player | str] = (),
    games: int | None = None,
    seed: int = 0,
    valuer: Valuer | None = None,
    *,
    progress: Progress | None = None,
) -> Grade:
    """Return the cost of a player's decisions.

    Args:
        player: the player to grade, or its name; it sits in each seat in turn. A language model's illegal and
            unreadable answers are replaced by random legal actions.
        game: the game.
        others: the players of the other seats, in turn, or their names (default: ``player`` itself).
        games: the number of games (default: 200, or 10 where values are rollouts).
        seed: the seed of the games.
        valuer: the source of values (default: the best that is ready, `dicegym.values.valuer`).
        progress: told of finished games.

    Raises:
        ParameterError: ``games`` is out of range, there are no values, or more others than seats.
        AgentError: a player fails and the rules do not say what that costs.

    Example:
        >>> import dicegym
        >>> from dicegym.values import grade
        >>> game = dicegym.game("hog")
        >>> grade(dicegym.agent(game, "ppo"), game, games=20).error_rate.mean < 0.05
        True
    """
    game = make_game(game)
    player, rivals = _gradable(agent(game, player)), [agent(game, one) for one in others]
    if len(others) >= max(2, game.players):
        raise ParameterError(f"{len(others)} others do not fit a player of {game!r}: give {game.players - 1}")
    asked = best_valuer(game) if valuer is None else valuer
    if games is None:
        games = GRADED_BY_ROLLOUTS if asked.kind == "rollouts" else GRADED_GAMES
    games = whole_number("games", games, 1, 1 << 30, "the number of games of a grade")
    seed = seed_number("seed", seed)
    found = []
    for first in range(0, games, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, games))
        if progress is not None:
            progress(first, games, f"{player.name}: playing")
        played = _play(player, game, rivals or [player], numbers, seed)
        found.append(_judge_games(player, asked, played, progress, first, games))
    sums = [np.concatenate(one) for one in zip(*found, strict=True)]
    return _grade(player.name, asked.unit, sums, player.usage)


def _gradable(player: Player) -> Player:
    """Return a player that always plays on: a language model plays at random for an invalid answer."""
    return player.with_random_failures() if isinstance(player, LlmPlayer) else player


class _Played(NamedTuple):
    """A player's games, and its decisions in the order of the games."""

    states: np.ndarray
    """The records at the end."""
    seats: np.ndarray
    """int64[games]: the player's seat."""
    luck: np.ndarray | None
    """float64[games, players of the game]: what luck was worth to each seat; None if it was not measured."""
    games: np.ndarray
    """int64[decisions]: the game of each decision."""
    before: np.ndarray
    """The record before each decision."""
    chosen: np.ndarray
    """int64[decisions]: the actions."""


def _play(
    player: Player, game: Game, others: Sequence[Player], numbers: range, seed: int, measure_luck: bool = False
) -> _Played:
    """Let a player play games, in each seat in turn. No luck is measured where the game has no meter."""
    n = len(numbers)
    states, rows = game.new_states(n), np.arange(n)
    keys = np.full(n, seed % (1 << 64), np.uint64)
    loops.begin_rows(states, rows, game.blank, keys, np.array(numbers, np.uint64))
    own = np.array(numbers) % game.players
    table = Opponents(game, states)
    for row, seat in enumerate(own.tolist()):
        rivals = {(seat + place) % game.players: others[(place - 1) % len(others)] for place in range(1, game.players)}
        table.sit(row, int(states[row]["key"]), {seat: player, **rivals})
    meter = None
    if measure_luck:
        with contextlib.suppress(ParameterError):
            meter = meter_of(game, [None], np.zeros((n, game.players), np.int64))
    watched = None if meter is None else Watched(states, meter)
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
        if watched is None:
            loops.step_rows(states, rows, actions, np.empty(len(rows), np.int64))
        else:
            watched.step(rows, actions)
    which, before, chosen = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(which, kind="stable")
    luck = None if meter is None else meter.luck
    return _Played(states, own, luck, which[order], before[order], chosen[order])


def _judge_games(
    player: Player, asked: Valuer, played: _Played, progress: Progress | None, first: int, games: int
) -> tuple[np.ndarray, ...]:
    """Judge the decisions of games; return sums by game. ``first`` and ``games`` are for ``progress`` alone.

    They are: all costs, the costs of unforced decisions, the numbers of all, of unforced and of unknown decisions, and
    the number of each mark, int64[games, marks]. Decisions that a player did not answer itself count as forced.
    """
    n = len(played.seats)
    sums = np.zeros(n), np.zeros(n), *(np.zeros(n, np.int64) for _ in range(3))
    marks = np.zeros((n, len(MARKS) + 1), np.int64)
    for start in range(0, len(played.games), JUDGED_AT_ONCE):
        some = slice(start, start + JUDGED_AT_ONCE)
        rows, states = played.games[some], played.before[some]
        found = assess(asked, states).judge(played.chosen[some])
        choice = (found.stakes == Stake.CHOICE) & player.has_answered(asked.game, states)
        parts = (
            np.bincount(rows, found.costs, n),
            np.bincount(rows, np.where(choice, found.costs, 0.0), n),
            np.bincount(rows, minlength=n),
            np.bincount(rows[choice], minlength=n),
            np.bincount(rows[found.stakes == Stake.UNKNOWN], minlength=n),
        )
        for total, part in zip(sums, parts, strict=True):
            np.add(total, part, out=total)
        np.add.at(marks, (rows, mark_numbers(found.costs, asked.unit, found.errors)), 1)
        if progress is not None:
            progress(first + int(rows.max()), games, f"{player.name}: {start:,} decisions judged")
    return *sums, marks[:, 1:]


def _grade(name: str, unit: ValueUnit, sums: Sequence[np.ndarray], usage: Usage | None) -> Grade:
    """Return the grade of games from the sums of `_judge_games`."""
    costs, counted, decisions, unforced, unknown, marks = sums
    games = len(costs)
    rate = counted.sum() / max(1, unforced.sum())
    # A ratio of sums over games, which are independent: the delta method.
    half = _estimate(counted - rate * unforced).half / max(1e-12, unforced.mean())
    return Grade(
        name,
        games,
        unit,
        Estimate(float(rate), float(half), games),
        _estimate(costs),
        float(decisions.mean()),
        float(unforced.mean()),
        float(unknown.mean()),
        {mark.sign: float(share) / games for mark, share in zip(MARKS, marks.sum(axis=0), strict=True)},
        usage,
    )


def _estimate(values: np.ndarray) -> Estimate:
    """Return the mean of values with its 95 % interval."""
    half = Z_95 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.inf
    return Estimate(float(values.mean()) if len(values) else np.nan, float(half), len(values))


def grade_table(grades: Sequence[Grade]) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of grades, the best first."""
    unit = grades[0].unit
    shown = unit_title(unit)
    titles = ["agent", f"error rate ({shown})", "+-", f"regret a game ({shown})", "+-", "decisions", "unforced"]
    titles += [mark.sign for mark in MARKS]
    asked = any(one.usage is not None for one in grades)
    titles += ["unreadable", "illegal", "tokens"] if asked else []
    scale, digits = (100, 2) if unit == "win rate" else (1, 3)
    rows = []
    for one in sorted(grades, key=lambda one: one.error_rate.mean):
        row = [one.name, *_cells(one.error_rate, scale, digits), *_cells(one.cost, scale, digits - 1)]
        row += [f"{one.decisions:.1f}", f"{one.unforced:.1f}", *(f"{one.marks[mark.sign]:.2f}" for mark in MARKS)]
        if asked:
            row += [f"{share:.1%}" if one.usage else "" for share in _failed_shares(one.usage)]
            row.append(_tokens(one.usage))
        rows.append(row)
    return titles, rows


def _cells(found: Estimate | None, scale: int, digits: int) -> list[str]:
    """Return the mean of an estimate and half of its interval."""
    return ["", ""] if found is None else [f"{scale * value:.{digits}f}" for value in (found.mean, found.half)]


def _tokens(usage: Usage | None) -> str:
    return "" if usage is None else f"{usage.prompt_tokens + usage.completion_tokens:,}"


def _failed_shares(usage: Usage | None) -> tuple[float, float]:
    """Return the shares of decisions with an unreadable answer, and with an illegal one."""
    if usage is None:
        return 0.0, 0.0
    return usage.unreadable / max(1, usage.decisions), usage.illegal / max(1, usage.decisions)


class SuiteGrade(NamedTuple):
    """The result of one player in one game of a suite. Intervals are of 95 %."""

    name: str
    game: str
    values: str
    """The source of values, and how sure they are."""
    unit: str
    score: float
    """100 x (1 - regret / regret of random play) in the situations: 100 is the best known play, 0 random play."""
    regret: Estimate
    """Mean regret of the answers to situations."""
    random_regret: float
    """Mean cost of a uniformly random legal action there."""
    unanswered: float
    """Share of situations without an answer that can be played."""
    grade: Grade | None
    """The grade of the games: error rates are of answers, costs of all actions. None where values are rollouts."""
    result: Estimate
    """Mean share of the first place in the games, or the mean return in a game for one."""
    adjusted: Estimate | None
    """The luck-adjusted result; None where the game has no meter."""
    usage: Usage | None
    """A language model's answers and tokens; None for other players."""


def suite(
    players: Sequence[str | Player],
    games: Iterable[str | Game] = GAMES,
    *,
    situations: int | None = None,
    matches: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[SuiteGrade]:
    """Grade players in every game, game by game in the order of the players.

    Args:
        players: agents as for `dicegym.agent`, such as ``llm(MODEL)``, whose illegal and unreadable answers are
            replaced by random legal actions here.
        games: names or games (default: all). A game given by name is played with its solved parameters if its default
            ones have nothing but rollouts: Yatzy for one player.
        situations: the number for each game (default: 100, or 20 where values are rollouts).
        matches: the games played of each game (default: 20, or 4 where values are rollouts).
        seed: the seed of situations and games.
        progress: told of situations and games.

    Raises:
        ParameterError: a number is out of range, or there are no values.
        UnknownNameError, AgentError, ModelError, DependencyError: a player is unknown or fails.
        EndpointError: an endpoint does not answer.
    """
    found = []
    models: dict[int, Player] = {}  # by place: a model has one budget for all games
    for game, named in [(game, [agent(game, spec) for spec in players]) for game in map(_table, games)]:
        asked = best_valuer(game, progress=progress)
        rough = asked.kind == "rollouts"
        usual = (SITUATIONS_BY_ROLLOUTS, GAMES_BY_ROLLOUTS) if rough else (SITUATIONS, GAMES_PLAYED)
        number = whole_number("situations", usual[0] if situations is None else situations, 2, 1 << 20, "their number")
        played = whole_number("matches", usual[1] if matches is None else matches, 1, 1 << 20, "the number of games")
        same = _situations_of(game, asked, number, seed)
        for place, player in enumerate(named):
            model = models.setdefault(place, _gradable(player)) if isinstance(player, LlmPlayer) else player
            found.append(_graded(model, same, played, seed, progress))
    return found


def _table(game: str | Game) -> Game:
    """Return a game with the parameters that the suite plays."""
    table = make_game(game)
    others = list_solved_settings(table) if isinstance(game, str) else None
    *better, _ = sources(table)
    return table if others is None or any(source.ready() for source in better) else make_game(game, **others)


def _situations_of(game: Game, asked: Valuer, number: int, seed: int) -> Assessment:
    """Return situations in which the action matters, each from another game, with the values of their actions.

    Raises ParameterError if too few are found.
    """
    scripted = opponent(game, game.spec.baseline)
    kept: list[Any] = []

    def choose(state: Any, time: int) -> int:
        """Play every seat as the scripted agent, with some random moves."""
        if generator.random() < STRAY:
            return int(generator.choice(np.flatnonzero(game.legal(state))))
        seat = int(state["player"])
        return int(acts[seat](Turn(game, state, seat)))

    for episode in range(20 * number):
        if len(kept) == number:
            break
        generator = np.random.default_rng(named_seed("situation", seed, game.name, episode))
        state = game.new_game(named_seed("situations", seed), episode)[0]
        acts = [sit_down(scripted, game, seat, episode) for seat in range(game.players)]
        at = int(generator.integers(LONGEST))
        met = [one.copy() for one in walk(game, state, choose, at + 1) if not one["over"]]
        begun = [decision_start(game, one, int(one["player"])) for one in met]  # before any action of an order
        seen = [one for one, start in zip(met, begun, strict=True) if start.tobytes() == one.tobytes()]
        one = seen[at % len(seen)]
        if game.legal(one).sum() > 1:
            kept.append(one)
    states = game.new_states(len(kept))
    for row, one in enumerate(kept):
        states[row] = one
    values = assess(asked, states)
    choice = np.isin(values.judge(values.first).stakes, (Stake.CHOICE, Stake.OBVIOUS))
    if choice.sum() < 2:
        raise ParameterError(f"{len(choice)} situations of {game!r} hold {choice.sum()} choices: give more situations")
    return Assessment(asked, *(one[choice] for one in values[1:]))


def _graded(player: Player, same: Assessment, games: int, seed: int, progress: Progress | None) -> SuiteGrade:
    """Return the grade of one player in the situations of a game, and in ``games`` games."""
    asked, game, states, before = same.valuer, same.valuer.game, same.states, player.usage
    table = Opponents(game, states)
    for row, state in enumerate(states):
        table.sit(row, int(state["key"]), dict.fromkeys(range(game.players), player))
    actions, _ = table.answers(np.arange(len(states)), np.full(len(states), -1))
    known = player.has_answered(game, states)
    judged = same.judge(actions)
    regret = _estimate(judged.costs[known & (judged.stakes != Stake.UNKNOWN)])
    random_regret = float((np.nanmax(same.values, axis=1) - np.nanmean(same.values, axis=1)).mean())
    others = [agent(game, game.spec.baseline)] if game.players > 1 else [player]
    if progress is not None:
        progress(0, games, f"{player.name}: playing")
    played = _play(player, game, others, range(games), seed, measure_luck=True)
    found = None
    if asked.kind != "rollouts":
        found = _grade(player.name, asked.unit, _judge_games(player, asked, played, progress, 0, games), None)
    own = np.arange(games), played.seats
    shares = results(game, played.states)[own]
    after = player.usage
    return SuiteGrade(
        player.name,
        game.name,
        f"{asked.name} ({asked.sure})",
        unit_title(asked.unit),
        100 * (1 - regret.mean / random_regret) if random_regret > 0 else 100.0,
        regret,
        random_regret,
        float(1 - known.mean()),
        found,
        _estimate(shares),
        None if played.luck is None else _estimate(shares - played.luck[own]),
        None if before is None or after is None else Usage(*map(sub, after, before)),
    )


def suite_table(grades: Sequence[SuiteGrade]) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of grades, in their order."""
    titles = ["game", "agent", "score", "regret", "+-", "random", "unreadable", "illegal", "games: regret", "+-"]
    titles += ["result", "+-", "luck-adjusted", "+-", "tokens", "unit"]
    rows = []
    for one in grades:
        scale, digits = (100, 2) if one.unit == "%" else (1, 3)
        row = [one.game, one.name, f"{one.score:.0f}", *_cells(one.regret, scale, digits)]
        row += [f"{scale * one.random_regret:.{digits}f}", *(f"{share:.1%}" for share in _failed_shares(one.usage))]
        row += _cells(one.grade and one.grade.error_rate, scale, digits)
        row += [*_cells(one.result, 1, 3), *_cells(one.adjusted, 1, 3), _tokens(one.usage), one.unit]
        rows.append(row)
    return titles, rows


def facts(game: Game, valuer: Valuer, others: Sequence[str], seed: int, found: Sequence[Grade]) -> dict[str, Any]:
    """Return grades as plain values, with the game, the opponents and the source of values."""
    return {
        "game": game.name,
        "players": game.players,
        "parameters": dict(game.parameters),
        "others": list(others),
        "seed": seed,
        "values": {"name": valuer.name, "kind": valuer.kind, "unit": valuer.unit, "sure": valuer.sure},
        "grades": [_plain(one) for one in found],
    }


def suite_facts(grades: Sequence[SuiteGrade], seed: int) -> dict[str, Any]:
    """Return grades of a suite as plain values."""
    return {"kind": "dicegym model suite", "version": VERSION, "seed": seed, "grades": [_plain(one) for one in grades]}


def _plain(value: Any) -> Any:
    if isinstance(value, SuiteGrade):
        shares = dict(zip(("unreadable", "illegal"), _failed_shares(value.usage), strict=True))
        return _plain(value._asdict()) | shares
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
