"""A contest without luck: what its games come to on average, from the exact win rate of every pair.

A match of n games between two strategies whose win rate is known is n throws of one coin; so is known how likely each
takes it, how many matches an entry is expected to win, and, by drawing contests, how far
apart luck puts equals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.director import Director
from dicegym.arena.luck import CONFIDENCE, Places
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.games.parts import DUEL, EXAMINATION, Duel, Progress, need, part, quick_solver_of, tabulated
from dicegym.sandbox.heartbeat import LOADING, Reading
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.jobs import Context, Entry, Failure

CONTESTS = 10_000
"""Contests that are drawn to say what luck does."""
PATIENCE = 30
"""How many times as long as for a match an entry may take to be asked for its whole strategy."""


@dataclass(frozen=True)
class Tabulate:
    """Asking an entry for its whole strategy, as a job for a sandbox; see `dicegym.sandbox.jobs.Job`."""

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    quick: bool = False
    """Whether the table is None of an entry that may draw and would be asked too many questions."""

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome besides game, entry and limits; see `Job.facts`."""
        return {"kind": "strategy", "seed": self.seed, "quick": self.quick}

    def run(self, context: Context) -> dict[str, Any]:
        """Load the entry and ask it for everything."""
        heartbeat, (entry,) = context.heartbeat, self.entries
        heartbeat.note(LOADING, 0)
        (heartbeat.hand_over if context.apart(entry) else heartbeat.act)(0)
        seed = named_seed("check", self.seed, entry.name)
        player = context.load(entry, self.game, seed, lambda _: self.moment(heartbeat.read()), None)
        says_pure = getattr(player, "says_pure", False)  # whatever it remembers in a process that is kept
        if self.quick and not says_pure and quick_solver_of(self.game, player) is None:
            return {"table": None}
        values = need(self.game, DUEL)
        answers, draws = tabulated(values.tabulate, player, self.game)
        table = answers if isinstance(answers, np.ndarray) else values.tabulate(player, self.game)
        if isinstance(player, IsolatedPlayer):
            player.raise_if_gone()  # the rules may say what a failure costs, but this was no answer
        return {"table": table.tolist(), "dtype": str(table.dtype), "draws": draws}

    def without(self, failure: Failure) -> None:
        """Return None: who cannot be asked has no exact value."""

    def moment(self, reading: Reading) -> str:
        """Return when a failure was."""
        return "while it was asked for its whole strategy"


def asked_everything(game: Game) -> bool:
    """Return whether the contest's test puts every question to an entry, so that its answers are its strategy."""
    return part(game, EXAMINATION) is not None and game.spec.forfeit is None


def tables_of(director: Director) -> dict[str, np.ndarray]:
    """Return the strategy of every entry as a table that the game's exact values are computed from, by name.

    Where the contest's test asks for everything, its answers are the table. Whoever fails is struck.
    """
    game = director.game
    if asked_everything(game):
        answers = ((entry.name, director.checks[entry.name].answers) for entry in director.entries)
        return {name: table for name, table in answers if table is not None}
    limits = replace(director.limits, seconds=PATIENCE * director.limits.seconds)
    found: dict[str, np.ndarray] = {}
    for job, outcome in director.ask((Tabulate(game, (one,), director.seed) for one in director.entries), limits):
        name = job.entries[0].name
        if isinstance(outcome, Failure):
            director.struck[name] = outcome.reason
        else:
            found[name] = np.array(outcome["table"], np.dtype(outcome["dtype"]))
        director.told(f"asked {name} for its strategy")
    return {entry.name: found[entry.name] for entry in director.entries}


class Chances(NamedTuple):
    """How a contest goes on average, entries in the order of their names."""

    names: tuple[str, ...]
    rates: np.ndarray
    """float64[n, n]: exact win rate of the row against the column in one game; 0.5 against itself."""
    takes: np.ndarray
    """float64[n, n]: chance of the row to take its match with the column; 0 against itself."""
    times: int = 1
    """Matches that each pair plays."""

    @property
    def wins(self) -> np.ndarray:
        """Matches won on average: float64[n]. Rounded, so that equals are equal."""
        found: np.ndarray = np.round(self.times * self.takes.sum(axis=1), 9)
        return found

    @property
    def win_rates(self) -> np.ndarray:
        """Mean of the win rates against all others: float64[n]."""
        n = len(self.names)
        found: np.ndarray = np.round((self.rates.sum(axis=1) - 0.5) / max(1, n - 1), 12)
        return found


def chances(
    values: Duel, tables: Mapping[str, np.ndarray], game: Game, games: int, progress: Progress | None = None
) -> Chances:
    """Return how a contest between strategies goes in which each pair plays ``games`` games."""
    names = tuple(sorted(tables))
    rates = values.win_rate_matrix([tables[name] for name in names], game, progress=progress)
    takes = np.array([[_takes(rate, games) for rate in row] for row in rates.tolist()])
    np.fill_diagonal(takes, 0.0)
    np.fill_diagonal(rates, 0.5)
    return Chances(names, rates, takes)


def _takes(rate: float, games: int) -> float:
    """Return the chance to win more than half of ``games`` games of which each is won with the chance ``rate``."""
    rate = min(1.0, max(0.0, rate))
    return math.fsum(
        math.comb(games, won) * rate**won * (1 - rate) ** (games - won) for won in range(games // 2 + 1, games + 1)
    )


def drawn_places(found: Chances, ties: Iterable[float]) -> tuple[list[Places], list[float]]:
    """Draw `CONTESTS` contests; return where the middle 95 of 100 put each entry, and how many of them it wins.

    Matches won rank, and ``ties``, a number of each entry, where they are equal.
    """
    n = len(found.names)
    generator = np.random.default_rng(0)
    wins = np.zeros((n, CONTESTS))
    for a in range(n):
        for b in range(a):
            for _ in range(found.times):
                drawn = generator.random(CONTESTS)
                wins[a] += drawn < found.takes[a, b]
                wins[b] += drawn > 1 - found.takes[b, a]
    order = np.unique(np.asarray(list(ties)), return_inverse=True)[1]
    merit = wins.T * n + order
    places = np.stack([1 + n - np.searchsorted(np.sort(row), row, "right") for row in merit])
    outside = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(places, [outside, 100 - outside], axis=0, method="inverted_cdf").astype(int)
    first = places == 1
    shares = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return [Places(int(a), int(b)) for a, b in zip(low, high, strict=True)], [float(share) for share in shares]
