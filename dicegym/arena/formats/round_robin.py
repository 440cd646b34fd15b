"""The round robin: every table of entries plays a match, and the entry with most matches won is first."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.exact_ranking import GRAIN, baseline_rates, check_exact, find_tables, list_remarks, rank_exactly
from dicegym.arena.formats.settling import settle
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.ratings.match_places import MatchPlaces
from dicegym.arena.ratings.rating_tables import build_won_matrix
from dicegym.arena.report import Matrix, ReportTable
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game


def round_robin(director: Director) -> ContestResult:
    """Let every table of entries play, and rank them.

    A match's result depends only on the contest's seed, its entries with their files, and its number. Matches of
    disqualified entries do not count.

    Figures of a standing: ``wins`` and ``losses`` of matches; ``share`` of its games won, a shared first place shared;
    ``win_rate`` against the baseline, exact, None if unknown; ``less_luck``, its luck-adjusted share, None unless
    chosen; ``exact``, see `dicegym.arena.exact_ranking.rank_exactly`, None unless chosen.
    Details: ``games_per_match``, ``baseline``, and ``pairs``, the exact value of each pair, empty unless chosen.
    """
    game, options = director.game, director.options
    length, baseline = director.games_per_match, game.spec.baseline
    tables = find_tables(director)
    seated = itertools.combinations(director.entries, game.players) if options.games != 0 else ()
    jobs = [Match(game, table, director.seed, length, number=i) for table in seated for i in range(options.seeds)]
    with ThreadPoolExecutor(1) as beside:  # referees play while this process loads the solver
        rates = beside.submit(baseline_rates, game, tables)
        played = [one for one in settle(director, jobs) if director.failures.keys().isdisjoint(one.row.entries)]
    rows = [one.row for one in played]
    standings = _rank(director, rows, rates.result())
    fact = f"{write_count(len(rows), 'match')} of {write_count(length, 'game')}, seed {director.seed}"
    remarks = list_remarks(director, tables)
    shown, pairs = present_games(standings, rows, fact, baseline, remarks), list[dict[str, Any]]()
    if options.exact and len(standings) > 1:
        fact = "no games" if options.games == 0 else fact
        standings, shown, pairs = rank_exactly(director, standings, tables, length, fact, remarks)
    return director.result(standings, played, shown, games_per_match=length, baseline=baseline, pairs=pairs)


def _rank(director: Director, matches: Sequence[MatchRow], rates: Mapping[str, float]) -> tuple[Standing, ...]:
    """Rank by luck-adjusted share if chosen; otherwise by matches won, then win rate against the baseline or share."""
    names = [entry.name for entry in director.entries]
    wins, losses, games, won = Counter[str](), Counter[str](), Counter[str](), dict.fromkeys(names, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.shares, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            games[name] += match.games
            won[name] += share
    shares = {name: round(won[name] / max(1, games[name]), GRAIN) for name in names}
    merits: dict[str, Any] = {name: (wins[name], rates.get(name, shares[name])) for name in names}
    left: dict[str, float] = {}
    if director.luck is not None:
        left = {row.name: round(row.less_luck, GRAIN) for row in director.luck.rows(matches, names)}
        merits = {name: left.get(name, 0.0) for name in names}
    figures: dict[str, dict[str, Any]] = {
        name: {"wins": wins[name], "losses": losses[name], "share": shares[name], "win_rate": rates.get(name)}
        | {"exact": None, "less_luck": left.get(name)}
        for name in names
    }
    return ranking(merits, figures)


def present_games(
    standings: Sequence[Standing],
    matches: Sequence[MatchRow],
    fact: str,
    baseline: str,
    remarks: Sequence[str] = (),
) -> Presentation:
    """Return the ranking, and the matrix of games won."""
    rated = any(row["win_rate"] is not None for row in standings)
    last = {f"Win rate against `{baseline}`": "win_rate"} if rated else {"Games won": "share"}
    if any(row["less_luck"] is not None for row in standings):
        last, fact = {"Less luck": "less_luck"}, f"{fact}, ranked by luck-adjusted results"
    columns: Columns = {"Wins": "wins", "Losses": "losses", **last}
    tables: list[ReportTable | Matrix] = [ranking_table(standings, columns)]
    if matches:
        places = [MatchPlaces(row.entries, row.places) for row in matches]
        tables.append(build_won_matrix(places, [row.name for row in standings]))
    return Presentation([fact], tables, list(remarks) if rated else [])


def _count_matches(game: Game, entries: int, options: ContestOptions) -> int:
    return 0 if options.games == 0 else math.comb(entries, game.players) * options.seeds


ROUND_ROBIN = Format(round_robin, "round_robin", lambda game: game.players, _count_matches, check_exact)
