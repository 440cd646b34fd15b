"""Which matches count, and which entries are disqualified: a function of outcomes, never of when matches end.

Processes end matches in any order, a store knows some of them before, and an entry that has failed need not be played
any more: so which matches are played is a matter of time. What counts is decided by going through them in the order in
which they are to be played: an entry is disqualified at the first match that it fails, among those without an entry
disqualified before; from there on its matches do not count. Whatever is missing for that is played.
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
    """Return the game with ``players`` seats. Raises ParameterError if it does not allow them."""
    return game if game.players == players else Game(game.spec, players, **game.parameters)


def settle(director: Director, matches: Iterable[Match], returns: bool = False) -> list[PlayedMatch]:
    """Play ``matches``, and disqualify entries that failed; return those that count and ended well, in their order.

    Args:
        director: plays.
        matches: no two of the same entries and number.
        returns: whether to keep what the entries got in each game.
    """
    jobs = list(matches)
    names = [tuple(entry.name for entry in job.entries) for job in jobs]
    # A match may have gone on without somebody (`Match.without`), and is the same one.
    keys = [(job.contest_seed, own, job.number) for job, own in zip(jobs, names, strict=True)]
    numbers = {key: number for number, key in enumerate(keys)}
    outcomes: dict[int, PlayedMatch | Failure] = {}
    failed: set[str] = set()

    def waiting(missing: Sequence[int]) -> Iterator[Match]:
        for number in nearest_first(jobs, missing):
            if failed.isdisjoint(names[number]):  # else it will hardly count
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
    """Return the numbers of the matches between ``tables`` that count by the ``outcomes`` known, and of those missing.

    What is missing is taken to end well: so more may be missing once it is known.
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
    """Return ``numbers`` of ``jobs`` in the order in which they are best played.

    A referee keeps the processes of few entries. In a round robin of more, row by row, each match would begin with the
    start of one, which takes longer than a match of Hog. So matches of two are played by squares of the table of who
    meets whom, `MOST` entries with processes of their own in each, and a square shares half of its entries with
    the one before. Where there are no more entries than that, or others sit at a table, the order stays.

    Args:
        jobs: matches.
        numbers: which of them.
    """
    groups: dict[str, int] = {}
    for entry in {entry.name: entry for number in numbers for entry in jobs[number].entries}.values():
        if not entry.trusted:
            groups[entry.name] = len(groups) // (MOST // 2)
    if len(groups) <= MOST or any(len(jobs[number].entries) != 2 for number in numbers):
        return list(numbers)

    def square(number: int) -> tuple[int, int]:
        row, column = sorted(groups.get(entry.name, 0) for entry in jobs[number].entries)
        return row, -column if row % 2 else column  # there and back, so that neighbours share a group

    return sorted(numbers, key=square)
