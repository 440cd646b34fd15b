"""Rank a round robin by exact win rates: by the expected number of matches won."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director
from dicegym.arena.report import Matrix
from dicegym.arena.results import Columns, Presentation, Standing, ranking, ranking_table
from dicegym.arena.tabulation import PATIENCE, Tabulate
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import ParameterError
from dicegym.games.parts import DUEL, find_examination, list_solved_settings, need, solver
from dicegym.players.roster import agent
from dicegym.sandbox.jobs import Entry, Failure, Sent

GRAIN = 12
"""Digits of rounded win rates, so that equal strategies tie whatever the order of additions."""
ONE_DRAW = "An entry that samples its answers has the win rate of one sampled table of them."


def check_exact(game: Game, options: ContestOptions, entries: Sequence[Entry]) -> None:
    """Raise ParameterError if ``exact`` is chosen, and the game has no exact values or an entry is costly to ask."""
    if not options.exact:
        return
    if options.less_luck:
        raise ParameterError(
            "exact=True cannot be used with less_luck=True, as exact win rates have no luck: leave one out"
        )
    if solver(game) is None:
        settings = list_solved_settings(game) or {}
        known = " and ".join(f"{name}={value}" for name, value in settings.items())
        instead = f"; they are known with {known}" if settings.get("players", 2) == 2 and known else ""
        raise ParameterError(
            f"exact=True cannot be used, as {game!r} has no exact values{instead}: leave it out and play more games, "
            "such as games=1000"
        )
    costly = [one.name for one in entries if isinstance(one.origin, Sent) and one.load(game, 0).costly]
    if costly:
        raise ParameterError(
            f"exact=True cannot rank {', '.join(costly)}, as it needs an answer to every situation of the game, and "
            "each of these costs money or seconds: leave it out, or that entry"
        )


def find_tables(director: Director) -> dict[str, np.ndarray]:
    """Return the strategies of entries as tables for exact values, by name; empty if the game has no exact values.

    Where the contest's test asks for all answers, they are the table. Otherwise entries are asked only if ``exact`` is
    chosen, and those that fail are disqualified.
    """
    game = director.game
    if solver(game) is None:
        return {}
    if find_examination(game) is not None and game.spec.forfeit is None:
        answers = ((entry.name, director.checks[entry.name].answers) for entry in director.entries)
        return {name: table for name, table in answers if table is not None and table.size}  # a costly one has none
    limits = replace(director.limits, seconds=PATIENCE * director.limits.seconds)
    jobs = [Tabulate(game, (entry,), director.seed) for entry in director.entries] if director.options.exact else []
    found: dict[str, np.ndarray] = {}
    for job, outcome in director.ask(jobs, limits):
        name = job.entries[0].name
        if isinstance(outcome, Failure):
            director.failures[name] = outcome.reason
        else:
            found[name] = np.array(outcome["table"], np.dtype(outcome["dtype"]))
        director.count_step(f"asked {name} for its strategy")
    return dict(sorted(found.items()))


def list_remarks(director: Director, tables: Mapping[str, np.ndarray]) -> list[str]:
    """Return `ONE_DRAW` if an entry with a table may sample its answers, because nothing says that it is pure.

    The director has replaced programs in other processes that say ``PURE`` by players with tables.
    """

    def may_sample(entry: Entry) -> bool:
        player = entry.load(director.game, 0) if entry.trusted else None
        return player is None or not getattr(player, "says_pure", player.pure)

    return [ONE_DRAW] if any(may_sample(entry) for entry in director.entries if entry.name in tables) else []


def baseline_rates(game: Game, tables: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the exact win rate of each strategy against the game's baseline, by name."""
    values = solver(game)
    if values is None or not tables:
        return {}
    baseline = values.tabulate(agent(game, game.spec.baseline), game)
    with ThreadPoolExecutor(cores()) as pool:
        rates = pool.map(lambda table: values.win_rate(table, baseline, game), tables.values())
        return {name: round(rate, GRAIN) for name, rate in zip(tables, rates, strict=True)}


def chance_to_win_most(rate: float, games: int) -> float:
    """Return the chance to win more than half of ``games``, each with the chance ``rate``."""
    if not 0 < rate < 1:  # rounding may pass the ends
        return float(rate > 0 < games)
    # In logarithms: the binomial coefficients of 1,100 games overflow a float.
    ways, win, lose = math.lgamma(games + 1), math.log(rate), math.log1p(-rate)
    chances = (
        math.exp(ways - math.lgamma(won + 1) - math.lgamma(games - won + 1) + won * win + (games - won) * lose)
        for won in range(games // 2 + 1, games + 1)
    )
    return min(1.0, math.fsum(chances))


def rank_exactly(
    director: Director,
    standings: Sequence[Standing],
    tables: Mapping[str, np.ndarray],
    games: int,
    heading: str,
    remarks: Sequence[str],
) -> tuple[tuple[Standing, ...], Presentation, list[dict[str, Any]]]:
    """Rank by the expected number of matches won, then by the exact win rate against the baseline.

    ``standings`` is the ranking by games, ``tables`` is from `find_tables`, ``games`` the number of games of a match.
    ``heading`` says what was played, ``remarks`` are on the exact values.

    Returns:
        The ranking, where the figure ``exact`` holds ``wins``, the expected number of matches won, and ``win_rate``,
        the mean of the exact win rates against all others; its presentation; and for each pair its ``entries`` and the
        ``win_rate`` of the first, 0..1, where a fair coin draws the first player.
    """
    names = sorted(row.name for row in standings)
    director.expect(math.comb(len(names), 2))
    rates = need(director.game, DUEL).win_rate_matrix(
        [tables[name] for name in names], director.game, progress=lambda *_: director.count_step("exact win rates")
    )
    merits, figures = {}, {row.name: dict(row.figures) for row in standings}
    for number, name in enumerate(names):
        others = [rate for other, rate in enumerate(rates[number].tolist()) if other != number]
        wins = director.options.seeds * math.fsum(chance_to_win_most(rate, games) for rate in others)
        own = {"wins": round(wins, 9), "win_rate": round(math.fsum(others) / len(others), GRAIN)}
        merits[name] = own["wins"], round(figures[name]["win_rate"], 9)
        figures[name]["exact"] = own
    ranked = ranking(merits, figures)
    order = [names.index(row.name) for row in ranked]
    cells = [["." if a == b else f"{100 * rates[a, b]:.0f}" for b in order] for a in order]
    shades = [[None if a == b else round(float(2 * rates[a, b] - 1), 2) for b in order] for a in order]
    title = "Exact win rates of the row against the column, in per cent"
    matrix = Matrix(title, [row.name for row in ranked], cells, shades)
    columns: Columns = {
        "Exact wins": lambda row: f"{row['exact']['wins']:.2f}",
        "Win rate": lambda row: row["exact"]["win_rate"],
        **({} if director.options.games == 0 else {"Wins": "wins"}),
    }
    words = ["'Exact wins' is the expected number of matches won, by which entries are ranked.", *remarks]
    shown = Presentation([f"{heading}, ranked by exact win rates"], [ranking_table(ranked, columns), matrix], words)
    pairs = itertools.combinations(range(len(names)), 2)
    return ranked, shown, [{"entries": (names[a], names[b]), "win_rate": float(rates[a, b])} for a, b in pairs]
