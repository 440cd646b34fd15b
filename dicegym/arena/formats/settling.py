"""Which matches count, and who is struck: a function of what matches come to, never of when they end.

Processes end matches in any order, a store knows some of them before, and whoever has failed need not be played any
more: so which matches are played is a matter of time. What counts is decided by going through them in the order in
which they are to be played: an entry is struck at its first match that it fails, among those in which nobody was struck
before; from there on its matches do not count. Whatever is missing for that is played.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.arena.director import Director
from dicegym.arena.formats.nearness import nearest_first
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.rows import MatchRow, row_of
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Failure


class PlayedMatch(NamedTuple):
    """A match that was played to its end."""

    row: MatchRow
    misplays: list[Misplay]
    printed: tuple[str, ...]
    """By entry; empty: nobody printed anything."""
    returns: tuple[tuple[float, ...], ...]
    """For each game what each entry got; empty unless somebody asked."""


class Settled(NamedTuple):
    """What became of a match that counts."""

    match: Match
    outcome: PlayedMatch | Failure


def names_of(match: Match) -> tuple[str, ...]:
    """Return who plays."""
    return tuple(entry.name for entry in match.entries)


def table_for(game: Game, players: int) -> Game:
    """Return the game with so many seats. Raises ParameterError if it does not allow them."""
    return game if game.players == players else Game(game.spec, players, **game.parameters)


def settle(director: Director, matches: Iterable[Match], returns: bool = False) -> list[Settled]:
    """Play ``matches``; return those that count, in their order, and strike who failed in them.

    Args:
        director: plays.
        matches: no two of the same entries and number.
        returns: whether to keep what the entries got in each game.
    """
    jobs = list(matches)
    numbers = {_key(job): number for number, job in enumerate(jobs)}
    outcomes: dict[int, PlayedMatch | Failure] = {}
    while True:
        counted, missing = fold([names_of(job) for job in jobs], outcomes)
        if not missing:
            break
        failed: set[str] = set()
        for job, outcome in director.play(_waiting(jobs, nearest_first(jobs, missing), failed)):
            found = _heard(job, outcome, returns)
            if isinstance(found, Failure):
                failed.add(job.entries[found.actor].name)
            outcomes[numbers[_key(job)]] = found
    settled = [Settled(jobs[number], outcomes[number]) for number in counted]
    for match, found in settled:
        names = names_of(match)
        if isinstance(found, Failure):
            director.struck[names[found.actor]] = found.reason
        else:
            director.hear(names, found.printed)
    return settled


def fold(tables: Sequence[Sequence[str]], outcomes: Mapping[int, PlayedMatch | Failure]) -> tuple[list[int], list[int]]:
    """Return the numbers of the matches between ``tables`` that count by the ``outcomes`` known, and of those missing.

    What is missing is taken to end well: so more may be missing once it is known.
    """
    struck: set[str] = set()
    counted, missing = [], []
    for number, names in enumerate(tables):
        if not struck.isdisjoint(names):
            continue
        if number not in outcomes:
            missing.append(number)
            continue
        counted.append(number)
        outcome = outcomes[number]
        if isinstance(outcome, Failure):
            struck.add(names[outcome.actor])
    return counted, missing


def _waiting(jobs: Sequence[Match], missing: Iterable[int], failed: set[str]) -> Iterator[Match]:
    """Yield what is missing, but for matches of those who have failed meanwhile, which will hardly count."""
    for number in missing:
        if failed.isdisjoint(names_of(jobs[number])):
            yield jobs[number]


def _key(job: Match) -> tuple[object, ...]:
    """Name a match, also when it went on without somebody (`Match.without`)."""
    return job.contest_seed, names_of(job), job.number


def _heard(job: Match, outcome: Any, returns: bool) -> PlayedMatch | Failure:
    if isinstance(outcome, Failure):
        return outcome
    texts = outcome.get("printed", ())
    got = tuple(tuple(map(float, each)) for each in outcome["returns"]) if returns else ()
    misplays = misplays_of(names_of(job), outcome)
    return PlayedMatch(row_of(job, outcome), misplays, tuple(texts) if any(texts) else (), got)
