"""The Swiss tournament: in each round pairs of about equal points meet, and no two meet twice.

It tells a large field apart in few rounds. Pairs are made as `dicegym.arena.formats.swiss_pairing` says.

Ranked are points (a win is 1, a draw 1/2), then Buchholz: the sum of the opponents' points, where a bye counts as an
opponent with one's own points (FIDE Handbook C.07), then the share of games won. Entries that are still equal share a
place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats.groups import shuffle_names
from dicegym.arena.formats.settling import settle
from dicegym.arena.formats.swiss_pairing import Met, bye, pairs, usual_rounds
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow, PlayedMatch
from dicegym.arena.results import Columns, ContestResult, Presentation, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry

GRAIN = 9
"""Digits to which shares of games are rounded, so that a tie is one although floats are added in another order."""
COLUMNS: Columns = {
    "Points": lambda row: f"{row['points']:g}",
    "Won": "won",
    "Drawn": "drawn",
    "Lost": "lost",
    "Byes": "byes",
    "Buchholz": lambda row: f"{row['buchholz']:g}",
    "Games": "games",
    "Share": lambda row: row["share"] if row["games"] else None,
}
"""Of the ranking."""


class Pairing(NamedTuple):
    """A pair of a round, or an entry that had none."""

    entries: tuple[str, ...]
    points: tuple[float, ...]
    """Of each: 1 for a win, 1/2 for a draw."""
    scores: tuple[float, ...]
    """Games that each won, a draw by half."""
    games: int
    """That were played."""
    note: str
    """What is to be said of it, such as "bye"."""
    played: tuple[bool, ...]
    """Whether each has played."""


def swiss(director: Director) -> ContestResult:
    """Play the rounds. A disqualified entry is not paired any more; what was played against it before stands.

    Figures of a standing: ``start``, its number before the first round; ``points``; ``won``, ``drawn`` and ``lost``
    rounds; ``byes``, rounds that it did not have to play, walkovers included; ``games``; ``share`` of its games won;
    ``buchholz``. Details: ``games_per_match``, and the ``rounds`` with their pairings (`Pairing`) as plain values.
    """
    drawn = shuffle_names([entry.name for entry in director.entries], "draw", director.seed)
    rounds: list[tuple[Pairing, ...]] = []
    played: list[PlayedMatch] = []
    remarks: list[str] = []
    meetings = Counter[frozenset[str]]()

    def count_meetings(one: str, other: str) -> int:
        return meetings[frozenset((one, other))]

    for number in range(1, (director.options.rounds or usual_rounds(len(drawn))) + 1):
        figures = count_figures(drawn, rounds)
        points = {name: own["points"] for name, own in figures.items()}
        left = [name for name in drawn if name not in director.failures]
        order = sorted(left, key=points.__getitem__, reverse=True)  # a stable sort: equal ones by their numbers
        if len(order) < 2:
            break
        if all(count_meetings(*pair) for pair in combinations(order, 2)):
            remarks.append(f"it ended after {number - 1} rounds, in which everybody had met everybody")
            break
        free = [bye(order, {name: figures[name]["byes"] for name in order})] if len(order) % 2 else []
        paired = pairs([name for name in order if name not in free], points, count_meetings)
        again = [f"{one} and {other}" for one, other in paired if count_meetings(one, other)]
        remarks += [f"round {number}: {both} met again, as nothing else was left" for both in again]
        found = _play_round(director, paired, count_meetings, played)
        found += [Pairing((name,), (1.0,), (0.0,), 0, "bye", (False,)) for name in free]
        rounds.append(tuple(found))
        meetings.update(frozenset(pairing.entries) for pairing in found if all(pairing.played))

    figures = {name: own for name, own in count_figures(drawn, rounds).items() if name not in director.failures}
    merits = {name: (one["points"], one["buchholz"], one["share"]) for name, one in figures.items()}
    standings = ranking(merits, figures)
    games = director.games_per_match
    fact = f"{write_count(len(rounds), 'round')} of matches of {write_count(games, 'game')}"
    words = ["Points rank, then 'Buchholz', the points of an entry's opponents, then the share of games won."]
    if not all(count_meetings(*pair) for pair in combinations(figures, 2)):
        words.append(
            "Not everybody met everybody, so the luck of the draw is in it as well as that of the dice: a round "
            "robin compares all with all."
        )
    shown = Presentation([fact, f"seed {director.seed}"], [ranking_table(standings, COLUMNS)], words)
    plain = tuple(
        {"title": f"Round {number}", "pairings": tuple(one._asdict() for one in found)}
        for number, found in enumerate(rounds, 1)
    )
    return director.result(standings, played, shown, remarks, games_per_match=games, rounds=plain)


def _play_round(
    director: Director, paired: Sequence[tuple[str, str]], met: Met, played: list[PlayedMatch]
) -> list[Pairing]:
    """Return the result of each pair; disqualified entries lose, and leave the other one a walkover.

    Matches that count are added to ``played``.
    """
    entries = {entry.name: entry for entry in director.entries}
    times, games, jobs = director.options.seeds, director.games_per_match, list[Match]()
    for pair in paired:
        own, first = tuple(entries[name] for name in sorted(pair)), times * met(*pair)
        numbers = range(first, first + times)
        jobs += [Match(director.game, own, director.seed, games, number=number) for number in numbers]
    rows: dict[frozenset[str], list[MatchRow]] = {frozenset(pair): [] for pair in paired}
    for one in settle(director, jobs):
        rows[frozenset(one.row.entries)].append(one.row)
        if director.failures.keys().isdisjoint(one.row.entries):
            played.append(one)
    return [_pairing(director, pair, rows[frozenset(pair)]) for pair in paired]


def _pairing(director: Director, pair: tuple[str, str], rows: Sequence[MatchRow]) -> Pairing:
    """Return the result of a pair by its matches."""
    if len(rows) < director.options.seeds:
        failed = [name for name in pair if name in director.failures]
        points = tuple(float(name not in failed) for name in pair)
        return Pairing(pair, points, (0.0, 0.0), 0, f"walkover: {', '.join(failed)} disqualified", (False, False))
    won = [sum(row.shares[row.entries.index(name)] for row in rows) for name in pair]
    points = tuple((own > other) + 0.5 * (own == other) for own, other in (won, won[::-1]))
    return Pairing(pair, points, tuple(won), sum(row.games for row in rows), "", (True, True))


def count_figures(drawn: Sequence[str], rounds: Iterable[Iterable[Pairing]]) -> dict[str, dict[str, Any]]:
    """Return what there is to say of each entry after some rounds, by name; ``drawn`` is their order before them."""
    figures: dict[str, dict[str, Any]] = {
        name: {"start": start, "points": 0.0, "won": 0, "drawn": 0, "lost": 0, "byes": 0, "games": 0}
        for start, name in enumerate(drawn, 1)
    }
    scores = dict.fromkeys(drawn, 0.0)
    opponents: dict[str, list[str]] = {name: [] for name in drawn}  # of each round; itself where it did not play
    for pairing in chain.from_iterable(rounds):
        met = all(pairing.played)
        for seat, name in enumerate(pairing.entries):
            own, points = figures[name], pairing.points[seat]
            own["points"] += points
            own["games"] += pairing.games
            scores[name] += pairing.scores[seat]
            opponents[name].append(pairing.entries[1 - seat] if met else name)
            if met:
                own["won" if points == 1 else "drawn" if points else "lost"] += 1
            elif points:
                own["byes"] += 1
    for name, own in figures.items():
        own["share"] = round(scores[name] / own["games"], GRAIN) if own["games"] else 0.0
        own["buchholz"] = sum((figures[other]["points"] for other in opponents[name]), 0.0)
    return figures


def _check(game: Game, options: ContestOptions, entries: Sequence[Entry]) -> None:
    if game.players != 2:
        raise ParameterError(
            f"a Swiss tournament pairs entries, and {game!r} seats {game.players}: give players=2, or run groups"
        )
    most = len(entries) - 1 + len(entries) % 2
    if entries and options.rounds is not None and options.rounds > most:
        raise ParameterError(
            f"rounds={options.rounds} cannot be played by {len(entries)} entries, as after {most} everybody has met "
            f"everybody: give at most {most}, or more games of a match"
        )


SWISS = Format(
    swiss,
    "swiss",
    matches=lambda game, entries, options: (options.rounds or usual_rounds(entries)) * options.seeds * (entries // 2),
    check=_check,
)
