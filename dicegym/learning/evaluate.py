"""How good a player is: its exact win rate where the game has exact values, else games with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.envs.opponents import Opponents
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.games import game as make_game
from dicegym.games.parts import Z_95, solitaire, solver
from dicegym.play.player import Player
from dicegym.players import twins
from dicegym.players.roster import agent

EVALUATION_SEED = 1 << 63
"""Evaluations play games of seeds from here on. A training's seeds are below 2**32 plus its number of games, so it
never plays one of them: a game's key is mixed from its seed (`dicegym.engine.dice.game_key`)."""
CURVE_SEED, CARD_SEED, LEAGUE_SEED, FRESH_SEED = range(4)
"""What the seeds of evaluations are for: the curve of a training, by which its best model is chosen; the card of a
model; games within a league, by which opponents are chosen; and, from the last on, whatever nobody has looked at."""
AT_ONCE = 1000
"""Games of an evaluation that are played side by side."""


class Score(NamedTuple):
    """A player's result against an opponent."""

    measure: str
    """What ``value`` is, such as "exact win rate"."""
    opponent: str
    value: float
    """Win rate in 0..1 (a shared first place is shared out), or the mean return of a player alone."""
    low: float
    """Lower end of the 95 % interval; ``value`` itself if exact."""
    high: float
    games: int
    """Games played; 0 if exact."""

    def __str__(self) -> str:
        """Return the score in words."""
        interval = f" [{self.low:.4f}, {self.high:.4f}], {self.games} games" if self.games else ""
        return f"{self.value:.4f} {self.measure} against {self.opponent}{interval}"

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain values."""
        return self._asdict()

    @classmethod
    def from_json(cls, said: Any) -> Score:
        """Return what `to_json` told of. Raises ParameterError if that is damaged."""
        kinds = {"measure": str, "opponent": str, "games": int}
        try:
            values = {name: said[name] for name in cls._fields}
        except (TypeError, LookupError):
            values = {}
        if not values or not all(isinstance(one, kinds.get(name, int | float)) for name, one in values.items()):
            raise ParameterError(f"{one_line(said, 100)} is no score: a training writes them, and nobody else")
        return cls(**values)


def rivals_of(game: Game, opponent: Any, trust: bool = False) -> list[Player]:
    """Return the players that ``opponent``, as for `evaluate`, stands for.

    Games are played by compiled twins where there are some; exact values ask the file, as a twin hides what it draws.
    ``trust`` is as for `dicegym.agent`.

    Raises:
        ParameterError: a list of opponents is empty, or has more than the table seats.
        UnknownNameError, AgentError, ModelError: one of them cannot be found or loaded.
    """
    specs = opponent if isinstance(opponent, list | tuple) else [opponent]
    if not specs:
        raise ParameterError("an empty list of opponents has nobody to play: name at least one, or leave the list out")
    if len(specs) >= game.players > 1:
        raise ParameterError(
            f"{len(specs)} opponents cannot share a table with the one who is measured: {game!r} seats "
            f"{game.players - 1} of them; give fewer, players={len(specs) + 1} if the game allows it, or measure "
            "against one after the other"
        )
    find = agent if solver(game) else twins.opponent
    return [find(game, game.spec.baseline if spec is None else spec, trust=trust) for spec in specs]


def evaluate(
    game: Game | str,
    player: Any,
    opponent: Any = None,
    games: int = 10_000,
    exact: bool = True,
    seed: int = CURVE_SEED,
    less_luck: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    trust: bool = False,
) -> Score:
    """Measure ``player`` against ``opponent`` (default: the game's baseline) from every seat in turn.

    Args:
        game: the game, or its name.
        player: an agent, as for `dicegym.agent`: a name, a file, a `Player`, a model in memory or a function.
        opponent: another one, in all other seats; or a list of agents, who share the table and move on by a seat
            whenever the player has sat in each.
        games: how many games are played where no exact value exists.
        exact: False: play even if there is an exact value.
        seed: which games; never one that training plays.
        progress: called with (games played, of how many, against whom) while games are played.
        trust: whether models' files may run what their authors wrote; as for `dicegym.agent`.
        less_luck: of a player alone, measure what its choices cost instead of what it scores, where the game's exact
            values tell (`dicegym.games.parts.Solitaire.mean_return`): the same mean with a far smaller interval.

    Returns:
        The exact value, or the share of games won with Wilson's 95 % interval. Where nobody else plays, the mean
        return with the normal 95 % interval.

    Raises:
        AgentError, ModelError, UnknownNameError: a player cannot be loaded or fails.
        ParameterError: ``games`` is less than 1, ``seed`` outside 0 to 2**63 - 1, or more opponents share the table
            than it seats.
    """
    games = whole_number("games", games, 1, 1 << 40, "the number of games of an evaluation")
    seed = whole_number("seed", seed, 0, EVALUATION_SEED - 1, "the seed of an evaluation")
    game = make_game(game)
    player = agent(game, player, trust=trust)
    rivals = rivals_of(game, opponent, trust)
    exact_values = solver(game) if exact and len(rivals) == 1 else None
    if exact_values is not None:
        value = exact_values.win_rate(player, rivals[0], game)
        return Score("exact win rate", rivals[0].name, value, value, value, 0)
    if less_luck and (alone := solitaire(game)) is not None:
        mean, half, games = alone.mean_return(player, game, games, EVALUATION_SEED + seed)
        return Score("mean return less luck", "nobody", mean, mean - half, mean + half, games)
    return _sampled(game, player, rivals, games, seed, progress or (lambda done, total, text: None))


def overall(scores: Sequence[Score], by: str = "mean") -> Score:
    """Return one score for several opponents: ``by`` their ``"mean"``, the ``"worst"``, or that of the one so named.

    The mean's interval is Zou and Donner's (Statistics in Medicine 27, 2008): it stays within 0 and 1 as its parts do.

    Raises:
        UnknownNameError: ``by`` is nothing of that.
    """
    named = {score.opponent: score for score in scores}
    if by not in ("mean", "worst", *named):
        raise unknown_name("way to sum up scores", by, ["mean", "worst", *named])
    if len(scores) == 1:
        return scores[0]
    if by in named:
        return named[by]
    if by == "worst":
        return min(scores, key=lambda score: score.value)
    n = len(scores)
    mean = sum(score.value for score in scores) / n
    below = sum((score.value - score.low) ** 2 for score in scores) ** 0.5 / n
    above = sum((score.high - score.value) ** 2 for score in scores) ** 0.5 / n
    games = sum(score.games for score in scores)
    return Score("mean win rate", f"{n} opponents", mean, mean - below, mean + above, games)


def _sampled(
    game: Game,
    player: Player,
    rivals: Sequence[Player],
    games: int,
    seed: int,
    progress: Callable[[int, int, str], None],
) -> Score:
    """Play ``games`` games, the player's seat alternating."""
    against = ", ".join(rival.name for rival in rivals) if game.players > 1 else "nobody"
    blocks = []
    for first in range(0, games, AT_ONCE):
        progress(first, games, f"against {against}")
        blocks.append(_results(game, player, rivals, first, min(AT_ONCE, games - first), EVALUATION_SEED + seed))
    progress(games, games, f"against {against}")
    results = np.concatenate(blocks)
    mean = float(results.mean())
    if game.players == 1:
        half = Z_95 * float(results.std()) / games**0.5
        return Score("mean return", against, mean, mean - half, mean + half, games)
    low, high = wilson(mean, games)
    return Score("win rate", against, mean, low, high, games)


def _results(game: Game, player: Player, rivals: Sequence[Player], first: int, n: int, seed: int) -> np.ndarray:
    """Play games number ``first`` to ``first + n - 1`` of ``seed`` side by side; return what the player got (float[n]).

    That is its share of the first place, a shared one shared out; of a player alone it is its return.
    """
    rows = np.arange(n)
    states = game.new_states(n)
    numbers = np.arange(first, first + n, dtype=np.uint64)
    loops.begin_rows(states, rows, game.blank, np.full(n, seed, np.uint64), numbers)
    table = Opponents(game, states)
    rounds, seats = np.divmod(first + rows, game.players)
    for row, (time, seat) in enumerate(zip(rounds.tolist(), seats.tolist(), strict=True)):
        seated = {
            (seat + place) % game.players: rivals[(time + place - 1) % len(rivals)] for place in range(1, game.players)
        }
        table.sit(row, int(states["key"][row]), seated | {seat: player})
    table.play_out()
    returns = np.array([game.returns(state) for state in states], np.float64)
    if game.players == 1:
        alone: np.ndarray = returns[:, 0]
        return alone
    first_place = returns == returns.max(axis=1, keepdims=True)
    shares: np.ndarray = first_place[rows, seats] / first_place.sum(axis=1)
    return shares


def wilson(rate: float, n: int, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval (Wilson 1927) of a share ``rate`` of ``n`` trials: 95 %, or ``z`` deviations."""
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n * n)))
    return max(0.0, centre - half), min(1.0, centre + half)
