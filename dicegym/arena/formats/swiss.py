"""The Swiss tournament: in each round entries of about equal points meet, and no two meet twice.

It ranks a large field in few rounds. Pairs follow the FIDE (Dutch) System, FIDE Handbook C.04.3, without its rules on
colours: seats are drawn again for each game. Entries are ordered by points, then by their start numbers. In a group of
equal points the upper half plays the lower half, first against first. An entry left over floats down, and meets the
first of the next group. No two meet twice, and no entry has two byes (C.04.1): if an entry's preferred opponent would
leave others without one, the next is tried.

The ranking is by points (a win is 1, a draw 1/2), then Buchholz: the sum of the opponents' points, where a bye counts
as an opponent with one's own points (FIDE Handbook C.07), then the share of games won. Equal entries share a place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, takewhile
from typing import Any, NamedTuple

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats.groups import shuffle_names
from dicegym.arena.formats.settling import settle
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow, PlayedMatch
from dicegym.arena.results import Columns, ContestResult, Presentation, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry

MOST_STEPS = 20_000
"""Pairs tried before a round without rematches is given up: the search can take exponential time."""
GRAIN = 9
"""Digits of rounded shares of games, so that ties do not depend on the order of additions."""
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
"""Columns of the ranking."""
Met = Callable[[str, str], int]
"""How often two have met."""


class Pairing(NamedTuple):
    """A pair of a round, or an entry without an opponent."""

    entries: tuple[str, ...]
    points: tuple[float, ...]
    """Of each: 1 for a win, 1/2 for a draw."""
    scores: tuple[float, ...]
    """Games that each won; a draw is half a game."""
    games: int
    """Games played."""
    note: str = ""
    """Why it was not played, such as "bye"; empty if it was."""


def swiss(director: Director) -> ContestResult:
    """Play the rounds. Disqualified entries are not paired again; earlier results against them count.

    Figures of a standing: ``start``, its number before the first round; ``points``; ``won``, ``drawn`` and ``lost``
    rounds; ``byes``, walkovers included; ``games``; ``share`` of its games won; ``buchholz``. Details:
    ``games_per_match``, and the ``rounds`` with their pairings (`Pairing`) as plain values.
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
        order = sorted(left, key=points.__getitem__, reverse=True)  # stable: equal ones by their numbers
        if len(order) < 2:
            break
        if all(count_meetings(*pair) for pair in combinations(order, 2)):
            remarks.append(f"it ended after {number - 1} rounds, in which everybody had met everybody")
            break
        free = [bye(order, {name: figures[name]["byes"] for name in order})] if len(order) % 2 else []
        paired = pairs([name for name in order if name not in free], points, count_meetings)
        again = [f"{one} and {other}" for one, other in paired if count_meetings(one, other)]
        remarks += [f"round {number}: {both} met again, as no other pairing was left" for both in again]
        found = _play_round(director, paired, count_meetings, played)
        found += [Pairing((name,), (1.0,), (0.0,), 0, "bye") for name in free]
        rounds.append(tuple(found))
        meetings.update(frozenset(pairing.entries) for pairing in found if not pairing.note)

    figures = {name: own for name, own in count_figures(drawn, rounds).items() if name not in director.failures}
    merits = {name: (one["points"], one["buchholz"], one["share"]) for name, one in figures.items()}
    standings = ranking(merits, figures)
    games = director.games_per_match
    fact = f"{write_count(len(rounds), 'round')} of matches of {write_count(games, 'game')}"
    words = ["Points rank, then 'Buchholz', the points of an entry's opponents, then the share of games won."]
    if not all(count_meetings(*pair) for pair in combinations(figures, 2)):
        words.append(
            "Not everybody met everybody, so the pairings add luck to that of the dice: a round robin compares all "
            "with all."
        )
    shown = Presentation([fact, f"seed {director.seed}"], [ranking_table(standings, COLUMNS)], words)
    plain = tuple(
        {
            "title": f"Round {number}",
            "pairings": tuple(one._asdict() | {"played": (not one.note,) * len(one.entries)} for one in found),
        }
        for number, found in enumerate(rounds, 1)
    )
    return director.result(standings, played, shown, remarks, games_per_match=games, rounds=plain)


def _play_round(
    director: Director, paired: Sequence[tuple[str, str]], met: Met, played: list[PlayedMatch]
) -> list[Pairing]:
    """Return the result of each pair, and add matches that count to ``played``.

    Disqualified entries lose; their opponents get a walkover.
    """
    entries = {entry.name: entry for entry in director.entries}
    times, games, jobs = director.options.seeds, director.games_per_match, list[Match]()
    for pair in paired:
        two, first = tuple(entries[name] for name in sorted(pair)), times * met(*pair)
        numbers = range(first, first + times)
        jobs += [Match(director.game, two, director.seed, games, number=number) for number in numbers]
    rows: dict[frozenset[str], list[MatchRow]] = {frozenset(pair): [] for pair in paired}
    for one in settle(director, jobs):
        rows[frozenset(one.row.entries)].append(one.row)
        if director.failures.keys().isdisjoint(one.row.entries):
            played.append(one)
    found = []
    for pair in paired:
        own, failed = rows[frozenset(pair)], [name for name in pair if name in director.failures]
        if len(own) < times:
            points = tuple(float(name not in failed) for name in pair)
            found.append(Pairing(pair, points, (0.0, 0.0), 0, f"walkover: {', '.join(failed)} disqualified"))
        else:
            won = [sum(row.shares[row.entries.index(name)] for row in own) for name in pair]
            points = tuple((mine > other) + 0.5 * (mine == other) for mine, other in (won, won[::-1]))
            found.append(Pairing(pair, points, tuple(won), sum(row.games for row in own)))
    return found


def count_figures(drawn: Sequence[str], rounds: Iterable[Iterable[Pairing]]) -> dict[str, dict[str, Any]]:
    """Return the figures of each entry after some rounds, by name; ``drawn`` is their order before them."""
    figures: dict[str, dict[str, Any]] = {
        name: {"start": start, "points": 0.0, "won": 0, "drawn": 0, "lost": 0, "byes": 0, "games": 0}
        for start, name in enumerate(drawn, 1)
    }
    scores = dict.fromkeys(drawn, 0.0)
    opponents: dict[str, list[str]] = {name: [] for name in drawn}  # by round; itself where it did not play
    for pairing in chain.from_iterable(rounds):
        met = not pairing.note
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


def pairs(order: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]]:
    """Return the pairs of an even number of entries in ``order``.

    If no pairing without rematches is found in `MOST_STEPS`, each entry meets the one that it has met least.
    """
    found = _without_rematches(order, points, met)
    if found is not None:
        return found
    left, again = list(order), []
    while left:
        above = left[0]
        below = min(_preferred(left, points), key=lambda name: met(above, name))
        again.append((above, below))
        left = [name for name in left if name not in (above, below)]
    return again


def _without_rematches(order: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]] | None:
    """Return pairs that have never met, or None; upper entries get preferred opponents first."""
    stack = [(list(order), _preferred(order, points))]
    chosen: list[tuple[str, str]] = []
    steps = 0
    while stack[-1][0]:
        left, preferred = stack[-1]
        below = next((name for name in preferred if not met(left[0], name)), None)
        steps += 1
        if steps > MOST_STEPS:
            return None
        if below is None:  # back to the previous pair
            stack.pop()
            if not stack:
                return None
            chosen.pop()
            continue
        chosen.append((left[0], below))
        rest = [name for name in left[1:] if name != below]
        stack.append((rest, _preferred(rest, points)))
    return chosen


def _preferred(left: Sequence[str], points: Mapping[str, float]) -> Iterator[str]:
    """Yield the possible opponents of the first of ``left``, preferred ones first."""
    if not left:
        return
    size = sum(1 for _ in takewhile(lambda name: points[name] == points[left[0]], left))
    half = size // 2
    if half:
        yield from left[half:size]
        yield from left[half - 1 : 0 : -1]
    yield from left[size:]


def bye(order: Sequence[str], had: Mapping[str, int]) -> str:
    """Return the entry of ``order`` that gets a bye: the lowest of those with the fewest byes."""
    return min(reversed(order), key=lambda name: had.get(name, 0))


def usual_rounds(entries: int) -> int:
    """Return the fewest rounds after which at most one entry can have won all its matches."""
    return max(1, math.ceil(math.log2(max(2, entries))))


def _check(game: Game, options: ContestOptions, entries: Sequence[Entry]) -> None:
    if game.players != 2:
        raise ParameterError(
            f"a Swiss tournament pairs entries, and {game!r} has {game.players} seats: give players=2, or run groups"
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
