"""The round robin: all tables of entries that there are play a match each, and whoever wins most comes first.

In a game for two these are the pairs.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dicegym.arena.director import Director, Format
from dicegym.arena.exact_ranking import ONE_DRAW, Exact, check_exact, pairs_of, ranked_exactly, shown_exactly
from dicegym.arena.formats.settling import settle
from dicegym.arena.luck import leads_of_results, leads_of_shares, verdict
from dicegym.arena.match import Match
from dicegym.arena.report import EVERYTHING
from dicegym.arena.results import ContestResult, Presentation, Standing, ranking, ranking_table, won_games
from dicegym.arena.rows import MatchRow
from dicegym.columns import write_count

GRAIN = 12
"""Digits to which shares are rounded, so that a tie of equal strategies is one although floats are added in another
order."""


def round_robin(director: Director) -> ContestResult:
    """Let every table of entries play, and rank them.

    A match's result depends on the contest's seed, its entries with their files and its number alone: not on others,
    their order, or the number of processes. Whoever fails is disqualified (`settle`), its matches are struck, and
    nobody else's results change.

    Figures of a standing: ``wins`` and ``losses`` of matches; ``share`` of its games won, a shared first place shared
    out; ``win_rate`` against the baseline, exact, None where the game has no exact values; ``played_place``, its place
    by the games alone, None if none were played; ``less_luck``, its share less what was luck of it, None if nobody
    asked; ``exact``, see `dicegym.arena.exact_ranking.ranked_exactly`. Details: ``games_per_match``, ``baseline``, and
    ``pairs``: ``entries`` and the exact ``win_rate`` of the first against the second; empty if nobody asked.
    """
    game, options = director.game, director.options
    usual = game.spec.games_per_match
    games = usual if options.games is None else options.games
    length = games or usual
    exact = Exact(director, length)
    tables = itertools.combinations(director.entries, game.players) if games else ()
    played = settle(
        director,
        (Match(game, table, director.seed, games, number=i) for table in tables for i in range(options.seeds)),
    )
    played = [one for one in played if not director.struck.keys() & set(one.row.entries)]
    rows, found = [one.row for one in played], exact.chances
    standings = _rank(director, rows, games, exact.baseline_rates())
    heading = f"{write_count(len(rows), 'match')} of {write_count(length, 'game')}"
    heading = f"{heading}, seed {director.seed}"
    if found is None or len(standings) < 2:
        shown = shown_of(standings, rows, heading, game.spec.baseline)
    else:
        standings = ranked_exactly(standings, found)
        shown = shown_exactly(standings, found, rows, heading if rows else "no games")
    pairs = () if found is None else tuple(pairs_of(found))
    details: dict[str, Any] = {"games_per_match": length, "baseline": game.spec.baseline, "pairs": pairs}
    return director.result(standings, played, shown, **details)


def _rank(
    director: Director, matches: Sequence[MatchRow], games: int, rates: Mapping[str, float]
) -> tuple[Standing, ...]:
    """Return the ranking by matches won, then the exact win rate against the baseline or the share of games won."""
    names = [entry.name for entry in director.entries]
    number = {name: i for i, name in enumerate(names)}
    wins, losses, played = Counter[str](), Counter[str](), Counter[str]()
    won = dict.fromkeys(names, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.won, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            played[name] += games
            won[name] += share
    shares = {name: round(won[name] / max(1, played[name]), GRAIN) for name in names}
    tables = [[number[name] for name in match.entries] for match in matches]
    left: dict[str, float | None] = dict.fromkeys(names)
    if director.luck is None:
        merits: dict[str, tuple[float, ...]] = {name: (wins[name], rates.get(name, shares[name])) for name in names}
        leads = leads_of_shares(len(names), zip(tables, (m.won for m in matches), itertools.repeat(games)))
    else:
        left |= {row.name: round(row.less_luck, GRAIN) for row in director.luck.rows(matches, names)}
        merits = {name: (left[name] or 0.0,) for name in names}
        leads = leads_of_results(len(names), zip(tables, (director.luck.of(m).left for m in matches), strict=True))
    figures = {
        name: {
            "wins": wins[name],
            "losses": losses[name],
            "share": shares[name],
            "win_rate": rates.get(name),
            "played_place": None,
            "exact": None,
            "less_luck": left[name],
        }
        for name in names
    }
    rows = ranking(merits, figures, leads)
    return tuple(replace(row, figures={**row.figures, "played_place": row.place}) for row in rows) if matches else rows


def shown_of(standings: Sequence[Standing], matches: Sequence[MatchRow], heading: str, baseline: str) -> Presentation:
    """Return the ranking, and how often each wins against each, as far as games tell."""
    rated = any(row["win_rate"] is not None for row in standings)
    last = {f"Winrate against `{baseline}`": "win_rate"} if rated else {"Games won": "share"}
    if any(row["less_luck"] is not None for row in standings):
        last, heading = {"Less luck": "less_luck"}, f"{heading}, ranked less luck"
    names = [row.name for row in standings]
    table = ranking_table(standings, {"Wins": "wins", "Losses": "losses", "Could be": "could_be", **last})
    words = ["'Could be': the places that an entry may deserve; sure in 95 of 100 contests."]
    words.append(verdict(names, [row["could_be"] for row in standings]))
    words += [f"--exact ranks without luck. {ONE_DRAW}"] if rated else []
    return Presentation([heading], [table, *won_games(names, matches)], [*words, EVERYTHING])


ROUND_ROBIN = Format(
    round_robin,
    fewest=lambda game: game.players,
    matches=lambda game, entries, options: math.comb(entries, game.players) * options.seeds,
    check=check_exact,
    name="round_robin",
)
