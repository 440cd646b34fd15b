"""A contest without luck: its results on average, from the exact win rate of every pair.

A match of n games between two strategies whose win rate is known is n throws of one coin; so is known how likely each
takes it, how many matches an entry is expected to win, and, by drawing contests, how far
apart luck puts equals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.report import Matrix
from dicegym.arena.results import Columns, Presentation, Standing, present
from dicegym.arena.significance import CONFIDENCE, Places, list_names
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import ParameterError
from dicegym.games.parts import (
    DUEL,
    EXAMINATION,
    Duel,
    Progress,
    list_solved_settings,
    need,
    part,
    quick_solver_of,
    solver,
    tabulate_player,
)
from dicegym.games.worth import first_place_shares
from dicegym.players.roster import agent
from dicegym.sandbox.heartbeat import LOADING, Reading
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.jobs import Context, Entry, Failure, Sent

CONTESTS = 10_000
"""Contests that are drawn to say what luck does."""
PATIENCE = 30
"""How many times as long as for a match an entry may take to be asked for its whole strategy."""
GRAIN = 12
"""Digits to which win rates are rounded, so that equal strategies tie although floats are added in another order."""
ONE_DRAW = "The rate of an entry that draws is that of one drawn table of its answers."
"""What win rates against the baseline and exact rankings are of: the contest asks each entry once."""


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
        answers, draws = tabulate_player(values.tabulate, player, self.game)
        table = answers if isinstance(answers, np.ndarray) else values.tabulate(player, self.game)
        if isinstance(player, IsolatedPlayer):
            player.raise_if_gone()  # the rules may say what a failure costs, but this was no answer
        return {"table": table.tolist(), "dtype": str(table.dtype), "draws": draws}

    def without(self, failure: Failure) -> None:
        """Return None: an entry that cannot be asked has no exact value."""

    def moment(self, reading: Reading) -> str:
        """Return when a failure was."""
        return "while it was asked for its whole strategy"


def asks_everything(game: Game) -> bool:
    """Return whether the contest's test puts every question to an entry, so that its answers are its strategy."""
    return part(game, EXAMINATION) is not None and game.spec.forfeit is None


def tables_of(director: Director) -> dict[str, np.ndarray]:
    """Return the strategy of every entry as a table that the game's exact values are computed from, by name.

    Where the contest's test asks for everything, its answers are the table. An entry that fails is disqualified.
    """
    game = director.game
    if asks_everything(game):
        answers = ((entry.name, director.checks[entry.name].answers) for entry in director.entries)
        return {
            name: table for name, table in answers if table is not None and table.size
        }  # a costly one was not asked
    limits = replace(director.limits, seconds=PATIENCE * director.limits.seconds)
    found: dict[str, np.ndarray] = {}
    for job, outcome in director.ask((Tabulate(game, (one,), director.seed) for one in director.entries), limits):
        name = job.entries[0].name
        if isinstance(outcome, Failure):
            director.struck[name] = outcome.reason
        else:
            found[name] = np.array(outcome["table"], np.dtype(outcome["dtype"]))
        director.count_step(f"asked {name} for its strategy")
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

    def of(self, names: Iterable[str]) -> Chances:
        """Return the same of some of the entries alone."""
        kept = [self.names.index(name) for name in names]
        names = tuple(self.names[number] for number in kept)
        return Chances(names, self.rates[np.ix_(kept, kept)], self.takes[np.ix_(kept, kept)], self.times)


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
    """Return the chance to win more than half of ``games`` games each won with the chance ``rate``."""
    rate = min(1.0, max(0.0, rate))
    return math.fsum(
        math.comb(games, won) * rate**won * (1 - rate) ** (games - won) for won in range(games // 2 + 1, games + 1)
    )


def draw_places(found: Chances, ties: Iterable[float]) -> tuple[list[Places], list[float]]:
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
    shares = first_place_shares(-places).mean(axis=0)
    return [Places(int(a), int(b)) for a, b in zip(low, high, strict=True)], [float(share) for share in shares]


class Exact:
    """What a round robin knows without playing: exact win rates, where the game has them.

    Entries are asked for their strategies here. An entry that fails is disqualified.

    Args:
        director: of the contest.
        games: of a match.
    """

    def __init__(self, director: Director, games: int) -> None:
        self._director, game = director, director.game
        self._values, ranks = solver(game), director.options.exact
        self._tables: dict[str, np.ndarray] = {}
        self._found: Chances | None = None
        if self._values is None:
            return
        asked = asks_everything(game)
        if ranks or asked:
            self._tables = tables_of(director)
        if ranks:
            director.expect(math.comb(len(self._tables), 2) + (0 if asked else len(self._tables)))
            found = chances(self._values, self._tables, game, games, lambda *_: director.count_step("exact win rates"))
            self._found = found._replace(times=director.options.seeds)

    @property
    def chances(self) -> Chances | None:
        """How the contest goes on average, without entries disqualified meanwhile; None unless ``exact`` is chosen."""
        struck = self._director.struck
        return self._found and self._found.of(name for name in self._found.names if name not in struck)

    def baseline_rates(self) -> dict[str, float]:
        """Return the exact win rate of every strategy that is known against the baseline, by name."""
        game, values = self._director.game, self._values
        if values is None or not self._tables:
            return {}
        baseline = values.tabulate(agent(game, game.spec.baseline), game)
        with ThreadPoolExecutor(cores()) as pool:
            rates = pool.map(lambda table: values.win_rate(table, baseline, game), self._tables.values())
            return {name: round(rate, GRAIN) for name, rate in zip(self._tables, rates, strict=True)}


def check_exact(game: Game, options: ContestOptions) -> None:
    """Raise ParameterError if entries are to be ranked by exact values that the game does not have."""
    if options.exact and options.less_luck:
        raise ParameterError("exact=True has no luck in it: leave out less_luck, or exact")
    if options.exact and solver(game) is None:
        settings = list_solved_settings(game) or {}
        known = " and ".join(f"{name}={value}" for name, value in settings.items())
        instead = f"; they are known with {known}" if settings.get("players", 2) == 2 and known else ""
        raise ParameterError(
            f"exact=True cannot be used, as {game!r} has no exact values{instead}: leave it out and play more games, "
            "such as games=1000"
        )


def check_askable(game: Game, entries: Sequence[Entry], options: ContestOptions) -> None:
    """Raise ParameterError if entries are to be ranked by exact values of which one costs too much to be asked for."""
    costly = [one.name for one in entries if isinstance(one.origin, Sent) and one.load(game, 0).costly]
    if options.exact and costly:
        raise ParameterError(
            f"exact=True cannot rank {list_names(costly)}, as it needs an answer to every situation of the game, and "
            "each of these costs money or seconds: leave it out, or that entry"
        )


def pairs_of(found: Chances) -> list[dict[str, Any]]:
    """Return the exact value of each pair, as plain values: ``entries``, and the ``win_rate`` of the first, 0..1.

    A fair coin draws the first player.
    """
    return [
        {"entries": (found.names[a], found.names[b]), "win_rate": float(found.rates[a, b])}
        for a, b in combinations(range(len(found.names)), 2)
    ]


def rank_exactly(rows: Sequence[Standing], found: Chances) -> tuple[Standing, ...]:
    """Return the ranking by matches won on average, then the exact win rate against the baseline or all others.

    Each row has the figure ``exact``: ``wins``, matches that it wins on average; ``win_rate``, the mean of its exact
    win rates against all others; ``places``, where 95 of 100 contests put it; ``first``, how many of them it wins,
    0..1, a shared first place shared out.
    """
    by_name = {row.name: row for row in rows}
    ties = [
        float(rate if by_name[name]["win_rate"] is None else by_name[name]["win_rate"])
        for name, rate in zip(found.names, found.win_rates, strict=True)
    ]
    places, first = draw_places(found, ties)
    merits = [(float(wins), round(tie, 9)) for wins, tie in zip(found.wins, ties, strict=True)]
    ranked: list[Standing] = []
    for number in sorted(range(len(merits)), key=lambda i: (-merits[i][0], -merits[i][1], found.names[i])):
        place = 1 + sum(merit > merits[number] for merit in merits)
        equals = [other for other, merit in enumerate(merits) if merit == merits[number]]
        exact = {
            "wins": float(found.wins[number]),
            "win_rate": float(found.win_rates[number]),
            "places": Places(min(places[other].best for other in equals), max(places[other].worst for other in equals)),
            "first": round(sum(first[other] for other in equals) / len(equals), 6),
        }
        row = by_name[found.names[number]]
        ranked.append(replace(row, place=place, figures={**row.figures, "exact": exact}))
    return tuple(ranked)


def present_exactly(
    standings: Sequence[Standing], found: Chances, matches: Sequence[MatchRow], heading: str
) -> Presentation:
    """Return the exact ranking and the exact matrix, and what luck did to the ``matches`` played."""
    games = {"Wins": "wins", "Came": "played_place"} if matches else {}
    columns: Columns = {
        "Exact wins": lambda row: f"{row['exact']['wins']:.2f}",
        "Win rate": lambda row: row["exact"]["win_rate"],
        **games,
        "Luck": lambda row: row["exact"]["places"],
        "First": lambda row: row["exact"]["first"],
    }
    names = [row.name for row in standings]
    rates = found.of(names).rates.tolist()
    cells = [["." if a == b else f"{100 * rate:.0f}" for b, rate in enumerate(row)] for a, row in enumerate(rates)]
    shades = [[None if a == b else round(2 * rate - 1, 2) for b, rate in enumerate(row)] for a, row in enumerate(rates)]
    matrix = Matrix("Exact win rates of the row against the column, in per cent", names, cells, shades)
    facts, words = [f"{heading}, ranked by exact win rates"], list(_words(standings, bool(matches)))
    return present(standings, columns, facts, [matrix], words)


def _words(standings: Sequence[Standing], played: bool) -> Iterator[str]:
    yield (
        "'Exact wins': the expected number of matches won, by which entries are ranked. 'Luck': where 95 of "
        "100 such contests put an entry; 'First': how many of them it wins."
    )
    best = [row.name for row in standings if row.place == 1]
    came = [row.name for row in standings if row["played_place"] == 1]
    strongest = f"{best[0]} is the strongest, and comes"
    if len(best) > 1:
        strongest = f"{list_names(best)} are equally strong, and one of them comes"
    yield ONE_DRAW
    chance = sum(row["exact"]["first"] for row in standings if row.place == 1)
    yield f"{strongest} first in {100 * chance:.0f} of 100 contests."
    if came and set(came) != set(best):
        yield f"Here luck put {list_names(came)} first."
    if played:
        moved = sum(row["played_place"] != row.place for row in standings)
        yield f"Luck moved {moved} of {len(standings)} entries away from the place that they deserve."
