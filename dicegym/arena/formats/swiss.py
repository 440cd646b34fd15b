"""The Swiss tournament: in each round entries of about equal points meet, and no two meet twice.

It tells a large field apart in few rounds. Pairs are made as `dicegym.arena.formats.swiss_pairing` says. At larger
tables neighbours in the ranking sit together, unless they have met.

Ranked are points (a win is 1, a draw 1/2; at larger tables the share of the others left behind), then Buchholz: the sum
of the opponents' points, at larger tables the mean of a table's, where a bye counts as an opponent with one's own
points (FIDE Handbook C.07), then the share of games won. Entries that are still equal share a place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats import swiss_pairing
from dicegym.arena.formats.rounds import GRAIN, Rounds
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, present, ranking
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry


def swiss(director: Director) -> ContestResult:
    """Play the rounds. A disqualified entry is not paired any more; what was played against it before stands.

    Figures of a standing: ``start``, its number before the first round; ``points``; ``won``, ``drawn`` and ``lost``
    rounds; ``byes``, rounds that it did not have to play, walkovers included; ``games``; ``share`` of the others at its
    tables that it left behind in a game; ``buchholz``. Details: ``games_per_match``, and the ``rounds`` with their
    pairings, each a `dicegym.arena.formats.rounds.Pairing` as plain values.
    """
    rounds = Rounds(director)
    for played in range(director.options.rounds or usual_rounds(len(rounds.start))):
        names = rounds.names
        if len(names) < rounds.fewest:
            break
        if director.game.players == 2 and all(rounds.count_meetings(*pair) for pair in combinations(names, 2)):
            rounds.remarks.append(f"it ended after {played} rounds, in which everybody had met everybody")
            break
        _play_round(rounds, f"Round {played + 1}")
    buchholz = _buchholz(rounds)
    figures = {name: {**rounds.figures(name), "buchholz": buchholz[name]} for name in rounds.names}
    merits = {name: (one["points"], one["buchholz"], one["share"]) for name, one in figures.items()}
    standings = ranking(merits, figures)
    details = {"games_per_match": rounds.games, "rounds": tuple(one.to_json() for one in rounds.rounds)}
    return director.result(standings, rounds.played, _shown(rounds, standings), rounds.remarks, **details)


def _play_round(rounds: Rounds, title: str) -> None:
    """Pair and play a round."""
    accounts, start = rounds.accounts, rounds.start
    order = sorted(rounds.names, key=lambda name: (-accounts[name].points, start[name]))
    points = {name: accounts[name].points for name in order}
    of_two = rounds.director.game.players == 2
    seats = swiss_pairing.sizes(len(order), rounds.director.game.players, rounds.fewest)
    left_over = len(order) % 2 if of_two else len(order) - sum(seats)
    free = swiss_pairing.byes(order, left_over, {name: accounts[name].byes for name in order})
    playing = [name for name in order if name not in free]
    tables: Sequence[tuple[str, ...]]
    tables = (
        swiss_pairing.pairs(playing, points, rounds.count_meetings)
        if of_two
        else swiss_pairing.tables(playing, seats, rounds.count_meetings)
    )
    for one, other in tables if of_two else ():
        if rounds.count_meetings(one, other):
            rounds.remarks.append(f"{title.lower()}: {one} and {other} met again, as nothing else was left")
    rounds.play(title, tables, free)


def _buchholz(rounds: Rounds) -> dict[str, float]:
    """Return the sum of the opponents' points of each entry that is not disqualified."""
    accounts = rounds.accounts
    found = dict.fromkeys(rounds.names, 0.0)
    for table in (table for one in rounds.rounds for table in one.pairings):
        playing = [name for name, played in zip(table.entries, table.played, strict=True) if played]
        for name in found.keys() & set(table.entries):
            others = [other for other in playing if other != name] if name in playing else [name]
            found[name] = round(found[name] + sum(accounts[other].points for other in others) / len(others), GRAIN)
    return found


def _shown(rounds: Rounds, standings: Sequence[Standing]) -> Presentation:
    games, n = rounds.games, len(rounds.rounds)
    facts = [
        f"{write_count(n, 'round')} of matches of {write_count(games, 'game')}",
        f"seed {rounds.director.seed}",
    ]
    columns: Columns = {
        "Points": lambda row: _number(row["points"]),
        "Won": "won",
        "Drawn": "drawn",
        "Lost": "lost",
        "Byes": "byes",
        "Buchholz": lambda row: _number(row["buchholz"]),
        "Games": "games",
        "Share": lambda row: row["share"] if row["games"] else None,
    }
    words = ["Points rank, then 'Buchholz', the points of an entry's opponents, then the share of games won."]
    if not all(rounds.count_meetings(*pair) for pair in combinations((row.name for row in standings), 2)):
        words.append(
            "Not everybody met everybody, so the luck of the draw is in it besides that of the dice: a round "
            "robin (--format round-robin) compares all with all, and says which places the games leave open."
        )
    return present(standings, columns, facts, (), words)


def _number(value: float) -> str:
    """Return points as they are read: 3, 2.5, 0.333."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def usual_rounds(entries: int) -> int:
    """Return the fewest rounds after which at most one entry can have won all of its pairs."""
    return max(1, math.ceil(math.log2(max(2, entries))))


def _fits(game: Game, entries: Sequence[Entry], options: ContestOptions) -> None:
    most = len(entries) - 1 + len(entries) % 2
    if game.players == 2 and options.rounds is not None and options.rounds > most:
        raise ParameterError(
            f"rounds={options.rounds} cannot be played by {len(entries)} entries, as after {most} everybody has met "
            f"everybody: give at most {most}, or more games of a match"
        )


def _matches(game: Game, entries: int, options: ContestOptions) -> int:
    rounds = options.rounds or usual_rounds(entries)
    return rounds * options.seeds * (entries // 2 if game.players == 2 else math.ceil(entries / game.players))


SWISS = Format(swiss, matches=_matches, name="swiss", fits=_fits)
