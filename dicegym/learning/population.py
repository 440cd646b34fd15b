"""Fields of agents as populations: everybody against copies of everybody, and who lasts if whoever earns more spreads.

At tables of n players it makes a difference how many of a kind sit there: an agent may do well alone among copies of
another one and badly where that one is alone among its copies. So every two kinds meet in every number, from one of
the first and n - 1 of the second to the other way round. Of that follow Alpha-Rank's shares
(`dicegym.arena.ratings.fixation`), for two players Nash averaging (`dicegym.arena.ratings.nash`), and who of the field
does best against copies of an agent, which is the least by which it can be exploited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.executors import Executors
from dicegym.arena.matrix import Matrix
from dicegym.arena.ratings import fixation
from dicegym.arena.ratings.nash import nash_average
from dicegym.arena.report import Report, percent
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, finite_number, whole_number
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.games import game as make_game
from dicegym.games.parts import Z_95, solver
from dicegym.learning.evaluate import FRESH_SEED, Score, evaluate
from dicegym.players import twins
from dicegym.players.roster import agent, agent_name

RESAMPLES = 1_000
"""How often the games are imagined to have come out otherwise, for intervals of what follows of them."""


class AgentStanding(NamedTuple):
    """How an agent stands in a field."""

    place: int
    """By ``share``, 1 for the most; equal shares, to 6 digits, share a place."""
    name: str
    share: float
    """The part of a population that it holds in the long run, by Alpha-Rank: 0 .. 1."""
    low: float
    """Of ``share``, as far as games are luck: 95 of 100 outcomes of as many games lie between."""
    high: float
    against: str
    """Who does best against copies of it."""
    lost: float
    """The share of first places that that one takes, alone at a table filled with copies."""
    nash: float | None = None
    """Of two players: how often somebody would send it who must not be beaten."""
    skill: float | None = None
    """Of two players: the share of games that it wins against what that one sends; 0.5 for all who are sent."""


@dataclass(frozen=True)
class Population:
    """Every two of a field at tables of both.

    Attributes:
        game: what they played.
        names: the field.
        scores: by (a, b, k): what one of agent number a takes where k of its kind sit, at most half, and else of b's.
        seed: of the games.
    """

    game: Game
    names: tuple[str, ...]
    scores: Mapping[tuple[int, int, int], Score]
    seed: int = FRESH_SEED

    def rates(self, values: Sequence[float] | None = None) -> np.ndarray:
        """Return the shares of first places, float64[n, n, players - 1]; see `fixation.payoffs_of`.

        ``values`` stand for those of ``scores``, in that order, if they are given.
        """
        n, players = len(self.names), self.game.players
        found = np.zeros((n, n, players - 1))
        given = [score.value for score in self.scores.values()] if values is None else values
        for (a, b, k), value in zip(self.scores, given, strict=True):
            share = min(max(0.0, value), 1 / k)  # k of them share a place, though luck may have it otherwise
            if a < b:
                found[a, b, k - 1] = share
            else:
                found[b, a, players - k - 1] = (1 - k * share) / (players - k)
        return found

    def alone(self, a: int, b: int) -> Score:
        """Return what one of kind a takes at a table filled with b."""
        if (a, b, 1) in self.scores:
            return self.scores[a, b, 1]
        other = self.scores[b, a, 1]  # of two players
        value, low, high = 1 - other.value, 1 - other.high, 1 - other.low
        return other._replace(opponent=self.names[b], value=value, low=low, high=high)

    def shares(self, alpha: float | None = fixation.ALPHA, population: int = fixation.POPULATION) -> np.ndarray:
        """Return the part of a population that each agent holds in the long run: float64[n]; see `fixation.fixation`.

        Raises ParameterError if ``alpha`` or ``population`` make no sense.
        """
        check(alpha, population, self.game.players)
        return fixation.lasting(fixation.payoffs_of(self.rates()), alpha, population)

    def intervals(
        self,
        alpha: float | None = fixation.ALPHA,
        population: int = fixation.POPULATION,
        resamples: int = RESAMPLES,
    ) -> np.ndarray:
        """Return what those parts may be as far as games are luck: float64[2, n], the lower and the upper ends.

        Each result is drawn anew around what it was (parametric bootstrap), and shares follow from all that was drawn.
        """
        check(alpha, population, self.game.players)
        whole_number("resamples", resamples, 1, 1 << 20, "how often results are drawn anew")
        scores = [*self.scores.values()]
        spread = np.array([(score.high - score.low) / (2 * Z_95) for score in scores])
        if not spread.any():
            return np.array([self.shares(alpha, population)] * 2)
        drawn = np.random.default_rng(self.seed).normal(
            [score.value for score in scores], spread, (resamples, len(scores))
        )
        found = [
            fixation.lasting(fixation.payoffs_of(self.rates(values)), alpha, population) for values in drawn.tolist()
        ]
        ends: np.ndarray = np.percentile(found, [2.5, 97.5], axis=0)
        return ends

    def standings(
        self,
        alpha: float | None = fixation.ALPHA,
        population: int = fixation.POPULATION,
        resamples: int = RESAMPLES,
    ) -> tuple[AgentStanding, ...]:
        """Return all agents, who holds most first, equal ones by name.

        Args:
            alpha: how strongly who earns more is preferred; None: infinitely.
            population: how many there are.
            resamples: of `intervals`.

        Raises:
            ParameterError: one of them makes no sense.
            DependencyError: SciPy is missing.
        """
        shares = np.round(self.shares(alpha, population), 6)
        low, high = np.round(self.intervals(alpha, population, resamples), 6)
        nash, skill = self._nash() if self.game.players == 2 else (None, None)
        rows = []
        for one, name in enumerate(self.names):
            lost, best = max((self._one(other, one), other) for other in range(len(self.names)) if other != one)
            rows.append(
                AgentStanding(
                    1 + int((shares > shares[one]).sum()),
                    name,
                    float(shares[one]),
                    float(low[one]),
                    float(high[one]),
                    self.names[best],
                    lost,
                    None if nash is None else float(nash[one]),
                    None if skill is None else float(skill[one]),
                )
            )
        return tuple(sorted(rows, key=lambda row: (row.place, row.name)))

    def _nash(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the equilibrium of two who each send an agent, and what each wins against it."""
        won = fixation.payoffs_of(self.rates())[:, :, 1]
        np.fill_diagonal(won, 0.5)
        mixture = np.round(nash_average(won), 6)
        return mixture, won @ mixture / mixture.sum()

    def report(self, standings: Sequence[AgentStanding]) -> Report:
        """Return all of it, to be shown."""
        duel, even = self.game.players == 2, 1 / self.game.players
        titles = ["place", "agent", "Alpha-Rank", "95 % interval", "hardest for it", "its rate"]
        titles += ["Nash", "against that"] if duel else []
        rows = []
        games = max(score.games for score in self.scores.values())
        draws = any(score.known_by == "one draw" for score in self.scores.values())
        played = f"{games:,} games of each table" if games else "one draw of who draws" if draws else "exact"
        for one in standings:
            interval = _between(one.low, one.high) if games else "one draw" if draws else "exact"
            row = [str(one.place), one.name, f"{one.share:.4f}", interval, one.against, f"{one.lost:.4f}"]
            nash = [f"{one.nash:.4f}", f"{one.skill:.4f}"] if one.nash is not None and one.skill is not None else []
            rows.append(row + nash)
        order = [self.names.index(one.name) for one in standings]
        names = [self.names[one] for one in order]

        def cells(of: Callable[[int, int], float]) -> list[list[str]]:
            return [["-" if a == b else percent(of(a, b)) for b in order] for a in order]

        among = f"{percent(even)} among equals"
        tables: list[Any] = [("Who lasts if whoever earns more spreads", titles, rows)]
        if duel:
            tables.append(Matrix(f"Games won by the row against the column ({among})", names, cells(self._one)))
        else:
            others = self.game.players - 1
            heading = f"First places of one of the row among {others} of the column ({among})"
            tables.append(Matrix(heading, names, cells(self._one)))
            heading = f"First places of {others} of the row together against one of the column ({percent(1 - even)})"
            tables.append(Matrix(heading, names, cells(lambda a, b: 1 - self._one(b, a))))
        return Report(f"{self.game.spec.title}, {self.game.players} players: {played}", tables)

    def _one(self, a: int, b: int) -> float:
        return self.alone(a, b).value

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each table that was played, as plain values."""
        for (a, b, k), score in self.scores.items():
            yield {
                "agent": self.names[a],
                "seats": k,
                "other": self.names[b],
                "other_seats": self.game.players - k,
                "share": score.value,
                "low": score.low,
                "high": score.high,
                "games": score.games,
            }


def _between(low: float, high: float) -> str:
    return f"{low:.4f} - {high:.4f}"


def check(alpha: float | None, population: int, players: int) -> None:
    """Raise ParameterError unless a population of that many can be drawn from and ``alpha`` is above 0, or None."""
    whole_number("population", population, max(2, players), 10_000, "the number of a population")
    if alpha is not None:
        finite_number("alpha", alpha, "how strongly who earns more is preferred (None: infinitely)", above=0)


def measure(
    game: Game | str,
    agents: Sequence[Any],
    games: int = 1_000,
    exact: bool = True,
    seed: int = FRESH_SEED,
    progress: Callable[[int, int, str], None] | None = None,
    trust: bool = False,
    executors: Executors | None = None,
) -> Population:
    """Let every two of a field meet at tables of both, in every number.

    Args:
        game: the game, or its name.
        agents: two or more; each as for `dicegym.agent`.
        games: of each table; each kind sits everywhere.
        exact: False: play even if there are exact values.
        seed: which games, as for `dicegym.learning.evaluate.evaluate`.
        progress: told (games played, of how many, who plays).
        trust: as for `dicegym.agent`.
        executors: who plays; see `evaluate`.

    Raises:
        ParameterError: fewer than two agents, two of one name, or a game that is played alone.
        UnknownNameError, AgentError, ModelError: one of them cannot be found or loaded, or fails.
    """
    game = make_game(game)
    games = whole_number("games", games, 1, MOST, "the number of games of each table")
    if game.players < 2:
        raise ParameterError(f"{game!r} is played alone, where nobody spreads at the cost of others: give players=2")
    if len(agents) < 2:
        raise ParameterError(f"{len(agents)} agents are no population: name two or more")
    short = [one_line(agent_name(game, one)) for one in agents]
    names = tuple(
        one_line(one) if short.count(name) > 1 and isinstance(one, str | Path) else name
        for name, one in zip(short, agents, strict=True)
    )
    if twice := [name for name in names if names.count(name) > 1]:
        raise ParameterError(f"two agents are called {twice[0]!r}: name each once, and files by different paths")
    find = agent if solver(game) else twins.opponent
    players = [find(game, one, trust=trust) for one in agents] if executors is None else list(agents)
    told = progress or (lambda done, total, text: None)
    # Of the kind that has fewer seats: what others take follows, and surer than from one of many.
    tables = [(a, b, k) for k in range(1, game.players // 2 + 1) for a, b in permutations(range(len(names)), 2)]
    tables = [(a, b, k) for a, b, k in tables if a < b or 2 * k < game.players]
    scores = {}
    for number, (a, b, k) in enumerate(tables):

        def here(done: int, total: int, text: str, number: int = number, what: str = f"{names[a]}, {names[b]}") -> None:
            told(number * games + done, len(tables) * games, what)

        table = [players[a]] * (k - 1) + [players[b]] * (game.players - k)
        score = evaluate(game, players[a], table, games, exact, seed, progress=here, executors=executors)
        scores[a, b, k] = score
    return Population(game, names, scores, seed)
