"""The round robin: all tables of entries play a match each, and the entry with most matches won comes first."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.settling import settle
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.results import (
    Columns,
    ContestResult,
    Presentation,
    Standing,
    ranking,
    ranking_table,
    tabulate_won_games,
)
from dicegym.columns import write_count
from dicegym.engine.threads import cores
from dicegym.games.parts import find_examination, solver
from dicegym.players.roster import agent

GRAIN = 12
"""Digits to which shares are rounded, so that equal strategies tie although floats are added in another order."""


def round_robin(director: Director) -> ContestResult:
    """Let every table of entries play, and rank them.

    A match's result depends on the contest's seed, its entries with their files and its number alone. Matches of
    disqualified entries do not count.

    Figures of a standing: ``wins`` and ``losses`` of matches; ``share`` of its games won, a shared first place shared
    out; ``win_rate`` against the baseline, exact, None where the contest's test does not ask for everything;
    ``less_luck``, its share less what was luck of it, None unless chosen. Details: ``games_per_match``, ``baseline``.
    """
    game, options = director.game, director.options
    length, baseline = options.games or game.spec.games_per_match, game.spec.baseline
    rates = baseline_rates(director)
    seated = itertools.combinations(director.entries, game.players)
    jobs = [Match(game, table, director.seed, length, number=i) for table in seated for i in range(options.seeds)]
    played = [one for one in settle(director, jobs) if director.struck.keys().isdisjoint(one.row.entries)]
    rows = [one.row for one in played]
    standings = _rank(director, rows, rates)
    fact = f"{write_count(len(rows), 'match')} of {write_count(length, 'game')}, seed {director.seed}"
    shown = present_games(standings, rows, fact, baseline)
    return director.result(standings, played, shown, games_per_match=length, baseline=baseline)


def baseline_rates(director: Director) -> dict[str, float]:
    """Return the exact win rate of every entry against the game's baseline, by name.

    Nothing is returned where the game has no exact values, or its test does not ask an entry for all its answers.
    """
    game, values = director.game, solver(director.game)
    if values is None or find_examination(game) is None:
        return {}
    answers = ((entry.name, director.checks[entry.name].answers) for entry in director.entries)
    tables = {name: table for name, table in answers if table is not None and table.size}  # a costly one was not asked
    baseline = values.tabulate(agent(game, game.spec.baseline), game)
    with ThreadPoolExecutor(cores()) as pool:
        rates = pool.map(lambda table: values.win_rate(table, baseline, game), tables.values())
        return {name: round(rate, GRAIN) for name, rate in zip(tables, rates, strict=True)}


def _rank(director: Director, matches: Sequence[MatchRow], rates: Mapping[str, float]) -> tuple[Standing, ...]:
    """Rank by matches won, then the exact win rate against the baseline or the share of games won; or less luck."""
    names = [entry.name for entry in director.entries]
    wins, losses, games, won = Counter[str](), Counter[str](), Counter[str](), dict.fromkeys(names, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.won, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            games[name] += match.games
            won[name] += share
    shares = {name: round(won[name] / max(1, games[name]), GRAIN) for name in names}
    left: dict[str, float] = {}
    merits: dict[str, Any] = {name: (wins[name], rates.get(name, shares[name])) for name in names}
    if director.luck is not None:
        left = {row.name: round(row.less_luck, GRAIN) for row in director.luck.rows(matches, names)}
        merits = {name: left.get(name, 0.0) for name in names}
    figures: dict[str, dict[str, Any]] = {
        name: {"wins": wins[name], "losses": losses[name], "share": shares[name], "win_rate": rates.get(name)}
        | {"less_luck": left.get(name)}
        for name in names
    }
    return ranking(merits, figures)


def present_games(standings: Sequence[Standing], matches: Sequence[MatchRow], fact: str, baseline: str) -> Presentation:
    """Return the ranking, and how often each wins against each, as far as games tell."""
    rated = any(row["win_rate"] is not None for row in standings)
    last = {f"Winrate against `{baseline}`": "win_rate"} if rated else {"Games won": "share"}
    if any(row["less_luck"] is not None for row in standings):
        last, fact = {"Less luck": "less_luck"}, f"{fact}, ranked less luck"
    columns: Columns = {"Wins": "wins", "Losses": "losses", **last}
    words = ["The win rate of an entry that draws is that of one drawn table of its answers."] if rated else []
    won = tabulate_won_games([row.name for row in standings], matches)
    return Presentation([fact], [ranking_table(standings, columns), *won], words)


ROUND_ROBIN = Format(
    round_robin,
    fewest=lambda game: game.players,
    matches=lambda game, entries, options: math.comb(entries, game.players) * options.seeds,
    name="round_robin",
)
