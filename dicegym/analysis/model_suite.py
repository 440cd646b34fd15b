"""A grade of language models: what their decisions cost, in a fixed suite of situations and games of every game.

Situations come from games of a scripted agent that plays a quarter of its moves at random; they are the same for every
model, and each is one question. Games are those of `dicegym.analysis.grade` against the game's baseline, with the same
dice for every model; their results are given with the luck taken out. Answers that are no action are counted apart and
left out of regret. Any other agent can be graded too: what costs nothing to ask speaks without words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.grades import Grade, grade
from dicegym.analysis.valuers import Assessment, Stake, assess, sources, unit_title, valuer
from dicegym.analysis.variance_reduction import luck_of
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.envs.opponents import Opponents
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.parts import Z_95, Estimate, Progress, list_solved_settings
from dicegym.games.worth import Valuer
from dicegym.play.drive import Referee, walk
from dicegym.play.player import Player, Usage, sit_down
from dicegym.play.turn import Turn
from dicegym.players.llm import LlmPlayer
from dicegym.players.prompts import decision_start
from dicegym.players.roster import agent, opponent
from dicegym.registry import GAMES

SITUATIONS, GAMES_PLAYED = 100, 20
"""Of a suite, by game, where values are computed."""
SITUATIONS_BY_ROLLOUTS, GAMES_BY_ROLLOUTS = 20, 4
"""Where they are rollouts, which take seconds a decision: in games nothing is judged then."""
STRAY = 0.25
"""Share of random moves in the games that situations come from."""
LONGEST = 400
"""Decisions of such a game from which a situation is drawn."""
VERSION = 1
"""Of the suite: grades of one version can be compared."""


class SuiteSituations(NamedTuple):
    """The situations of a game, the same for every player."""

    states: np.ndarray
    """The records."""
    values: Assessment
    """What actions are worth there."""
    random_regret: float
    """What a uniformly random legal action costs there on average."""


class SuiteGrade(NamedTuple):
    """What a suite found of one player in one game. Intervals are of 95 %."""

    name: str
    """Of the player."""
    game: str
    values: str
    """The source of values, and how sure they are."""
    unit: str
    """Of regret."""
    score: float
    """100 x (1 - regret / regret of random play) in the situations: 100 is the best known play, 0 random play."""
    regret: Estimate
    """Mean regret of the answers to situations."""
    random_regret: float
    """What a uniformly random legal action costs there on average."""
    unanswered: float
    """Share of situations whose answer was no action."""
    grade: Grade | None
    """Of the games; the error rate is of answers, costs are of all that was played. None where values are rollouts."""
    result: Estimate
    """Mean share of the first place in the games, or the mean return in a game for one."""
    adjusted: Estimate | None
    """The luck-adjusted result; None where the game has no meter."""
    usage: Usage | None
    """What a language model was asked and what it used, in situations and games; None of any other player."""

    @property
    def unreadable(self) -> float:
        """Share of decisions whose answer could not be read."""
        return self.usage.unreadable / max(1, self.usage.decisions) if self.usage else 0.0

    @property
    def illegal(self) -> float:
        """Share of decisions whose answer the rules do not allow."""
        return self.usage.illegal / max(1, self.usage.decisions) if self.usage else 0.0


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
        games: names or games (default: all). By its name alone a game is played as it is solved, if it has nothing but
            rollouts as it usually is: Yatzy by one player.
        situations: how many of each game (default: 100; 20 where values are rollouts).
        matches: games of each game (default: 20; 4 where values are rollouts).
        seed: which situations and games.
        progress: told of situations and games.

    Raises:
        ParameterError: a number is out of range, or there are no values.
        UnknownNameError, AgentError, ModelError, DependencyError: a player is unknown or fails.
        EndpointError: an endpoint does not answer.
    """
    found = []
    seated = [(game, [agent(game, spec) for spec in players]) for game in map(_table, games)]
    models: dict[int, LlmPlayer] = {}  # one for all games, as its budgets are
    for game, named in seated:
        asked = valuer(game, progress=progress)
        rough = asked.kind == "rollouts"
        usual = (SITUATIONS_BY_ROLLOUTS, GAMES_BY_ROLLOUTS) if rough else (SITUATIONS, GAMES_PLAYED)
        number = whole_number("situations", usual[0] if situations is None else situations, 2, 1 << 20, "their number")
        played = whole_number("matches", usual[1] if matches is None else matches, 1, 1 << 20, "the number of games")
        same = situations_of(game, asked, number, seed)
        for place, player in enumerate(named):
            model = models.setdefault(place, player.with_random_failures()) if isinstance(player, LlmPlayer) else player
            found.append(_graded(model, game, asked, same, played, seed, progress))
    return found


def _table(game: str | Game) -> Game:
    """Return the game as the suite plays it."""
    table = make_game(game)
    others = list_solved_settings(table) if isinstance(game, str) else None
    ready = next(source for source in sources(table) if source.ready())
    return table if others is None or ready.name != sources(table)[-1].name else make_game(game, **others)


def situations_of(game: Game, asked: Valuer, number: int, seed: int = 0) -> SuiteSituations:
    """Return situations, each from a game of its own, in which it matters what is played.

    Raises ParameterError if there are too few in many games.
    """
    scripted = opponent(game, game.spec.baseline)
    kept: list[Any] = []
    for episode in range(20 * number):
        if len(kept) == number:
            break
        generator = np.random.default_rng(named_seed("situation", seed, game.name, episode))
        state = game.new_game(named_seed("situations", seed), episode)[0]
        stray = _Stray(game, scripted, episode, generator)
        at = int(generator.integers(LONGEST))
        seen = [one.copy() for one in walk(game, state, stray, at + 1) if not one["over"] and _begins(game, one)]
        one = seen[at % len(seen)]
        if game.legal(one).sum() > 1:
            kept.append(one)
    states = _rows(game, kept)
    values = assess(asked, states)
    choice = np.isin(values.judge(values.first).stakes, (Stake.CHOICE, Stake.OBVIOUS))
    if choice.sum() < 2:
        raise ParameterError(f"{len(choice)} situations of {game!r} hold {choice.sum()} choices: give more situations")
    states = states[choice]
    values = Assessment(asked, *(one[choice] for one in values[1:]))
    best = np.nanmax(values.values, axis=1)
    return SuiteSituations(states, values, float((best - np.nanmean(values.values, axis=1)).mean()))


class _Stray:
    """Plays every seat of a game as a scripted agent does, but for some random moves."""

    def __init__(self, game: Game, scripted: Player, seed: int, generator: np.random.Generator) -> None:
        self._game, self._generator = game, generator
        self._acts = [sit_down(scripted, game, seat, seed) for seat in range(game.players)]

    def __call__(self, state: Any, time: int) -> int:
        if self._generator.random() < STRAY:
            return int(self._generator.choice(np.flatnonzero(self._game.legal(state))))
        seat = int(state["player"])
        return int(self._acts[seat](Turn(self._game, state, seat)))


def _begins(game: Game, state: Any) -> bool:
    """Return whether a decision begins: nothing of an order is played yet."""
    return bool(decision_start(game, state, int(state["player"])).tobytes() == state.tobytes())


def _rows(game: Game, records: Sequence[Any]) -> np.ndarray:
    states = game.new_states(len(records))
    for row, record in enumerate(records):
        states[row] = record
    return states


def _estimate(values: np.ndarray) -> Estimate:
    half = Z_95 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.inf
    return Estimate(float(values.mean()) if len(values) else np.nan, float(half), len(values))


def _graded(
    player: Player, game: Game, asked: Valuer, same: SuiteSituations, games: int, seed: int, progress: Progress | None
) -> SuiteGrade:
    """Return the grade of one player in one game."""
    before, states = player.usage, same.states
    table = Opponents(game, states)
    for row, state in enumerate(states):
        table.sit(row, int(state["key"]), dict.fromkeys(range(game.players), player))
    actions, _ = table.answers(np.arange(len(states)), np.full(len(states), -1))
    known = player.has_answered(game, states)
    regret = _estimate(same.values.judge(actions).costs[known])
    others = [agent(game, game.spec.baseline)] if game.players > 1 else []
    found = None
    if asked.kind != "rollouts":
        found = grade(player, game, others, games, seed, asked, progress=progress)._replace(usage=None)
    result, adjusted = _results(game, player, others, games, seed)
    after = player.usage
    return SuiteGrade(
        player.name,
        game.name,
        f"{asked.name} ({asked.sure})",
        unit_title(asked.unit),
        100 * (1 - regret.mean / same.random_regret) if same.random_regret > 0 else 100.0,
        regret,
        same.random_regret,
        float(1 - known.mean()),
        found,
        result,
        adjusted,
        None if before is None or after is None else Usage(*map(sub, after, before)),
    )


def _results(
    game: Game, player: Player, others: Sequence[Player], games: int, seed: int
) -> tuple[Estimate, Estimate | None]:
    """Return the mean result of the player in the games of `grade`, and the same less luck.

    The games are played again, which asks a language model nothing that it has not answered in them.
    """
    numbers = np.arange(games)
    own, moves, results = numbers % game.players, list[list[int]](), np.zeros(games)
    for number, seat in enumerate(own.tolist()):
        seated = [
            player if place == seat else others[(place - seat - 1) % game.players % len(others)]
            for place in range(game.players)
        ]
        referee = Referee(game, game.new_game(seed, number), seated)
        state = referee.play()
        moves.append(referee.actions)
        if game.players > 1:
            results[number] = (1 + game.first_places(state)[seat] * (game.players - 1)) / game.players
        else:
            results[number] = game.returns(state)[0]
    try:
        seats = np.zeros((games, game.players), np.int64)
        luck = luck_of(game, [None], seats, seed, numbers.tolist(), moves)[numbers, own]
    except ParameterError:  # the game has no meter for these players
        return _estimate(results), None
    return _estimate(results), _estimate(results - luck)


def suite_table(grades: Sequence[SuiteGrade]) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of grades, in their order."""
    titles = ["game", "agent", "score", "regret", "+-", "random", "unreadable", "illegal", "games: regret", "+-"]
    titles += ["result", "+-", "luck-adjusted", "+-", "tokens", "unit"]
    rows = []
    for one in grades:
        scale, digits = (100, 2) if one.unit == "%" else (1, 3)
        adjusted = one.adjusted
        row = [one.game, one.name, f"{one.score:.0f}"]
        row += [f"{scale * value:.{digits}f}" for value in (one.regret.mean, one.regret.half, one.random_regret)]
        row += [f"{one.unreadable:.1%}", f"{one.illegal:.1%}"]
        rate = None if one.grade is None else one.grade.error_rate
        row += ["", ""] if rate is None else [f"{scale * value:.{digits}f}" for value in (rate.mean, rate.half)]
        row += [f"{value:.3f}" for value in (one.result.mean, one.result.half)]
        row += ["", ""] if adjusted is None else [f"{adjusted.mean:.3f}", f"{adjusted.half:.3f}"]
        used = "" if one.usage is None else f"{one.usage.prompt_tokens + one.usage.completion_tokens:,}"
        rows.append([*row, used, one.unit])
    return titles, rows


def suite_facts(grades: Sequence[SuiteGrade], seed: int) -> dict[str, Any]:
    """Return grades as plain values for JSON."""
    return {"kind": "dicegym model suite", "version": VERSION, "seed": seed, "grades": [_plain(one) for one in grades]}


def _plain(value: Any) -> Any:
    if isinstance(value, SuiteGrade):
        shares = {"unreadable": value.unreadable, "illegal": value.illegal}
        return {name: _plain(one) for name, one in value._asdict().items()} | shares
    if hasattr(value, "_asdict"):
        return {name: _plain(one) for name, one in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
