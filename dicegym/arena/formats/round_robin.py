"""The round robin: all tables of entries play a match each, and the entry with most matches won comes first."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dicegym.arena.director import Director, Format
from dicegym.arena.exact_ranking import (
    ONE_DRAW,
    baseline_rates,
    check_askable,
    check_exact,
    known_tables,
    pairs_of,
    present_exactly,
    rank_exactly,
    win_rates,
)
from dicegym.arena.formats.settling import settle
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, present, ranking, tabulate_won_games
from dicegym.arena.significance import leads_of_results, leads_of_shares
from dicegym.columns import write_count

GRAIN = 12
"""Digits to which shares are rounded, so that equal strategies tie although floats are added in another order."""


def round_robin(director: Director) -> ContestResult:
    """Let every table of entries play, and rank them.

    A match's result depends on the contest's seed, its entries with their files and its number alone. Matches of
    disqualified entries do not count.

    Figures of a standing: ``wins`` and ``losses`` of matches; ``share`` of its games won, a shared first place shared
    out; ``win_rate`` against the baseline, exact, None where the game has no exact values; ``less_luck``, its share
    less what was luck of it, None unless chosen; ``exact``, see `dicegym.arena.exact_ranking.rank_exactly`. Details:
    ``games_per_match``, ``baseline``, and ``pairs``: ``entries`` and the exact ``win_rate`` of the first against the
    second; empty unless chosen.
    """
    game, options = director.game, director.options
    length, baseline = options.games or game.spec.games_per_match, game.spec.baseline
    tables = known_tables(director)
    seated = itertools.combinations(director.entries, game.players) if options.games != 0 else ()
    jobs = [Match(game, table, director.seed, length, number=i) for table in seated for i in range(options.seeds)]
    played = [one for one in settle(director, jobs) if director.struck.keys().isdisjoint(one.row.entries)]
    rows, pairs = [one.row for one in played], tuple[dict[str, Any], ...]()
    standings = _rank(director, rows, baseline_rates(game, tables))
    fact = f"{write_count(len(rows), 'match')} of {write_count(length, 'game')}, seed {director.seed}"
    if options.exact and len(standings) > 1:
        names = sorted(tables.keys() - director.struck.keys())
        rates = win_rates(director, {name: tables[name] for name in names})
        standings, pairs = rank_exactly(standings, names, rates, length, options.seeds), pairs_of(names, rates)
        shown = present_exactly(standings, names, rates, rows, fact if rows else "no games")
    else:
        shown = present_games(standings, rows, fact, baseline)
    return director.result(standings, played, shown, games_per_match=length, baseline=baseline, pairs=pairs)


def _rank(director: Director, matches: Sequence[MatchRow], rates: Mapping[str, float]) -> tuple[Standing, ...]:
    """Rank by matches won, then the exact win rate against the baseline or the share of games won; or less luck."""
    number, luck = {entry.name: i for i, entry in enumerate(director.entries)}, director.luck
    wins, losses, games, won = Counter[str](), Counter[str](), Counter[str](), dict.fromkeys(number, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.won, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            games[name] += match.games
            won[name] += share
    shares = {name: round(won[name] / max(1, games[name]), GRAIN) for name in number}
    tables = [[number[name] for name in match.entries] for match in matches]
    left: dict[str, float] = {}
    if luck is None:
        merits: dict[str, Any] = {name: (wins[name], rates.get(name, shares[name])) for name in number}
        leads = leads_of_shares(
            len(number), ((table, m.won, m.games) for table, m in zip(tables, matches, strict=True))
        )
    else:
        left = {row.name: round(row.less_luck, GRAIN) for row in luck.rows(matches, list(number))}
        merits = {name: left.get(name, 0.0) for name in number}
        leads = leads_of_results(len(number), zip(tables, (luck.of(m).left for m in matches), strict=True))
    figures: dict[str, dict[str, Any]] = {
        name: {"wins": wins[name], "losses": losses[name], "share": shares[name], "win_rate": rates.get(name)}
        | {"exact": None, "less_luck": left.get(name)}
        for name in number
    }
    return ranking(merits, figures, leads)


def present_games(standings: Sequence[Standing], matches: Sequence[MatchRow], fact: str, baseline: str) -> Presentation:
    """Return the ranking, and how often each wins against each, as far as games tell."""
    rated = any(row["win_rate"] is not None for row in standings)
    last = {f"Winrate against `{baseline}`": "win_rate"} if rated else {"Games won": "share"}
    if any(row["less_luck"] is not None for row in standings):
        last, fact = {"Less luck": "less_luck"}, f"{fact}, ranked less luck"
    columns: Columns = {"Wins": "wins", "Losses": "losses", "Could be": "could_be", **last}
    words = [f"--exact ranks without luck. {ONE_DRAW}"] if rated else []
    return present(standings, columns, [fact], tabulate_won_games([row.name for row in standings], matches), words)


ROUND_ROBIN = Format(
    round_robin,
    fewest=lambda game: game.players,
    matches=lambda game, entries, options: math.comb(entries, game.players) * options.seeds,
    check=check_exact,
    fits=check_askable,
    name="round_robin",
)
