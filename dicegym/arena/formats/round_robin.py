"""The round robin: all tables of entries that there are play a match each, and whoever wins most comes first.

In a game for two these are the pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from dicegym.arena.director import Director, Format
from dicegym.arena.exact_ranking import Chances, asked_everything, chances, drawn_places, tables_of
from dicegym.arena.formats.round_robin_result import (
    ExactStanding,
    PairRow,
    RoundRobinResult,
    RoundRobinStanding,
)
from dicegym.arena.formats.settling import PlayedMatch, settle
from dicegym.arena.luck import Places, deserved, leads_of_results, leads_of_shares
from dicegym.arena.match import Match
from dicegym.arena.options import ContestOptions
from dicegym.arena.rows import MatchRow
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import ParameterError
from dicegym.games.parts import Duel, solved_with, solver
from dicegym.players.roster import agent

GRAIN = 12
"""Digits to which win rates are rounded, so that a tie of equal strategies is one although floats are added in another
order."""


def round_robin(director: Director) -> RoundRobinResult:
    """Let every table of entries play, and rank them.

    A match's result depends on the contest's seed, its entries with their files and its number alone: not on others,
    their order, or the number of processes. Whoever fails is disqualified (`settle`), its matches are struck, and
    nobody else's results change.
    """
    game = director.game
    games = game.spec.games_per_match if director.options.games is None else director.options.games
    values = solver(game)
    tables = tables_of(director) if values is not None and (director.options.exact or asked_everything(game)) else {}
    found = None
    if values is not None and director.options.exact:
        found = _chances(director, values, tables, games or game.spec.games_per_match)
    played = _play_all(director, games) if games else []
    played = [one for one in played if not director.struck.keys() & set(one.row.entries)]
    matches = [one.row for one in played]
    rates = {} if values is None else _baseline_rates(director, values, tables)
    standings = _rank(director, matches, games, rates)
    if found is not None:
        found = _without(found, director.struck)
        standings = _rank_exactly(standings, found)
    return RoundRobinResult(
        **director.common(),
        standings=tuple(standings),
        misplays=tuple(misplay for one in played for misplay in one.misplays),
        games_per_match=games or game.spec.games_per_match,
        baseline=game.spec.baseline,
        matches=tuple(matches),
        pairs=() if found is None else tuple(_pairs(found)),
    )


def _check(game: Game, options: ContestOptions) -> None:
    """Raise ParameterError for options that make no sense."""
    if options.exact and options.less_luck:
        raise ParameterError("exact=True has no luck in it: leave out less_luck, or exact")
    if options.exact and solver(game) is None:
        settings = solved_with(game) or {}
        known = " and ".join(f"{name}={value}" for name, value in settings.items())
        instead = f"; they are known with {known}" if settings.get("players", 2) == 2 and known else ""
        raise ParameterError(
            f"exact=True cannot be used, as {game!r} has no exact values{instead}: leave it out and play more games, "
            "such as games=1000"
        )


ROUND_ROBIN = Format(
    round_robin,
    fewest=lambda game: game.players,
    matches=lambda game, entries, options: math.comb(entries, game.players) * options.seeds,
    check=_check,
    name="round_robin",
    takes=frozenset({"games", "exact", "seeds", "players", "less_luck"}),
)


def _play_all(director: Director, games: int) -> list[PlayedMatch]:
    """Play all tables; strike who fails."""
    tables = itertools.combinations(director.entries, director.game.players)
    jobs = (
        Match(director.game, table, director.seed, games, number=number)
        for table in tables
        for number in range(director.options.seeds)
    )
    return [found for _, found in settle(director, jobs) if isinstance(found, PlayedMatch)]


def _rank(
    director: Director, matches: Sequence[MatchRow], games: int, rates: Mapping[str, float]
) -> list[RoundRobinStanding]:
    """Return the ranking by matches won, then the exact win rate against the baseline or the share of games won."""
    names = [entry.name for entry in director.entries]
    wins, losses, played = dict.fromkeys(names, 0), dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    won = dict.fromkeys(names, 0.0)
    for match in matches:
        best = [name for name, n in zip(match.entries, match.wins, strict=True) if n == max(match.wins)]
        for name, share in zip(match.entries, match.shares or match.wins, strict=True):
            wins[name] += best == [name]
            losses[name] += name not in best
            played[name] += games
            won[name] += share
    shares = {name: round(won[name] / max(1, played[name]), GRAIN) for name in names}
    left: dict[str, float] = {}
    if director.luck is not None:
        left = {row.name: round(row.less_luck, GRAIN) for row in director.luck.rows(matches, names)}
    merits = {name: (0, left.get(name, 0.0)) if left else (wins[name], rates.get(name, shares[name])) for name in names}
    order = sorted(names, key=lambda name: (-merits[name][0], -merits[name][1], name))
    number = {name: i for i, name in enumerate(order)}
    tables = (([number[name] for name in match.entries], match.shares or match.wins, games) for match in matches)
    leads = leads_of_shares(len(order), tables)
    if director.luck is not None:
        tables_left = (([number[name] for name in match.entries], director.luck.of(match).left) for match in matches)
        leads = leads_of_results(len(order), tables_left)
    rows: list[RoundRobinStanding] = []
    for position, (name, could_be) in enumerate(zip(order, deserved(leads), strict=True), 1):
        place = rows[-1].place if rows and merits[name] == merits[order[position - 2]] else position
        figures = wins[name], losses[name], shares[name], rates.get(name)
        came = place if matches else None
        rows.append(RoundRobinStanding(place, name, *figures, could_be, came, less_luck=left.get(name)))
    return rows


def _baseline_rates(director: Director, values: Duel, tables: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the exact win rate of every strategy against the baseline, by name."""
    if not tables:
        return {}
    game = director.game
    baseline = values.tabulate(agent(game, game.spec.baseline), game)
    with ThreadPoolExecutor(cores()) as pool:
        rates = pool.map(lambda table: values.win_rate(table, baseline, game), tables.values())
        return {name: round(rate, GRAIN) for name, rate in zip(tables, rates, strict=True)}


def _chances(director: Director, values: Duel, tables: Mapping[str, np.ndarray], games: int) -> Chances:
    """Return how the contest goes on average, and tell of every pair."""
    director.expect(math.comb(len(tables), 2) + (0 if asked_everything(director.game) else len(tables)))
    found = chances(values, tables, director.game, games, lambda *_: director.told("exact win rates"))
    return found._replace(times=director.options.seeds)


def _without(found: Chances, struck: Mapping[str, str]) -> Chances:
    """Return the same without who was struck in a match."""
    kept = [number for number, name in enumerate(found.names) if name not in struck]
    names = tuple(found.names[number] for number in kept)
    return Chances(names, found.rates[kept][:, kept], found.takes[kept][:, kept], found.times)


def _rank_exactly(rows: Sequence[RoundRobinStanding], found: Chances) -> list[RoundRobinStanding]:
    """Return the ranking by matches won on average, then the exact win rate against the baseline or all others."""
    by_name = {row.name: row for row in rows}
    ties = [
        float(rate) if by_name[name].win_rate is None else float(by_name[name].win_rate or 0)
        for name, rate in zip(found.names, found.win_rates, strict=True)
    ]
    places, first = drawn_places(found, ties)
    merits = {name: (float(wins), round(tie, 9)) for name, wins, tie in zip(found.names, found.wins, ties, strict=True)}
    ranked: list[RoundRobinStanding] = []
    for name in sorted(found.names, key=lambda name: (-merits[name][0], -merits[name][1], name)):
        number = found.names.index(name)
        place = 1 + sum(merit > merits[name] for merit in merits.values())
        equals = [other for other, one in enumerate(found.names) if merits[one] == merits[name]]
        luck = Places(min(places[other].best for other in equals), max(places[other].worst for other in equals))
        share = round(sum(first[other] for other in equals) / len(equals), 6)
        exact = ExactStanding(float(found.wins[number]), float(found.win_rates[number]), luck, share)
        ranked.append(replace(by_name[name], place=place, exact=exact))
    return ranked


def _pairs(found: Chances) -> Iterator[PairRow]:
    for a, b in itertools.combinations(range(len(found.names)), 2):
        yield PairRow((found.names[a], found.names[b]), float(found.rates[a, b]))
