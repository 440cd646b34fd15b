"""A round robin ranked without luck: by the matches that exact win rates let each entry expect to win."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.report import Matrix
from dicegym.arena.results import Columns, Presentation, Standing, present
from dicegym.arena.significance import list_names
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import ParameterError
from dicegym.games.parts import (
    DUEL,
    EXAMINATION,
    list_solved_settings,
    need,
    part,
    quick_solver_of,
    solver,
    tabulate_player,
)
from dicegym.players.roster import agent
from dicegym.sandbox.heartbeat import LOADING, Reading
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.jobs import Context, Entry, Failure, Sent

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


def known_tables(director: Director) -> dict[str, np.ndarray]:
    """Return the tables of `tables_of`, if exact values are known and these are asked for, or cost nothing to have."""
    if solver(director.game) is None or not (director.options.exact or asks_everything(director.game)):
        return {}
    return tables_of(director)


def baseline_rates(game: Game, tables: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the exact win rate of every strategy against the game's baseline, by name."""
    values = solver(game)
    if values is None or not tables:
        return {}
    baseline = values.tabulate(agent(game, game.spec.baseline), game)
    with ThreadPoolExecutor(cores()) as pool:
        rates = pool.map(lambda table: values.win_rate(table, baseline, game), tables.values())
        return {name: round(rate, GRAIN) for name, rate in zip(tables, rates, strict=True)}


def win_rates(director: Director, tables: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the exact win rate of the row against the column in one game: float64[tables, tables]; 0.5 of equals."""
    director.expect(math.comb(len(tables), 2))
    step = lambda *_: director.count_step("exact win rates")  # noqa: E731  # called for each pair
    rates = need(director.game, DUEL).win_rate_matrix([*tables.values()], director.game, progress=step)
    np.fill_diagonal(rates, 0.5)
    return np.asarray(rates)


def chance_to_win_most(rate: float, games: int) -> float:
    """Return the chance to win more than half of ``games`` games each won with the chance ``rate``."""
    rate = min(1.0, max(0.0, rate))
    return math.fsum(
        math.comb(games, won) * rate**won * (1 - rate) ** (games - won) for won in range(games // 2 + 1, games + 1)
    )


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


def pairs_of(names: Sequence[str], rates: np.ndarray) -> tuple[dict[str, Any], ...]:
    """Return the exact value of each pair, as plain values: ``entries``, and the ``win_rate`` of the first, 0..1.

    A fair coin draws the first player.
    """
    pairs = combinations(range(len(names)), 2)
    return tuple({"entries": (names[a], names[b]), "win_rate": float(rates[a, b])} for a, b in pairs)


def rank_exactly(
    rows: Sequence[Standing], names: Sequence[str], rates: np.ndarray, games: int, times: int
) -> tuple[Standing, ...]:
    """Return the ranking by matches won on average, then the exact win rate against the baseline or all others.

    Each row has the figure ``exact``: ``wins``, matches that it wins on average; ``win_rate``, the mean of its exact
    win rates against all others.

    Args:
        rows: the ranking by the games.
        names: of the entries.
        rates: of `win_rates`, in their order.
        games: of a match.
        times: how many matches each pair plays.
    """
    exact: dict[str, dict[str, float]] = {}
    for number, name in enumerate(names):
        others = [rate for other, rate in enumerate(rates[number].tolist()) if other != number]
        wins = times * math.fsum(chance_to_win_most(rate, games) for rate in others)
        exact[name] = {"wins": round(wins, 9), "win_rate": round(math.fsum(others) / len(others), 12)}

    def merit(row: Standing) -> tuple[float, float]:
        own = exact[row.name]
        return own["wins"], round(own["win_rate"] if row["win_rate"] is None else row["win_rate"], 9)

    merits = {row.name: merit(row) for row in rows}
    ranked = sorted(rows, key=lambda row: (*(-one for one in merits[row.name]), row.name))
    return tuple(
        replace(
            row,
            place=1 + sum(other > merits[row.name] for other in merits.values()),
            figures={**row.figures, "exact": exact[row.name]},
        )
        for row in ranked
    )


def present_exactly(
    standings: Sequence[Standing],
    names: Sequence[str],
    rates: np.ndarray,
    matches: Sequence[MatchRow],
    heading: str,
) -> Presentation:
    """Return the exact ranking and the exact matrix; arguments as of `rank_exactly`."""
    columns: Columns = {
        "Exact wins": lambda row: f"{row['exact']['wins']:.2f}",
        "Win rate": lambda row: row["exact"]["win_rate"],
        **({"Wins": "wins"} if matches else {}),
    }
    order = [names.index(row.name) for row in standings]
    shown = rates[np.ix_(order, order)].tolist()
    cells = [["." if a == b else f"{100 * rate:.0f}" for b, rate in enumerate(row)] for a, row in enumerate(shown)]
    shades = [[None if a == b else round(2 * rate - 1, 2) for b, rate in enumerate(row)] for a, row in enumerate(shown)]
    title = "Exact win rates of the row against the column, in per cent"
    matrix = Matrix(title, [row.name for row in standings], cells, shades)
    words = ["'Exact wins': the expected number of matches won, by which entries are ranked.", ONE_DRAW]
    return present(standings, columns, [f"{heading}, ranked by exact win rates"], [matrix], words)
