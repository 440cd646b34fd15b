"""Decide which matches count and which entries are disqualified, from outcomes alone.

Processes end matches in any order, a store knows some of them, and an entry that has failed need not play on. So timing
decides which matches are played, and it must not decide what counts. `fold` goes through the matches in the format's
order: an entry is disqualified at the first match that it fails, ignoring matches of entries disqualified before. From
there on its matches do not count. Missing matches are then played.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dicegym.arena.director import Director
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch, read_outcome
from dicegym.engine.game import Game
from dicegym.sandbox.hosts import MOST
from dicegym.sandbox.jobs import Failure


def table_for(game: Game, players: int) -> Game:
    """Return the game with ``players`` seats. Raises ParameterError if it does not allow that."""
    return game if game.players == players else Game(game.spec, players, **game.parameters)


def settle(director: Director, matches: Iterable[Match], returns: bool = False) -> list[PlayedMatch]:
    """Play ``matches``, disqualify entries that fail, and return the matches that count, in their order.

    No two matches may have the same entries and number. ``returns``: keep what the entries scored in each game.
    """
    jobs = list(matches)
    names = [tuple(entry.name for entry in job.entries) for job in jobs]
    # Not the job itself: a match that continued without an entry (`Match.without`) is still the same match.
    numbers = {(job.contest_seed, names[number], job.number): number for number, job in enumerate(jobs)}
    outcomes: dict[int, PlayedMatch | Failure] = {}
    failed: set[str] = set()

    def waiting(missing: Sequence[int]) -> Iterator[Match]:
        for number in nearest_first(jobs, missing):
            if failed.isdisjoint(names[number]):  # otherwise it probably does not count
                yield jobs[number]

    counted, missing = fold(names, outcomes)
    while missing:
        failed.clear()
        for job, outcome in director.play(waiting(missing)):
            own = tuple(entry.name for entry in job.entries)
            if isinstance(outcome, Failure):
                failed.add(own[outcome.actor])
            found = outcome if isinstance(outcome, Failure) else read_outcome(job, outcome, returns)
            outcomes[numbers[job.contest_seed, own, job.number]] = found
        counted, missing = fold(names, outcomes)
    played = []
    for number in counted:
        found = outcomes[number]
        if isinstance(found, Failure):
            director.failures[names[number][found.actor]] = found.reason
        else:
            played.append(found)
    return played


def fold(tables: Sequence[Sequence[str]], outcomes: Mapping[int, PlayedMatch | Failure]) -> tuple[list[int], list[int]]:
    """Return the numbers of the matches that count, and of those that are missing, by the ``outcomes`` known.

    ``tables``: the entries of each match. Missing matches are assumed to end well, so more may be missing later.
    """
    failed: set[str] = set()
    counted, missing = [], []
    for number, names in enumerate(tables):
        if not failed.isdisjoint(names):
            continue
        if number not in outcomes:
            missing.append(number)
            continue
        counted.append(number)
        outcome = outcomes[number]
        if isinstance(outcome, Failure):
            failed.add(names[outcome.actor])
    return counted, missing


def nearest_first(jobs: Sequence[Match], numbers: Sequence[int]) -> list[int]:
    """Return ``numbers`` of ``jobs`` in the order in which they are played fastest.

    A referee keeps the processes of `MOST` entries. Row by row, each match of a large round robin would start a
    process, which takes longer than a match of Hog. So matches of two are played by squares of the table of pairs:
    `MOST` entries with processes in each, half of them shared with the square before. With fewer entries or larger
    tables the order stays.
    """
    groups: dict[str, int] = {}
    for entry in {entry.name: entry for number in numbers for entry in jobs[number].entries}.values():
        if not entry.trusted:
            groups[entry.name] = len(groups) // (MOST // 2)
    if len(groups) <= MOST or any(len(jobs[number].entries) != 2 for number in numbers):
        return list(numbers)

    def square(number: int) -> tuple[int, int]:
        row, column = sorted(groups.get(entry.name, 0) for entry in jobs[number].entries)
        return row, -column if row % 2 else column  # back and forth, so that neighbours share a group

    return sorted(numbers, key=square)
